"""Keys whose bytes have the order of the values, and the compact form of records."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiesel.core.errors import ProgramError
from wiesel.runtime.batch.record_codec import codec_for
from wiesel.runtime.batch.sort_keys import descending, group_key, key_encoder, order_key, sort_encoder
from wiesel.types import Row, Types

_NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(allow_nan=False),
    st.booleans(),
    st.decimals(allow_nan=False),
    st.integers(2**53 - 3, 2**53 + 3),
)
_SAME_KIND = st.one_of(
    st.lists(_NUMBERS, min_size=2, max_size=2),
    st.lists(st.text(), min_size=2, max_size=2),
    st.lists(st.binary(), min_size=2, max_size=2),
    st.lists(st.datetimes(), min_size=2, max_size=2),
    st.lists(st.dates(), min_size=2, max_size=2),
    st.lists(st.times(), min_size=2, max_size=2),
    st.lists(st.timedeltas(), min_size=2, max_size=2),
    st.lists(st.lists(_NUMBERS, max_size=3).map(tuple), min_size=2, max_size=2),
    st.lists(st.tuples(st.text(), _NUMBERS), min_size=2, max_size=2),
)


@settings(max_examples=120, deadline=None)
@given(_SAME_KIND)
def test_keys_have_the_order_of_their_values(pair):
    a, b = pair
    x, y = order_key(a), order_key(b)
    assert (x < y, x == y) == (a < b, a == b)
    assert not (x != y and (x.startswith(y) or y.startswith(x)))
    assert (descending(x) > descending(y), descending(x) == descending(y)) == (a < b, a == b)
    assert (group_key(a) == group_key(b)) == (a == b)


_TYPED = [
    (Types.INT(), st.integers(-(2**31), 2**31 - 1)),
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (Types.SHORT(), st.integers(-(2**15), 2**15 - 1)),
    (Types.BYTE(), st.integers(-128, 127)),
    (Types.DOUBLE(), st.floats(allow_nan=False)),
    (Types.STRING(), st.text()),
    (Types.BOOLEAN(), st.booleans()),
    (Types.TUPLE([Types.STRING(), Types.INT()]), st.tuples(st.text(), st.integers(-5, 5))),
]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_typed_keys_have_the_order_of_their_values(data):
    declared, values = data.draw(st.sampled_from(_TYPED))
    a, b = data.draw(values), data.draw(values)
    for encode in (key_encoder(declared), sort_encoder(declared)):
        x, y = encode(a), encode(b)
        assert (x < y, x == y) == (a < b, a == b)
    encode = sort_encoder(declared, ascending=False)
    assert (encode(a) > encode(b)) == (a < b)


def test_equal_values_of_different_types_are_one_group():
    assert len({group_key(v) for v in (1, 1.0, True, Decimal("1.00"), Fraction(2, 2), 1 + 0j)}) == 1
    assert len({group_key(v) for v in (Fraction(1, 3), Fraction(2, 6))}) == 1
    assert group_key(0.0) == group_key(-0.0)
    assert group_key(frozenset("ab")) == group_key(frozenset("ba"))
    assert group_key((1, "a")) == group_key((True, "a"))


def test_none_comes_first_and_nan_last():
    values = [1.5, math.nan, None, -math.inf, math.inf]
    assert sorted(map(order_key, values)) == [order_key(v) for v in (None, -math.inf, 1.5, math.inf, math.nan)]


def test_keys_that_cannot_be_ordered_or_are_of_another_type_are_named():
    with pytest.raises(ProgramError, match="of type frozenset cannot be ordered"):
        order_key(frozenset())
    with pytest.raises(ProgramError, match="'a' is not of its declared type Integer"):
        key_encoder(Types.INT())("a")


_ROW = Types.ROW_NAMED(["name", "count", "flag", "share"], [Types.STRING(), Types.LONG(), Types.BOOLEAN(), Types.DOUBLE()])
_FIELDS = st.tuples(
    st.one_of(st.none(), st.text(max_size=300)),
    st.one_of(st.none(), st.integers(), st.booleans()),
    st.one_of(st.none(), st.booleans()),
    st.one_of(st.none(), st.floats(allow_nan=False), st.integers()),
)


@settings(max_examples=100, deadline=None)
@given(_FIELDS)
def test_records_come_back_as_they_were(fields):
    for declared, value in (
        (_ROW, Row(name=fields[0], count=fields[1], flag=fields[2], share=fields[3])),
        (Types.TUPLE(_ROW.get_field_types()), fields),
        (None, fields),
        (Types.LONG(), fields[1]),
        (Types.TUPLE([Types.LIST(Types.LONG()), Types.BOOLEAN()]), ([1, 2], fields[2])),
    ):
        codec = codec_for(declared)
        back = codec.decode(codec.encode(value))
        assert back == value
        assert repr(back) == repr(value)  # 1 is not True
        assert codec.decoded == 1


@pytest.mark.parametrize(
    ("declared", "value", "most_bytes"),
    [
        (Types.BOOLEAN(), True, 1),
        (Types.TUPLE([Types.BOOLEAN()]), (True,), 1),
        (Types.TUPLE([Types.BOOLEAN()] * 3), (True, False, None), 1),
        (Types.TUPLE([Types.INT(), Types.DOUBLE()]), (1, 2.0), 13),
        (Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.INT()]), Row(word="hello", n=7), 11),
    ],
)
def test_typed_records_are_compact(declared, value, most_bytes):
    size = len(codec_for(declared).encode(value))
    assert size <= most_bytes
    assert size < 0.6 * len(pickle.dumps(value, 5))
