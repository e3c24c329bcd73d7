"""A part of a program as the source of a module with its kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from anabranch.codegen.native.blocks import blocks_of
from anabranch.codegen.native.commits import with_commits, with_late_tallies
from anabranch.codegen.native.dtypes import dtype_of
from anabranch.codegen.native.kernel import START, STATUS, STOP, Argument, Cell, Kernel, Knowledge, OutputMode
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import NotNative
from anabranch.codegen.native.visits import Visits
from anabranch.codegen.part import Part
from anabranch.codegen.stores.kept import kept_paths
from anabranch.codegen.stores.schema import schema_of
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate

_MOST_PASSES = 50  # each may find one more field that nobody reads


@dataclass(frozen=True, eq=False)
class Assembled:
    """The source of a module, and how its kernels are called."""

    source: str
    arguments: tuple[Argument, ...]  # of every kernel, in order, after `meta`
    cells: dict[str, Cell]
    records: dict[str, Record]  # by operator
    texts: tuple[str, ...]  # the constants that the pool begins with
    outputs: dict[tuple[int, str], OutputMode]
    growing: frozenset[int]  # outputs of which a tuple may cause any number
    most_emitted: dict[int, int]  # of the others
    closing: tuple[str, ...]  # operators with a kernel that emits what they hold


def check(part: Part) -> None:
    """Raises `NotNative` where a part has no native form."""
    _settled(part, origins=False, tracks_changes=False)


def assemble(part: Part, *, origins: bool = False, tracks_changes: bool = False) -> Assembled:
    """The native form of a part; `NotNative` says why there is none."""
    return _module(_settled(part, origins=origins, tracks_changes=tracks_changes))


def _settled(part: Part, *, origins: bool, tracks_changes: bool) -> _Pass:
    """Written again and again until that teaches nothing new: only then is it known whether it can be native."""
    known = Knowledge()
    for _ in range(_MOST_PASSES):
        found = _pass(part, known, origins=origins, tracks_changes=tracks_changes)
        if found.learnt == known:
            return found
        known = found.learnt
    raise NotNative("is too large to be followed", part.operator(part.operators[0]).location, part.operators[0])


@dataclass(frozen=True, eq=False)
class _Pass:
    """A part written once, and what that has taught."""

    kernel: Kernel
    visits: Visits
    branches: list[Branch]
    closings: list[Branch]
    learnt: Knowledge


def _pass(part: Part, known: Knowledge, *, origins: bool, tracks_changes: bool) -> _Pass:
    kernel = Kernel(part, known, origins=origins, tracks_changes=tracks_changes)
    visits = Visits(kernel)
    try:
        branches = [_tuple_branch(kernel, visits, number) for number in range(len(part.inputs))]
        closings = [_closing(kernel, visits, operator) for operator in _closing_operators(visits)]
        learnt = _learn(kernel, [line for branch in (*branches, *closings) for line in branch.body])
    except NotNative as problem:
        current = visits.current
        location = problem.refusal.location or (current.location if current else None)
        operator = problem.operator or (current.id if current else None)
        raise NotNative(problem.refusal.reason, location, operator) from None
    return _Pass(kernel, visits, branches, closings, learnt)


@dataclass
class Branch:
    """What is done with one kind of item: the body, and its stores, which wait for its end."""

    body: list[str]
    begin: list[str]
    commits: list[list[str]]
    name: str = ""


def _tuple_branch(kernel: Kernel, visits: Visits, number: int) -> Branch:
    """A tuple of an input."""
    stream = kernel.part.inputs[number]
    _reset(kernel, number)
    visits.deliver(stream, kernel.input_tuple(kernel.part.schema(stream)))
    return _taken(kernel)


def _closing_operators(visits: Visits) -> list[Operator]:
    found = [visits.part.operator(name) for name in visits.part.operators if name in visits.window_codes]
    return [operator for operator in found if isinstance(operator.definition, WindowAggregate)]


def _closing(kernel: Kernel, visits: Visits, operator: Operator) -> Branch:
    """At a punctuation or the end a window emits what it holds, in the order that the kernel is given."""
    _reset(kernel, 0)
    kernel.is_closing = True
    visits.current = operator
    code = visits.window_codes[operator.id]
    with kernel.in_loop():
        code.emit_at_the_end()
    branch = _taken(kernel)
    branch.name = f"close_{kernel.part.operators.index(operator.id)}"
    if branch.commits:
        raise NotNative("is followed by an operator with state", operator.location)
    return branch


def _reset(kernel: Kernel, number: int) -> None:
    kernel.input = number
    kernel.is_closing = False
    kernel.writer.lines = []
    kernel.fresh_each_tuple, kernel.commits = {}, []
    kernel.visited = {}
    kernel._numbers = {}


def _taken(kernel: Kernel) -> Branch:
    begin = [f"{name} = {code}" for name, code in kernel.fresh_each_tuple.items()]
    return Branch(kernel.writer.lines, begin, kernel.commits)


# What a pass teaches the next ------------------------------------------------------------------------------------


def _learn(kernel: Kernel, lines: list[str]) -> Knowledge:
    read = dict(kernel.emitted_names)
    for line in lines:
        code = line.strip()
        if code.startswith("#"):
            continue
        assigned = re.match(r"^\w+(?:, \w+)* = (.*)$", code)
        read.update(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", assigned[1] if assigned else code)))
    for name, operator in kernel.state_names.items():
        if name.startswith("unstorable_") and name in read:
            what = f"reads what it keeps in `{name.removeprefix('unstorable_')}`, of a type that is not native"
            raise NotNative(what, kernel.part.operator(operator).location, operator)
    dropped = kernel.known.dropped | {name for name in kernel.state_names if name not in read}
    modes = {}
    for place, columns in kernel.seen_modes.items():
        is_one = columns[0] is not None and all(column == columns[0] for column in columns)
        modes[place] = OutputMode(columns[0] if is_one else None)
    growing = frozenset(output for output, grows in kernel.seen_growing.items() if grows)
    return Knowledge(frozenset(dropped), modes, growing)


# Source ------------------------------------------------------------------------------------------------------------


def _module(written: _Pass) -> Assembled:
    kernel, visits, branches, closings = written.kernel, written.visits, written.branches, written.closings
    for number in range(len(branches)):
        kernel.cell(f"row{number}")
    held = [record for record in visits.records.values() if not record.is_keyed]
    loads = [line for record in held for line in record.load_held(kernel)]
    stores = [line for record in held for line in record.store_held(kernel)]
    arguments = _ordered(kernel)
    views = _views(kernel, arguments)
    lines = ["import math", "", "import numpy as np", "from numba import njit", ""]
    for text, name in kernel.byte_constants.items():
        lines.append(f"{name} = np.frombuffer({text.encode()!r}, np.uint8)")
    head = '@njit(nogil=True, cache=True, error_model="numpy")'
    turns = [_view(kernel, "turns", "uint16", len(arguments))] if len(branches) > 1 else []
    lines += ["", head, "def process(meta, arrays):"]
    body = _process_lines(kernel, branches, loads, stores)
    lines += _indented([*views, *turns, *body])
    for branch in closings:
        order = _view(kernel, "order", "int64", len(arguments))
        lines += ["", "", head, f"def {branch.name}(meta, arrays):"]
        lines += _indented([*views, order, *_closing_lines(kernel, branch, loads)])
    if kernel.imports:
        lines.insert(5, f"from anabranch.codegen.runtime import {', '.join(sorted(kernel.imports))}\n")
    return Assembled(
        "\n".join([*_stores(kernel.part, visits.records), *lines]) + "\n",
        tuple(arguments),
        dict(kernel.cells),
        visits.records,
        tuple(kernel.texts),
        dict(kernel.known.outputs),
        kernel.known.growing,
        dict(kernel.most_emitted),
        tuple(kernel.part.operators[int(branch.name.removeprefix("close_"))] for branch in closings),
    )


def _stores(part: Part, records: dict[str, Record]) -> list[str]:
    """What the operators keep, as comments."""
    found = [
        schema_of(part.operator(name), kept_paths(part.operator(name), record))
        for name, record in records.items()
        if not record.windows_of
    ]
    return [*(f"# {each}" for each in found if each is not None), ""] if found else []


def _ordered(kernel: Kernel) -> list[Argument]:
    roles = ("column", "pool", "state", "output")
    return sorted(kernel.arguments.values(), key=lambda argument: roles.index(argument.role))


def _process_lines(kernel: Kernel, branches: list[Branch], loads: list[str], stores: list[str]) -> list[str]:
    lines = [f"n = meta[{STOP}]", *_load_cells(kernel), *loads, "bad, full = False, 0"]
    if len(branches) == 1:
        lines += ["stop = n", *_loop_lines(kernel, branches[0])]
        return [*lines, f"meta[{START}] = stop", *stores, *_save_cells(kernel), *_status()]
    lines += [f"turn = meta[{START}]"]
    for number in range(len(branches)):
        lines.append(f"i{number} = {kernel.cell(f'row{number}')}")
    lines += ["while turn < n:"]
    for number, branch in enumerate(branches):
        lines.append(f"    {'if' if number == 0 else 'elif'} turns[turn] == {number}:")
        lines += _indented(_item_lines(kernel, branch, f"i{number}", [f"i{number} += 1"], ""), 2)
    lines.append("    turn += 1")
    rows = [f"{kernel.cell(f'row{number}')} = i{number}" for number in range(len(branches))]
    return [*lines, f"meta[{START}] = turn", *rows, *stores, *_save_cells(kernel), *_status()]


def _loop_lines(kernel: Kernel, branch: Branch) -> list[str]:
    """The loop over the tuples of a single input."""
    blocks = blocks_of(kernel, branch.body)
    body = branch.body if blocks is None else blocks.body
    items = _item_lines(kernel, replace(branch, body=body), "i", [], "stop = i")
    if blocks is not None:
        return blocks.loop(kernel, items)
    return [f"for i in range(max(meta[{START}], 0), n):", *_indented(items)]


def _views(kernel: Kernel, arguments: list[Argument]) -> list[str]:
    """The arrays of a kernel from their addresses."""
    return [_view(kernel, each.name, dtype_of(kernel.part, each), at) for at, each in enumerate(arguments)]


def _view(kernel: Kernel, name: str, dtype: str, at: int) -> str:
    view = "booleans" if dtype == "boolean" else f"{dtype}s"
    kernel.uses(view)
    return f"{name} = {view}(arrays, {2 * at})"


def _item_lines(kernel: Kernel, branch: Branch, row: str, advance: list[str], leave: str) -> list[str]:
    written, unsettled = with_late_tallies(branch.body)
    counters = [*_counters_in(kernel, written), *unsettled]
    undo = [f"{name} = {name}_before" for name in counters]
    begin, body, end = with_commits(written, branch.commits, [*undo, *([leave] if leave else []), "break"])
    marks = [f"{name}_before = {name}" for name in counters] if "if bad or full != 0:" in end else []
    kernel.uses("natural")
    return ["bad, full = False, 0", f"{row} = natural({row})", *marks, *branch.begin, *begin, *body, *end, *advance]


def _counters_in(kernel: Kernel, lines: list[str]) -> list[str]:
    words = dict.fromkeys(re.findall(r"\w+", "\n".join(lines)))
    return [name for name in kernel.counters.values() if name in words]


def _closing_lines(kernel: Kernel, branch: Branch, loads: list[str]) -> list[str]:
    counters = _counters_in(kernel, branch.body)
    lines = [*_load_cells(kernel), *loads, "bad, full, i, turn = False, 0, 0, 0", *branch.begin]
    lines += [f"{name}_before = {name}" for name in counters]
    lines += ["for at in range(len(order)):", "    slot = order[at]", *_indented(branch.body)]
    lines += ["if bad or full != 0:", *_indented([f"{name} = {name}_before" for name in counters] or ["pass"])]
    return [*lines, *_save_cells(kernel), *_status()]


def _status() -> list[str]:
    return ["# 0: done; 1: the next tuple is for the Python form; more: an array is full",
            f"meta[{STATUS}] = full + 1 if full != 0 else np.int64(bad)"]  # fmt: skip


def _load_cells(kernel: Kernel) -> list[str]:
    return [
        f"{cell.variable} = float_of(meta[{cell.place}])"
        if cell.kind == "float"
        else f"{cell.variable} = meta[{cell.place}]"
        for cell in kernel.cells.values()
    ]


def _save_cells(kernel: Kernel) -> list[str]:
    return [
        f"meta[{cell.place}] = bits_of({cell.variable})"
        if cell.kind == "float"
        else f"meta[{cell.place}] = {cell.variable}"
        for cell in kernel.cells.values()
        if not cell.variable.endswith("_room")
    ]


def _indented(lines: list[str], levels: int = 1) -> list[str]:
    return ["    " * levels + line for line in lines]
