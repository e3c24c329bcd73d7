"""Aggregate functions as variables of a window's record: how each begins, takes a tuple in, and gives its result.

Every step is that of the classes in `operators/aggregates.py`, in the same order, so that floats have the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import ALWAYS, STORABLE, ZEROS, NotNative, Value
from anabranch.codegen.types import FLOAT, INT, Type, type_of_attribute
from anabranch.graph.model import Operator
from anabranch.operators.aggregates import Aggregate

# Of distances between values up to here, 2 ** 60 squares have a sum that is a float.
_LARGEST_SQUARED = 2.0**480


@dataclass(eq=False)
class Accumulator:
    """One aggregate of a window; `names` are its variables by what they are, `count` that of the window's tuples."""

    kernel: Kernel
    aggregate: Aggregate
    names: dict[str, str]
    kinds: dict[str, str]
    type: Type  # of the attribute
    count: str

    @property
    def can_fail(self) -> bool:
        """Whether adding a number may need more than 64 bits."""
        return self.kinds.get("total") == "int"

    def check(self, item: Value) -> None:
        """Write what sets `bad` for a value whose distances may have squares beyond the range of floats."""
        if self.aggregate.function == "std" and self.type.kind == "float":
            size = f"abs({self._attribute(item, self.aggregate.attribute).code})"
            self.kernel.check(f"{_LARGEST_SQUARED!r} < {size} < math.inf")

    def begin(self) -> list[str]:
        """Before the first tuple, with which it begins."""
        return [f"{name} = {ZEROS[self.kinds[what]]}" for what, name in self.names.items()]

    def add(self, item: Value, *, is_first: bool) -> None:
        """Write what a tuple changes, of a window that begins with it or has others."""
        writer, function = self.kernel.writer, self.aggregate.function
        if function == "count":
            return
        if function in ("arg_max", "arg_min"):
            self._add_arg_extreme(item, is_first=is_first)
            return
        value = self._attribute(item, self.aggregate.attribute)
        if function in ("any_", "first"):
            if is_first:
                self._set(value)
        elif function == "last":
            self._set(value)
        elif value.has != ALWAYS:
            with writer.block(f"if {value.has}:"):
                self._add_present(value, is_first=False)
        else:
            self._add_present(value, is_first=is_first)

    def _add_present(self, value: Value, *, is_first: bool) -> None:
        writer, names = self.kernel.writer, self.names
        if "count" in names:  # of the values that are not None
            writer.line(f"{names['count']} += 1")
        match self.aggregate.function:
            case "sum_" | "mean":
                self._add_to_total(value)
            case "std":
                number = self.kernel.named(_as_float(value), "number")
                distance = writer.fresh("distance")
                writer.line(f"{distance} = {number} - {names['mean']}")
                writer.line(f"{names['mean']} = {names['mean']} + {distance} / np.float64({self._counted()})")
                writer.line(f"{names['squares']} = {names['squares']} + {distance} * ({number} - {names['mean']})")
            case "min_" | "max_" if is_first:
                writer.line(f"{names['value']} = {value.code}")
                if "set" in names:
                    writer.line(f"{names['set']} = True")
            case "min_" | "max_":
                better = self._is_better(value.code, names["value"])
                if "set" not in names:
                    writer.line(f"{names['value']} = {value.code} if {better} else {names['value']}")
                    return
                with writer.block(f"if not {names['set']} or {better}:"):
                    writer.line(f"{names['set']} = True")
                    writer.line(f"{names['value']} = {value.code}")

    def _counted(self) -> str:
        """How many values there were."""
        return self.names.get("count", self.count)

    def _add_to_total(self, value: Value) -> None:
        writer, total = self.kernel.writer, self.names["total"]
        if self.kinds["total"] == "float":
            writer.line(f"{total} = {total} + {_as_float(value).code}")
            return
        wrong = writer.fresh("wrong")
        self.kernel.uses("add_int")
        code = value.code if value.type.kind == "int" else f"np.int64({value.code})"
        writer.line(f"{total}, {wrong} = add_int({total}, {code})")
        self.kernel.check(wrong)

    def _is_better(self, new: str, old: str) -> str:
        """NaN is larger than every number; of equals the first stays."""
        smaller = self.aggregate.function == "min_"
        if self.type.kind == "float":
            # Not "larger or equal": so NaN counts as larger, and two comparisons do.
            return (
                f"(not ({new} >= {old}) and {new} == {new})"
                if smaller
                else f"(not ({new} <= {old}) and {old} == {old})"
            )
        return f"{new} {'<' if smaller else '>'} {old}"

    def _add_arg_extreme(self, item: Value, *, is_first: bool) -> None:
        writer, names = self.kernel.writer, self.names
        rank, value = self._attribute(item, self.aggregate.by), self._attribute(item, self.aggregate.attribute)
        new, old = rank.code, names["rank"]
        more, less = (new, old) if self.aggregate.function == "arg_max" else (old, new)
        better = f"{more} > {less}"
        if rank.type.kind == "float":
            better = f"({better} or ({more} != {more} and {less} == {less}))"
        if rank.type.optional:
            better = f"({rank.has} and (not {names['rank_has']} or {better}))"
        with writer.block("if True:" if is_first else f"if {better}:"):
            writer.line(f"{names['rank']} = {new}")
            if "rank_has" in names:
                writer.line(f"{names['rank_has']} = {rank.has}")
            self._set(value)

    def _set(self, value: Value) -> None:
        code = self.kernel.text_number(value) if value.type.kind == "str" else value.code
        self.kernel.writer.line(f"{self.names['value']} = {code}")
        if "value_has" in self.names:
            self.kernel.writer.line(f"{self.names['value_has']} = {value.has}")

    def _attribute(self, item: Value, name: str | None) -> Value:
        assert item.members is not None
        assert name is not None
        return item.members[name]

    def result(self, names: dict[str, str]) -> Value:
        """The result, where the variables are called as `names` says."""
        mine = {what: names[name] for what, name in self.names.items()}
        count = mine.get("count", names[self.count])
        match self.aggregate.function:
            case "count":
                return Value(INT, count, is_stable=True)
            case "sum_":
                return Value(FLOAT if self.kinds["total"] == "float" else INT, mine["total"], is_stable=True)
            case "count_distinct":
                return Value(INT, mine["distinct"], is_stable=True)
            case "mean":
                return self._mean(mine["total"], count)
            case "std":
                return self._deviation(mine["squares"], count)
            case _:
                has = mine.get("value_has", mine.get("set", ALWAYS))
                return Value(self.type.varying(), mine["value"], has, is_stable=True)

    def _deviation(self, squares: str, count: str) -> Value:
        writer, ddof = self.kernel.writer, self.aggregate.ddof
        result = writer.fresh("deviation")
        with writer.block(f"if {count} <= {ddof}:"):
            writer.line(f"{result} = math.nan")
        with writer.block("else:"):
            writer.line(f"{result} = math.sqrt({squares} / np.float64({count} - {ddof}))")
        has = f"{count} != 0" if self.type.optional else ALWAYS
        return Value(Type("float", self.type.optional), result, has, is_stable=True)

    def _mean(self, total: str, count: str) -> Value:
        writer = self.kernel.writer
        result = writer.fresh("mean")
        if self.kinds["total"] == "float":
            writer.line(f"{result} = {total} / np.float64({count}) if {count} != 0 else 0.0")
        else:
            wrong = writer.fresh("wrong")
            self.kernel.uses("truediv_int")
            writer.line(f"{result}, {wrong} = truediv_int({total}, {count} if {count} != 0 else 1)")
            self.kernel.check(wrong)
        has = f"{count} != 0" if self.type.optional else ALWAYS
        return Value(Type("float", self.type.optional), result, has, is_stable=True)


def _as_float(value: Value) -> Value:
    if value.type.kind == "float":
        return value
    return Value(FLOAT, f"np.float64({value.code})")


def accumulator(
    kernel: Kernel, record: Record, operator: Operator, name: str, aggregate: Aggregate, count: str
) -> Accumulator:
    """An aggregate; `count` counts the tuples of the window."""
    names, kinds = words_of(kernel, record, operator, name, aggregate)
    kind = type_of_attribute(operator.inputs[0].schema[aggregate.attribute]) if aggregate.attribute else INT
    return Accumulator(kernel, aggregate, names, kinds, kind, count)


def words_of(
    kernel: Kernel, record: Record, operator: Operator, name: str, aggregate: Aggregate
) -> tuple[dict[str, str], dict[str, str]]:
    """The variables of an aggregate, as words of a window's record: their names and their kinds."""
    schema = operator.inputs[0].schema
    kind = type_of_attribute(schema[aggregate.attribute]) if aggregate.attribute else INT
    by = type_of_attribute(schema[aggregate.by]) if aggregate.by else None
    kinds = _words(aggregate, kind, by, operator)
    names = {}
    for what, word in kinds.items():
        names[what] = kernel.writer.fresh(f"{record.prefix}_{name}_{what}")
        record.add(names[what], word, (name, what))
    return names, kinds


def _words(aggregate: Aggregate, kind: Type, by: Type | None, operator: Operator) -> dict[str, str]:
    """What an aggregate keeps. Where an attribute may be None, also how many values, or whether one, there were."""
    total = "float" if kind.kind == "float" else "int"
    counted = {"count": "int"} if kind.optional else {}
    match aggregate.function:
        case "count":
            return {}
        case "sum_":
            return {"total": total}
        case "mean":
            return {"total": total, **counted}
        case "std":
            return {"mean": "float", "squares": "float", **counted}
        case "min_" | "max_" if kind.is_number:
            return {"value": kind.kind, "set": "bool"} if kind.optional else {"value": kind.kind}
        case "count_distinct" if kind.kind in STORABLE:
            return {"distinct": "int"}
        case "any_" | "first" | "last" | "arg_max" | "arg_min" if kind.kind in STORABLE:
            words = {"value": kind.kind}
            if kind.optional:
                words["value_has"] = "bool"
            if aggregate.function in ("arg_max", "arg_min"):
                assert by is not None
                if not by.is_number:
                    raise NotNative(f"ranks by a {by.kind}", operator.location)
                words["rank"] = by.kind
                if by.optional:
                    words["rank_has"] = "bool"
            return words
    raise NotNative(f"computes {aggregate.function.rstrip('_')} of a {kind.kind}", operator.location)
