"""What a declared type does to values; the recorded cases of real Flink are in test_flink_strings.py."""

from __future__ import annotations

import datetime as dt
import math
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.core.errors import TypeMismatchError
from wiesel.types.coercion import coercer_for, round_to_float
from wiesel.types.row import Row, RowKind
from wiesel.types.types import Types as T

PERSON = T.ROW_NAMED(["name", "age"], [T.STRING(), T.INT()])


def test_rows_get_the_declared_names_in_their_order() -> None:
    for given_value in (Row("x", 1), Row(age=1, name="x"), ("x", 1), ["x", 1], {"age": 1, "name": "x"}, SimpleNamespace(name="x", age=1)):
        assert repr(PERSON.coerce(given_value)) == "Row(name='x', age=1)"
    assert repr(T.ROW([T.INT()]).coerce((1,))) == "Row(f0=1)"
    assert PERSON.coerce(Row.of_kind(RowKind.DELETE, "x", 1)).get_row_kind() is RowKind.DELETE
    assert PERSON.coerce({"name": "x", "other": 5}) == Row(name="x", age=None)


def test_rows_that_need_nothing_are_not_copied_and_others_are_not_changed() -> None:
    row = PERSON.coerce(Row("x", 1))
    assert PERSON.coerce(row) is row
    assert PERSON.coerce(pickle.loads(pickle.dumps(row))) == row
    given_row = Row("x", 1.5)
    assert PERSON.coerce(given_row) == Row(name="x", age=1)
    assert given_row == Row("x", 1.5)


def test_parts_are_converted_too() -> None:
    kind = T.TUPLE([T.LIST(T.FLOAT()), T.MAP(T.STRING(), T.DOUBLE()), T.ROW([T.DOUBLE()])])
    assert kind.coerce([(0.1,), {"a": 1, "b": None}, (1,)]) == ([0.10000000149011612], {"a": 1.0, "b": None}, Row(f0=1.0))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (T.INT(), 2**31),
        (T.INT(), math.nan),
        (T.INT(), "1"),
        (T.DOUBLE(), "1"),
        (T.BOOLEAN(), "true"),
        (T.STRING(), 1),
        (T.SQL_TIMESTAMP(), dt.date(2020, 1, 1)),
        (T.SQL_TIME(), 5),
        (PERSON, ("x",)),
        (PERSON, 5),
        (PERSON, ("x", 2**31)),
        (T.TUPLE([T.INT()]), (1, 2)),
        (T.TUPLE([T.INT()]), (None,)),
        (T.TUPLE([T.INT()]), 1),
        (T.LIST(T.INT()), 5),
        (T.SQL_DATE(), "2024-01-02"),
        (T.SQL_DATE(), 19724),
        (T.INSTANT(), 0),
        (T.MAP(T.INT(), T.INT()), [1]),
        (T.PRIMITIVE_ARRAY(T.BYTE()), 5.0),
    ],
)
def test_what_the_type_cannot_hold_is_refused(kind: Any, value: Any) -> None:
    with pytest.raises(TypeMismatchError):
        kind.coerce(value)


def test_pickled_values_have_no_coercer() -> None:
    assert coercer_for(T.PICKLED_BYTE_ARRAY()) is None
    assert T.PICKLED_BYTE_ARRAY().coerce("anything") == "anything"


@given(st.floats(allow_nan=False))
def test_rounding_twice_is_rounding_once(value: float) -> None:
    assert round_to_float(round_to_float(value)) == round_to_float(value)


FIELDS = {
    "STRING": (T.STRING(), st.text()),
    "BOOLEAN": (T.BOOLEAN(), st.booleans()),
    "BYTE": (T.BYTE(), st.integers(-(2**7), 2**7 - 1)),
    "LONG": (T.LONG(), st.integers(-(2**63), 2**63 - 1)),
    "DOUBLE": (T.DOUBLE(), st.floats(allow_nan=False)),
    "BIG_INT": (T.BIG_INT(), st.integers()),
}


@given(st.data())
def test_values_of_the_type_pass_unchanged(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=4))
    kinds = [FIELDS[name][0] for name in names]
    values = [data.draw(FIELDS[name][1]) for name in names]
    assert T.TUPLE(kinds).coerce(tuple(values)) == tuple(values)
    with_none = [data.draw(st.sampled_from([value, None])) for value in values]
    row = T.ROW(kinds).coerce(with_none)
    assert row._values == with_none
    assert list(map(type, row._values)) == list(map(type, with_none))


def test_none_passes_as_a_record() -> None:
    assert T.INT().coerce(None) is None
    assert T.ROW([T.INT()]).coerce(None) is None


@given(st.lists(st.one_of(st.integers(-(2**31), 2**31 - 1), st.none(), st.floats(-1e6, 1e6))))
def test_batches_are_coerced_as_single_values(values: list[Any]) -> None:
    for kind in (T.INT(), T.LONG(), T.DOUBLE(), T.BIG_INT(), T.FLOAT()):
        batch, single = kind.compile_batch_coercer(), kind.compile_coercer()
        if batch is None or single is None:
            assert batch is None
            assert single is None
        else:
            assert list(map(repr, batch(values))) == [repr(single(value)) for value in values]


PAIRS = st.one_of(
    st.tuples(st.one_of(st.integers(-(2**31), 2**31 - 1), st.booleans(), st.none()), st.one_of(st.text(max_size=2), st.none())),
    st.just((1, "a")),
    st.just([1, "a"]),
    st.just(Row(1, "a")),
    st.none(),
)


@given(st.lists(PAIRS, max_size=4))
def test_the_test_of_batches_of_composites_never_passes_what_would_be_changed(pairs: list[Any]) -> None:
    tuples, rows = T.TUPLE([T.INT(), T.STRING()]), T.ROW_NAMED(["n", "s"], [T.INT(), T.STRING()])
    for kind in (tuples, rows):
        for values in (pairs, [kind.coerce(pair) for pair in pairs if pair is None or None not in tuple(pair)]):
            if kind.compile_batch_test()(values):
                assert all(kind.coerce(value) is value for value in values)


def test_the_test_of_batches_passes_what_fits() -> None:
    tuples, rows = T.TUPLE([T.INT(), T.STRING()]), T.ROW_NAMED(["n", "s"], [T.INT(), T.STRING()])
    fit = tuples.compile_batch_test()
    assert fit([(1, "a"), (2, "b")])
    assert not fit([(1, "a"), (2**31, "b")])
    assert not fit([(1, "a"), (2, "b", 3)])
    assert not fit([(1, "a"), (True, "b")])
    assert not fit([(1, "a"), None])
    fit = rows.compile_batch_test()
    assert fit([rows.coerce(Row(1, "a")), rows.coerce(Row(None, "a"))])
    assert not fit([rows.coerce(Row(1, "a")), Row(1, "a")])
    assert not T.ROW([T.FLOAT()]).compile_batch_test()([Row(0.1)])


def test_batches_that_need_nothing_are_not_copied_and_wrong_ones_are_refused() -> None:
    batch = T.INT().compile_batch_coercer()
    assert batch is not None
    values = [1, 2, 3]
    assert batch(values) is values
    assert batch([]) == []
    with pytest.raises(TypeMismatchError):
        batch([1, 2**31])
    with pytest.raises(TypeMismatchError):
        batch([1, "x"])


@given(st.integers(-(2**70), 2**70))
def test_integers_are_checked_alike_alone_and_in_composites(value: int) -> None:
    def accepted(kind: Any, candidate: Any) -> bool:
        try:
            kind.coerce(candidate)
        except TypeMismatchError:
            return False
        return True

    fits = -(2**31) <= value < 2**31
    assert accepted(T.INT(), value) is fits
    assert accepted(T.TUPLE([T.INT()]), (value,)) is fits
    assert accepted(T.ROW([T.INT()]), (value,)) is fits
