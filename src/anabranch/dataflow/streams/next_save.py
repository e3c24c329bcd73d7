"""How a state that grows is saved batch after batch: what changed, and all of it now and then."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.codegen.pe import Saved

_LEAST_TO_PACK = 1 << 20  # bytes of changes


@dataclass(frozen=True)
class SavedSizes:
    """What there is of a state so far, in bytes, and in which form it was saved."""

    form: str
    whole: int
    changes: int = 0


@dataclass(frozen=True)
class NextSave:
    """What is to be added to the saves before, or to take their place where it `is_whole`; and what there is then."""

    content: bytes
    is_whole: bool
    sizes: SavedSizes


def next_save(state: Saved, before: SavedSizes | None) -> NextSave:
    """All of it only where there is nothing to build on, or where that has become less than the changes together."""
    if before is not None and before.form == state.form:
        changes = state.save_changes()
        together = before.changes + len(changes)
        if together <= max(before.whole, _LEAST_TO_PACK):
            return NextSave(changes, False, SavedSizes(before.form, before.whole, together))
    whole = state.save()
    return NextSave(whole, True, SavedSizes(state.form, len(whole)))
