"""The native form: a part of a program as one function over arrays, compiled by numba without the interpreter's lock."""
