"""The wrong programs are data for `test_errors.py`, not modules with doctests."""

collect_ignore = ["errors"]
