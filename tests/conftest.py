"""For all tests: a program runs on the oracle unless a test says otherwise, also in the processes that tests start.

And Ctrl-C is what it usually is: a shell has what it starts in the background ignore it.
"""

from __future__ import annotations

import os
import signal

os.environ.setdefault("ANABRANCH_ENGINE", "sequential")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
