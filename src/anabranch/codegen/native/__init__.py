"""The native form: a part of a program as a function over arrays, compiled by numba, without the lock of Python."""
