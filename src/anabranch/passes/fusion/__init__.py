"""Which operators of a place become one processing element: a strategy a file."""
