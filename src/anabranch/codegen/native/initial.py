"""What a new instance keeps, as the words of its record."""

from __future__ import annotations

from anabranch.codegen.native.records import Record
from anabranch.codegen.native.state import NativeState, OperatorState
from anabranch.codegen.stores.words import Path, words_of_field
from anabranch.graph.model import Operator
from anabranch.operators.process import Process


def begin(state: OperatorState, operator: Operator, native: NativeState) -> None:
    """The only instance of an operator without a key is there from the start."""
    if isinstance(operator.definition, Process):
        words = initial_words(state.record, native)
        state.records[: len(words)] = words


def initial_words(record: Record, native: NativeState) -> list[int]:
    kept = {word.path: word.kind for word in record.words}
    words: dict[Path, int] = {}
    for name, kind in record.fields.items():
        words |= words_of_field(kind, record.initial[name], (name,), kept, native.pool)
    return [words[word.path] for word in record.words]
