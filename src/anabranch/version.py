"""The version of this package, also for what it writes."""

VERSION = "0.1.0"
