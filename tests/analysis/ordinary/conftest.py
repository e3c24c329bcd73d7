"""These programs are read by `test_ordinary.py`; pytest need not look for tests or examples in them."""

collect_ignore_glob = ["*.py"]
