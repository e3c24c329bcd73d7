"""The version of this package, also for what it writes."""

__version__ = VERSION = "0.1.0"
