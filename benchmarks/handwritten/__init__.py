"""Mobility fraud as it is written by hand in PySpark: every alert, in the order of the calls, in one CSV file.

Each module has `write_alerts` and the `SETTINGS` that its author would give Spark for it.
"""
