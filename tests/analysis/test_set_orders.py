"""A set is taken for ordered only where its copies, and what is made of them, have that order."""

from __future__ import annotations

import ast
import marshal
import pickle
import random
from typing import Any

from anabranch.analysis.set_orders import is_kept_by_compiled_code, is_kept_by_copies

LOOP = "[n for n in {0}], list({0}), list({0} | {{7, 99}})"


def _sets(count: int) -> list[set[int]]:
    """Put together, and some of them made smaller again."""
    r = random.Random("sets")
    made = []
    for _ in range(count):
        one = set(r.sample(range(200), r.randrange(1, 9))) | set(r.sample(range(200), r.randrange(1, 9)))
        for _ in range(r.randrange(3) * r.randrange(5)):
            one.discard(r.choice([*one, 0]))
        made.append(one)
    return made


def test_what_is_kept_by_copies_is_kept_by_pickled_ones_and_by_what_is_made_of_them() -> None:
    kept = [each for each in _sets(20_000) if is_kept_by_copies(each)]
    assert 100 < len(kept) < 19_000, len(kept)
    for each in kept:
        copy = pickle.loads(pickle.dumps(each))
        assert list(copy) == list(each)
        for other in ({1}, {64, 3}, {200, 72, 8, 16}):
            assert list(copy | other) == list(each | other)
            assert list(copy - other) == list(each - other)
            assert list(other & copy) == list(other & each)
        assert list(pickle.loads(pickle.dumps(copy))) == list(each)


def test_of_most_others_the_copies_have_another_order_or_room() -> None:
    others = [each for each in _sets(20_000) if not is_kept_by_copies(each)]
    assert sum(list(pickle.loads(pickle.dumps(each))) != list(each) for each in others) > 0.3 * len(others)


def test_small_numbers_in_a_row_are_in_order_everywhere() -> None:
    for held in ({1, 2, 3}, {0, 1, 2, 3}, frozenset({3, 4, 5}), {7}, set[int]()):
        assert is_kept_by_copies(held)
        assert is_kept_by_compiled_code(_display("{" + ", ".join(map(str, held or {0})) + "}"))


def test_what_is_kept_by_compiled_code_is_kept_by_python_s_files() -> None:
    r = random.Random("displays")
    texts = [str(r.sample(range(100), r.randrange(1, 8))).replace("[", "{").replace("]", "}") for _ in range(3_000)]
    kept = [text for text in texts if is_kept_by_compiled_code(_display(text))]
    assert 100 < len(kept) < len(texts)
    for text in kept:
        code = compile(LOOP.format(text), "<loop>", "eval")
        assert eval(code) == eval(marshal.loads(marshal.dumps(code))) == eval(pickled(code))


def test_a_set_with_something_that_is_computed_is_made_in_the_order_of_the_text() -> None:
    assert is_kept_by_compiled_code(_display("{1, 40, 8, 77, k}"))
    assert not is_kept_by_compiled_code(_display("{1, 40, 8, 77, 16}"))


def _display(text: str) -> ast.Set:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Set)
    return node


def pickled(code: Any) -> Any:
    """Code with constants that were pickled, as a worker gets it."""
    return code.replace(co_consts=tuple(map(_sent, code.co_consts)))


def _sent(constant: Any) -> Any:
    return pickled(constant) if hasattr(constant, "co_consts") else pickle.loads(pickle.dumps(constant))
