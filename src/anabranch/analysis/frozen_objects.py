"""What a program has frozen out of the collector's sight (`gc.freeze`): seen while one looks, then frozen again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from anabranch.analysis.compilation import compilation


@contextmanager
def thawed() -> Iterator[None]:
    """What a program has frozen is not among the objects, nor among those that refer to others: inside, it is.

    It is frozen again when the compilation ends, which may look several times, and would leave much garbage.
    """
    if not gc.get_freeze_count():
        yield
        return
    gc.unfreeze()
    within = compilation()
    if within is not None:
        within.has_thawed = True
        yield
        return
    try:
        yield
    finally:
        freeze_again()


def freeze_again() -> None:
    """What was frozen, and all that there is besides: the interpreter freezes everything or nothing."""
    gc.collect()  # garbage that is frozen would stay forever
    gc.freeze()
