"""Serializers: round trips, snapshots, and what stored state survives."""

from __future__ import annotations

import decimal
import io
import json
import threading
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.core.errors import SerializationError, StateMigrationError
from wiesel.types.row import Row, RowKind
from wiesel.types.serializers import (
    Compatibility,
    TypeSerializer,
    VoidNamespaceSerializer,
    migrator,
    serializer_for,
    serializer_from_snapshot,
)
from wiesel.types.types import Types as T

ROWS = T.ROW_NAMED(["a", "b"], [T.STRING(), T.INT()])
values = st.one_of(st.none(), st.integers(), st.text(), st.floats(allow_nan=False), st.tuples(st.integers(), st.text()))
rows = st.builds(
    lambda kind, a, b, named: Row.of_kind(kind, a=a, b=b) if named else Row.of_kind(kind, a, b),
    st.sampled_from(RowKind),
    values,
    values,
    st.booleans(),
)


@given(st.lists(values))
def test_any_values_come_back(batch: list[Any]) -> None:
    serializer = serializer_for(T.PICKLED_BYTE_ARRAY())
    assert serializer.decode_many(serializer.encode_many(batch)) == batch
    assert [serializer.decode(serializer.encode(value)) for value in batch] == batch


@given(st.lists(rows))
def test_rows_come_back_with_their_kinds_and_names(batch: list[Row]) -> None:
    serializer = serializer_for(ROWS)
    again = serializer.decode_many(serializer.encode_many(batch))
    assert again == batch
    assert [repr(row) for row in again] == [repr(row) for row in batch]
    assert [serializer.decode(serializer.encode(row)) for row in batch] == batch


@pytest.mark.parametrize(
    "batch", [[Row("x", 1)], [Row(a="x", b=1)], [Row.of_kind(RowKind.DELETE, a="x", b=1)], [Row(c=1, d=2), Row("y", 2)]]
)
def test_rows_in_streams_one_behind_the_other(batch: list[Row]) -> None:
    serializer = serializer_for(ROWS)
    stream = io.BytesIO()
    for row in batch:
        serializer.serialize(row, stream)
    stream.seek(0)
    assert [serializer.deserialize(stream) for _ in batch] == batch


def test_rows_with_the_declared_names_do_not_store_them() -> None:
    serializer = serializer_for(T.ROW_NAMED(["a_rather_long_name"], [T.INT()]))
    batch = [Row(a_rather_long_name=i) for i in range(100)]
    assert b"a_rather_long_name" not in serializer.encode_many(batch)
    assert serializer.decode_many(serializer.encode_many(batch)) == batch


def test_decoding_takes_memory_views() -> None:
    for kind, batch in ((ROWS, [Row("x", 1)]), (T.INT(), [1])):
        serializer = serializer_for(kind)
        assert len(serializer.decode_many(memoryview(serializer.encode_many(batch)))) == 1


def test_what_cannot_be_pickled_names_its_class() -> None:
    with pytest.raises(SerializationError, match=r"_thread\.lock cannot be pickled"):
        serializer_for(T.PICKLED_BYTE_ARRAY()).encode(threading.Lock())


def test_classes_that_only_the_program_knows_are_shipped() -> None:
    class Local:
        def __init__(self, x: int) -> None:
            self.x = x

    serializer = serializer_for(T.PICKLED_BYTE_ARRAY())
    assert [value.x for value in serializer.decode_many(serializer.encode_many([Local(1), Local(2)]))] == [1, 2]


def test_a_snapshot_is_json_and_gives_the_serializer_back() -> None:
    serializer = serializer_for(ROWS)
    snapshot = json.loads(json.dumps(serializer.snapshot()))
    assert snapshot == {
        "version": 1,
        "serializer": "type",
        "type": "row",
        "names": ["a", "b"],
        "of": [{"type": "basic", "name": "STRING"}, {"type": "basic", "name": "INT"}],
    }
    again = serializer_from_snapshot(snapshot)
    assert again == serializer
    assert again.decode_many(serializer.encode_many([Row("x", 1)])) == [Row("x", 1)]


def named(**fields: Any) -> Any:
    return T.ROW_NAMED(list(fields), list(fields.values()))


@pytest.mark.parametrize(
    ("old", "new", "value", "expected"),
    [
        (T.BYTE(), T.LONG(), 5, 5),
        (T.INT(), T.BIG_INT(), 5, 5),
        (T.INT(), T.BIG_DEC(), 5, decimal.Decimal(5)),
        (T.FLOAT(), T.DOUBLE(), 1.5, 1.5),
        (T.STRING(), T.PICKLED_BYTE_ARRAY(), "x", "x"),
        (named(a=T.INT()), named(a=T.INT(), b=T.STRING()), Row(a=1), Row(a=1, b=None)),
        (named(a=T.INT(), b=T.STRING()), named(b=T.STRING()), Row(a=1, b="x"), Row(b="x")),
        (named(a=T.INT(), b=T.STRING()), named(b=T.STRING(), a=T.LONG()), Row(a=1, b="x"), Row(b="x", a=1)),
        (T.ROW([T.INT()]), named(a=T.LONG()), Row(f0=1), Row(a=1)),
        (named(a=named(x=T.INT())), named(a=named(x=T.LONG(), y=T.INT())), Row(a=Row(x=1)), Row(a=Row(x=1, y=None))),
        (named(a=named(x=T.INT())), named(a=named(x=T.LONG(), y=T.INT())), Row(a=None), Row(a=None)),
        (T.LIST(named(x=T.INT())), T.LIST(named(x=T.INT(), y=T.INT())), [Row(x=1), None], [Row(x=1, y=None), None]),
        (T.TUPLE([T.INT(), T.INT()]), T.TUPLE([T.LONG(), T.BIG_DEC()]), (1, 2), (1, decimal.Decimal(2))),
        (T.MAP(T.STRING(), T.INT()), T.MAP(T.STRING(), T.BIG_DEC()), {"a": 1, "b": None}, {"a": decimal.Decimal(1), "b": None}),
    ],
)
def test_changes_that_state_survives(old: Any, new: Any, value: Any, expected: Any) -> None:
    assert serializer_for(new).resolve_compatibility(serializer_for(old).snapshot()) is Compatibility.MIGRATE
    migrated = migrator(old, new)(value)
    assert migrated == expected
    assert repr(migrated) == repr(expected)
    assert new.compile_checker()(migrated)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (T.LONG(), T.INT()),
        (T.STRING(), T.INT()),
        (T.DOUBLE(), T.FLOAT()),
        (T.PICKLED_BYTE_ARRAY(), T.STRING()),
        (T.ROW([T.INT()]), T.ROW([T.INT(), T.INT()])),
        (named(a=T.STRING()), named(a=T.INT())),
        (T.TUPLE([T.INT()]), T.TUPLE([T.INT(), T.INT()])),
        (T.LIST(T.STRING()), T.LIST(T.INT())),
        (T.LIST(T.INT()), T.OBJECT_ARRAY(T.INT())),
        (T.MAP(T.STRING(), T.INT()), T.MAP(T.INT(), T.INT())),
    ],
)
def test_changes_that_are_refused(old: Any, new: Any) -> None:
    assert serializer_for(new).resolve_compatibility(serializer_for(old).snapshot()) is Compatibility.INCOMPATIBLE
    with pytest.raises(StateMigrationError, match="cannot become state of type"):
        migrator(old, new)


def test_the_same_type_is_compatible_but_other_names_are_a_change() -> None:
    serializer = serializer_for(named(a=T.INT()))
    assert serializer.resolve_compatibility(serializer.snapshot()) is Compatibility.COMPATIBLE
    assert serializer.resolve_compatibility(serializer_for(named(b=T.INT())).snapshot()) is Compatibility.MIGRATE


class Decimals(TypeSerializer[int]):
    """A serializer as a user of PyFlink writes it."""

    def serialize(self, element: int, stream: BinaryIO) -> None:
        stream.write(str(element).encode())

    def deserialize(self, stream: BinaryIO) -> int:
        return int(stream.read())


def test_serializers_of_the_users_own() -> None:
    serializer = Decimals()
    assert serializer.decode_many(serializer.encode_many([1, 22])) == [1, 22]
    assert serializer == Decimals()
    assert serializer.resolve_compatibility(Decimals().snapshot()) is Compatibility.COMPATIBLE
    assert serializer.resolve_compatibility(VoidNamespaceSerializer().snapshot()) is Compatibility.INCOMPATIBLE
    with pytest.raises(StateMigrationError, match="Decimals"):
        serializer_for(T.INT()).resolve_compatibility(serializer.snapshot())


def test_snapshots_of_newer_versions_are_refused() -> None:
    with pytest.raises(StateMigrationError, match="version 2"):
        serializer_from_snapshot({**serializer_for(T.INT()).snapshot(), "version": 2})


def test_the_void_namespace_has_no_bytes() -> None:
    serializer = VoidNamespaceSerializer()
    assert serializer.encode(b"") == b""
    assert serializer.decode(b"") == b""
