"""What changes while it is shown in a cell of a notebook."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable
from typing import Any

_EVERY = 0.5  # seconds


def show_live(shown: Any, goes_on: Callable[[], bool]) -> None:
    """Show the HTML of something, and again while it goes on, without keeping the cell from ending."""
    ipython: Any = importlib.import_module("IPython.display")  # it is there where there are cells
    page = ipython.HTML
    handle = ipython.display(page(shown._repr_html_()), display_id=True)

    def update() -> None:
        while goes_on():
            time.sleep(_EVERY)
            handle.update(page(shown._repr_html_()))
        handle.update(page(shown._repr_html_()))

    threading.Thread(target=update, name="anabranch cell", daemon=True).start()
