"""The corpus is read by `test_corpus.py`; pytest need not look for tests or examples in it."""

collect_ignore_glob = ["*.py"]
