"""A server of objects in memory, for tests: it prints its port, and ends with its input."""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    server = importlib.import_module("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    print(server.get_host_and_port()[1], flush=True)
    sys.stdin.read()  # until who started it is gone
    server.stop()


if __name__ == "__main__":
    main()
