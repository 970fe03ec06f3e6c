"""Restored state against the types that the program declares now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.errors import StateMigrationError
from wiesel.spi.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext
from wiesel.types import Row, Types


@pytest.fixture(params=["hashmap", "lmdb", "rocksdb"])
def reopened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Writes with one descriptor, restores, returns the state of another."""
    made = []

    def reopen(old: Any, write: Any, new: Any) -> Any:
        files, context = MemoryFiles(), KeyContext()
        context.key = "k"
        made.append(new_backend(request.param, tmp_path))
        write(make_state(old, made[-1], context))
        handle = made[-1].snapshot(1).run(files)
        made.append(new_backend(request.param, tmp_path))
        made[-1].restore([handle], files)
        state = make_state(new, made[-1], context)
        # What was migrated is stored as such.
        handle = made[-1].snapshot(2).run(files)
        made.append(new_backend(request.param, tmp_path))
        made[-1].restore([handle], files)
        make_state(new, made[-1], context)
        return state

    yield reopen
    for backend in made:
        backend.close()


def test_same_type_is_left_alone(reopened: Any) -> None:
    state = reopened(ValueStateDescriptor("x", Types.INT()), lambda s: s.update(5), ValueStateDescriptor("x", Types.INT()))
    assert state.value() == 5


def test_wider_numbers_are_migrated(reopened: Any) -> None:
    state = reopened(ValueStateDescriptor("x", Types.FLOAT()), lambda s: s.update(0.5), ValueStateDescriptor("x", Types.DOUBLE()))
    assert state.value() == 0.5


@pytest.mark.parametrize("container", ["value", "list", "map"])
def test_fields_of_rows_can_be_added_removed_and_reordered(reopened: Any, container: str) -> None:
    old = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    new = Types.ROW_NAMED(["c", "a"], [Types.LONG(), Types.LONG()])
    row, expected = Row(a=1, b="x"), Row(c=None, a=1)
    if container == "value":
        state = reopened(ValueStateDescriptor("x", old), lambda s: s.update(row), ValueStateDescriptor("x", new))
        assert state.value() == expected
    elif container == "list":
        state = reopened(ListStateDescriptor("x", old), lambda s: s.add_all([row, row]), ListStateDescriptor("x", new))
        assert state.get() == [expected] * 2
    else:
        state = reopened(
            MapStateDescriptor("x", Types.STRING(), old), lambda s: s.put("m", row), MapStateDescriptor("x", Types.STRING(), new)
        )
        assert dict(state.items()) == {"m": expected}


@pytest.mark.parametrize(
    ("old", "write", "new", "words"),
    [
        (
            ValueStateDescriptor("count", Types.STRING()),
            lambda s: s.update("a"),
            ValueStateDescriptor("count", Types.INT()),
            ["String", "Integer"],
        ),
        (
            ListStateDescriptor("count", Types.STRING()),
            lambda s: s.add("a"),
            ListStateDescriptor("count", Types.INT()),
            ["String", "Integer"],
        ),
        (
            ValueStateDescriptor("count", Types.LONG()),
            lambda s: s.update(1),
            ValueStateDescriptor("count", Types.INT()),
            ["Long", "Integer"],
        ),
        (ValueStateDescriptor("count"), lambda s: s.update(1), ListStateDescriptor("count"), ["value", "list"]),
        (ValueStateDescriptor("count"), lambda s: s.update(1), ReducingStateDescriptor("count", max), ["value", "reducing"]),
    ],
)
def test_what_does_not_fit_is_refused_by_name(reopened: Any, old: Any, write: Any, new: Any, words: list[str]) -> None:
    with pytest.raises(StateMigrationError) as raised:
        reopened(old, write, new)
    assert all(word in str(raised.value) for word in ["'count'", *words])
    assert raised.value.hint
