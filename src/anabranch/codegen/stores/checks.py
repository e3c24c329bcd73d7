"""Whether a store is one of an operator as its code is now."""

from __future__ import annotations

from dataclasses import replace

from anabranch.analysis.program import look_at_program
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.stores.schema import FORMAT, INSTANCE, Path, StoreSchema, schema_of
from anabranch.codegen.stores.store import Store, WrongStore, not_kept_in


def check_store(store: Store, part: Part) -> None:
    """Raises `WrongStore` where the store has other fields, or lacks one that the operator reads."""
    if store.schema is None:
        return
    if store.schema.format != FORMAT:
        raise WrongStore(f"the store of '{store.operator}' has format {store.schema.format}, not {FORMAT}")
    now = schema_of(part.operator(store.operator))
    _check_types(store.operator, store.schema, now)
    missing = not_kept_in(store)
    if missing:
        reads = _read_by(part, store.operator)
        for path in missing:
            if reads is None or path in reads:
                raise WrongStore(f"'{store.operator}' reads '{'.'.join(path)}' now, which was not kept before")


def _check_types(operator_id: str, then: StoreSchema, now: StoreSchema | None) -> None:
    was, wants = _types(then), _types(now)
    if now is not None and (INSTANCE,) in [each.path for table in then.tables for each in table.fields]:
        # Objects are moved as they are, whatever is known of their attributes.
        opaque = [replace(table, fields=then.tables[0].fields) for table in now.tables]
        wants = _types(replace(now, tables=tuple(opaque)))
    for path in dict.fromkeys((*was, *wants)):
        if was.get(path) != wants.get(path):
            text = f"the store of '{operator_id}' has {was.get(path, 'nothing')} as '{'.'.join(path)}'"
            raise WrongStore(f"{text}, where there is {wants.get(path, 'nothing')} now")


def _types(schema: StoreSchema | None) -> dict[Path, str]:
    if schema is None:
        return {}
    found: dict[Path, str] = {("values", *each.path): each.type for each in schema.values}
    for table in schema.tables:
        found |= {(table.name, "key", *each.path): each.type for each in table.key}
        found |= {(table.name, *each.path): each.type for each in table.fields}
    return found


def _read_by(part: Part, operator_id: str) -> frozenset[Path] | None:
    """What the operator reads of its own, found as for native code; None where that is not known: perhaps all."""
    from anabranch.codegen.native.assemble import assemble
    from anabranch.codegen.native.values import NotNative
    from anabranch.codegen.stores.kept import kept_paths

    try:
        with look_at_program(part.graph, thoroughly=False):
            records = assemble(part_of(part.graph, (operator_id,))).records
    except NotNative:
        return None
    return kept_paths(part.operator(operator_id), records[operator_id])
