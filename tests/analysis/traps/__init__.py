"""Traps made from the interpreter itself: every way in which Python calls users' code without being told to."""
