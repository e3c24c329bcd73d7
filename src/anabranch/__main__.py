"""`python -m anabranch` is the command."""

from __future__ import annotations

import sys

from anabranch.cli import main

if __name__ == "__main__":
    sys.exit(main())
