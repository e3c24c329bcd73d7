"""All stores of a native processing element, lent to the oracle's meanings for one item at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anabranch.codegen.part import Part
from anabranch.codegen.stores.forms import written
from anabranch.codegen.stores.kept import kept_paths
from anabranch.codegen.stores.listed_loans import ListedCountLoan, ListedKeyLoan, ListedStreamLoan
from anabranch.codegen.stores.loans import InstancesLoan, Loan, SeenLoan
from anabranch.codegen.stores.schema import schema_of
from anabranch.codegen.stores.store import Store, without_marks
from anabranch.codegen.stores.tables import Table
from anabranch.codegen.stores.timed_loans import OwnClockLoan, SharedLoan, SlidingLoan
from anabranch.codegen.stores.untimed_loans import CountLoan, CountOfGroupsLoan, PunctuatedLoan, RecentLoan
from anabranch.codegen.stores.words import Path, Unfit
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import Meaning
from anabranch.operators.distinct import Distinct
from anabranch.operators.process import Process

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState


class Lender:
    """`meanings` are those of the operators with native state, by operator."""

    def __init__(self, part: Part, state: NativeState, meanings: Mapping[str, Meaning]) -> None:
        self._part, self._state = part, state
        self.loans = {
            name: _loan(part.operator(name), meanings[name], state)
            for name, each in state.operators.items()
            if not each.record.windows_of
        }

    def begin(self) -> None:
        for loan in self.loans.values():
            loan.begin()

    def take_back(self) -> None:
        """What was lent becomes words again, all of it; or `Unfit` is raised and nothing has changed."""
        stores = []
        for name, loan in self.loans.items():
            try:
                stores += list(loan.writes())
            except Unfit as problem:
                raise Unfit(f"the state of '{name}' {problem}") from None
        for store in stores:
            store()

    def take_over(self, stores: Mapping[str, Store]) -> None:
        """What is in stores becomes words, all of it, of state that has not begun; or `Unfit` is raised."""
        writes = []
        for name, loan in self.loans.items():
            loan.begin()
            if name not in stores:
                continue
            written(self._part.operator(name), without_marks(stores[name]), loan.meaning)
            try:
                writes += list(loan.all_writes())
            except Unfit as problem:
                raise Unfit(f"the state of '{name}' {problem}") from None
        for write in writes:
            write()

    def not_kept(self, operator_id: str) -> tuple[Path, ...]:
        """What an operator keeps according to its schema, and there is no word for."""
        if operator_id not in self.loans:
            return ()
        operator = self._part.operator(operator_id)
        schema = schema_of(operator, kept_paths(operator, self._state.operators[operator_id].record))
        return tuple(each.path for each in schema.not_kept) if schema is not None else ()

    def give_away(self) -> None:
        """The meanings have everything from here on."""
        for loan in self.loans.values():
            loan.everything()

    @property
    def lent(self) -> int:
        """How many records are lent."""
        return sum(loan.lent for loan in self.loans.values())


def _loan(operator: Operator, meaning: Any, state: NativeState) -> Loan:
    record = state.operators[operator.id].record
    definition: Any = operator.definition
    match definition:
        case Process():
            return InstancesLoan(meaning, Table(state, operator.id), definition)
        case Distinct():
            return SeenLoan(meaning, Table(state, operator.id), definition)
        case WindowAggregate() if record.shape == "sliding count":
            return RecentLoan(meaning, Table(state, operator.id), operator, definition)
        case WindowAggregate() if record.shape == "listed time" and definition.window.clock == "key":
            return ListedKeyLoan(meaning, state, operator, definition)
        case WindowAggregate():
            return _WINDOWS[record.shape](meaning, state, operator, definition)
    raise AssertionError(f"{operator.id} has no native state")


_WINDOWS = {
    "count": CountLoan,
    "count of groups": CountOfGroupsLoan,
    "punctuated": PunctuatedLoan,
    "own clock": OwnClockLoan,
    "shared clock": SharedLoan,
    "sliding time": SlidingLoan,
    "listed count": ListedCountLoan,
    "listed time": ListedStreamLoan,
}
