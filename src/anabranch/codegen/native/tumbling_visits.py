"""Tumbling windows in native code: a clock has at most one of them open.

Windows by count; windows by time of which each record has its own clock (one window for the whole stream, or
`clock="key"`); windows by time of all keys under the stream's clock, which close together; and punctuated ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.codegen.native.grouped_visits import each_record
from anabranch.codegen.native.keyed import check_room, find_slot, found_by, keep, keep_found, named_words, stored_as_new
from anabranch.codegen.native.values import Value

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


def by_count(code: WindowCode, item: Value) -> None:
    """Closes with its n-th tuple. `opened` is when it began: open windows close in that order at the end."""
    kernel, writer = code.kernel, code.kernel.writer
    new = code.zeros()
    if code.record.is_keyed:
        opened = code.word("opened", "int")
        arrivals = kernel.cell(f"{code.prefix}_arrivals")
        new.append(f"{opened} = 0")
    slot, words = find_slot(kernel, code.record, code.key(item), new)
    code.slot = slot
    since = writer.position
    with writer.block(f"if {code.size} == 0:"):
        code.begin(item)
        if code.record.is_keyed:
            writer.line(f"{opened} = {arrivals}")
    with writer.block("else:"):
        code.add(item)
    with writer.block(f"if {code.size} == {int(code.definition.window.length)}:"):
        code.emit(code.same_names(), "0")
        writer.line(f"{code.size} = 0")
    more = [f"{arrivals} += 1"] if code.record.is_keyed else []
    if code.distinct:
        more += [f"if {code.size} != 0:", *(f"    {line}" for line in code.store_values())]
        if not code.record.is_keyed:
            more += ["else:", *(f"    {line}" for line in code.forget_values())]
    keep(kernel, code.record, slot, words, since, tuple(more))


def own_clock(code: WindowCode, item: Value) -> None:
    """The record knows the stretch of time [low, high) of its open window: most tuples only compare with that."""
    kernel, writer = code.kernel, code.kernel.writer
    kind = "float" if code.is_float else "int"
    begun, reached = code.word("begun", "bool"), code.word("reached", "int")
    low, high = code.word("low", kind), code.word("high", kind)
    time = code.time(item)
    zero = "0.0" if code.is_float else "0"
    new = [f"{begun} = False", f"{reached} = 0", f"{low} = {zero}", f"{high} = {zero}", *code.zeros()]
    if code.record.is_keyed:
        opened = code.word("opened", "int")
        arrivals = kernel.cell(f"{code.prefix}_arrivals")
        new.append(f"{opened} = 0")
    slot, words = find_slot(kernel, code.record, code.key(item), new)
    # A window is open while its stretch is set: before the first tuple, and after a close, low equals high.
    with writer.block(f"if {low} <= {time} < {high}:"):
        since = writer.position
        code.add(item)
        keep(kernel, code.record, slot, words, since, code.store_values())
    with writer.block("else:"):
        since = writer.position
        boundary = code.boundary(time)
        with writer.block(f"if {begun} and {boundary} < {reached}:"):
            code.late(item)
        with writer.block("else:"):
            with writer.block(f"if {code.size} != 0:"):
                code.emit(code.same_names(), f"({reached} + 1)")
            writer.line(f"{begun} = True")
            writer.line(f"{reached} = {boundary}")
            writer.line(f"{low} = {code.point(boundary)}")
            writer.line(f"{high} = {code.point(f'({boundary} + 1)')}")
            code.begin(item)
            if code.record.is_keyed:
                writer.line(f"{opened} = {arrivals}")
            more = (f"{arrivals} += 1",) if code.record.is_keyed else code.forget_values()
            keep(kernel, code.record, slot, words, since, (*more, *code.store_values()))


def shared_clock(code: WindowCode, item: Value) -> None:
    """All records belong to the one open window; when time passes its end they are emitted, and begin anew."""
    kernel, writer, record, prefix = code.kernel, code.kernel.writer, code.record, code.prefix
    begun, reached, low, high, count = _of_shared_clock(code)
    time = code.time(item)
    words = named_words(kernel, record, code.key(item))
    slot = code.slot = writer.fresh(f"{prefix}_slot")
    with writer.block(f"if {low} <= {time} < {high}:"):
        writer.line(f"{slot} = {found_by(kernel, record, words)}")
        with writer.block(f"if {slot} >= 0:"):
            for line in record.load(kernel, slot):
                writer.line(line)
            since = writer.position
            code.add(item)
            keep_found(kernel, record, slot, since, code.store_values())
        with writer.block("else:"):
            check_room(kernel, record)
            code.begin(item)
            linked = code.order.link(words, slot) if code.order is not None else []
            kernel.commit([*stored_as_new(kernel, record, slot, words), *linked, *code.store_values()])
    with writer.block("else:"):
        boundary = code.boundary(time)
        with writer.block(f"if {begun} != 0 and {boundary} < {reached}:"):
            code.late(item)
        with writer.block("else:"):
            with kernel.in_loop(), each_record(code, count) as at:
                code.emit_record(at, f"({reached} + 1)")
            next_low, next_high = code.point(boundary), code.point(f"({boundary} + 1)")
            code.begin(item)
            linked = code.order.begin(words, slot) if code.order is not None else []
            kernel.commit([
                f"{begun} = 1",
                f"{reached}, {low}, {high} = {boundary}, {next_low}, {next_high}",
                f"{kernel.cell(f'{prefix}_before')} += {count}",
                f"{count} = 0",
                *code.forget_values(),
                *stored_as_new(kernel, record, slot, words),
                *linked,
                *code.store_values(),
            ])  # fmt: skip


def clock(code: WindowCode, time: str) -> None:
    """The same without a tuple that begins the next window."""
    kernel, writer = code.kernel, code.kernel.writer
    begun, reached, low, high, count = _of_shared_clock(code)
    with writer.block(f"if not {low} <= {time} < {high}:"):
        boundary = code.boundary(time)
        with writer.block(f"if {begun} == 0 or {boundary} > {reached}:"):
            with kernel.in_loop(), each_record(code, count) as at:
                code.emit_record(at, f"({reached} + 1)")
            next_low, next_high = code.point(boundary), code.point(f"({boundary} + 1)")
            kernel.commit([
                f"{begun} = 1",
                f"{reached}, {low}, {high} = {boundary}, {next_low}, {next_high}",
                f"{kernel.cell(f'{code.prefix}_before')} += {count}",
                f"{count} = 0",
                *(code.order.emptied() if code.order is not None else []),
                *code.forget_values(),
            ])  # fmt: skip


def _of_shared_clock(code: WindowCode) -> tuple[str, str, str, str, str]:
    """Whether it has begun, what it has reached, the stretch of the open window, and how many records that has."""
    kernel, prefix = code.kernel, code.prefix
    make = kernel.float_cell if code.is_float else kernel.cell
    begun, reached, count = (kernel.cell(f"{prefix}_{what}") for what in ("begun", "reached", "count"))
    return begun, reached, make(f"{prefix}_low"), make(f"{prefix}_high"), count


def punctuated(code: WindowCode, item: Value) -> None:
    """Only adds; a punctuation closes it from outside of the kernel."""
    kernel, writer = code.kernel, code.kernel.writer
    slot, words = find_slot(kernel, code.record, code.key(item), code.zeros())
    code.slot = slot
    since = writer.position
    with writer.block(f"if {code.size} == 0:"):
        code.begin(item)
    with writer.block("else:"):
        code.add(item)
    keep(kernel, code.record, slot, words, since, code.store_values())
