"""Whether a native stretch among Python ones pays: what crossing to it costs against what it saves.

The figures are nanoseconds per tuple, and rough: estimated from how long whole pipelines took in each form, not
measured one by one. Only their ratios matter here.
"""

from __future__ import annotations

from anabranch.codegen.part import Part
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.process import Process

INTO_COLUMNS = 45  # for each attribute that is read natively
INTO_ROWS = 120  # for each tuple that leaves
PER_ATTRIBUTE_INTO_ROWS = 25
SIMPLE_OPERATOR = 110  # what a filter or a map takes in the Python form
KEYED_OPERATOR = 350  # a window, or an operator with state


def native_pays(part: Part) -> bool:
    """Whether a native stretch saves more than its tuples cost on their way in; few leave, as a rule."""
    into = sum(INTO_COLUMNS * len(part.schema(stream).attributes) for stream in part.inputs)
    saved = 0
    for operator_id in part.operators:
        definition = part.operator(operator_id).definition
        saved += KEYED_OPERATOR if isinstance(definition, WindowAggregate | Process) else SIMPLE_OPERATOR
    return saved > into
