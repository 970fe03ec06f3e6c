"""Rows, arrays and maps as keys: groups of columns, and values by which state is found."""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate
from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import call
from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_values
from wiesel.columnar.stored import NAN
from wiesel.state.key_groups import stable_hash
from wiesel.types import logical as t

PAIR = pa.struct([("a", pa.int32()), ("t", pa.timestamp("ns"))])
KINDS = [
    PAIR,
    pa.struct([]),
    pa.list_(pa.string()),
    pa.list_(PAIR),
    pa.list_(pa.list_(pa.date32())),
    pa.map_(pa.string(), pa.list_(pa.time32("ms"))),
    pa.struct([("f", pa.float64()), ("d", pa.decimal128(6, 2)), ("m", pa.map_(pa.int8(), PAIR)), ("x", pa.binary())]),
]


def any_value(random: Random, kind: pa.DataType) -> Any:
    """Return one of few values of a type, in Arrow's numbers for times."""
    if random.random() < 0.2:
        return None
    if pa.types.is_struct(kind):
        return tuple(any_value(random, field.type) for field in kind)
    if pa.types.is_map(kind):
        keys = random.sample(["a", "b"] if pa.types.is_string(kind.key_type) else [1, 2], random.randrange(3))
        return [(key, any_value(random, kind.item_type)) for key in keys]
    if pa.types.is_list(kind):
        return [any_value(random, kind.value_type) for _ in range(random.randrange(4))]
    if pa.types.is_floating(kind):
        return random.choice([0.0, -0.0, float("nan"), 1.5])
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return random.choice(["", "x"]) if pa.types.is_string(kind) else random.choice([b"", b"x"])
    return Decimal(random.choice([1, 2])) if pa.types.is_decimal(kind) else random.choice([1, 2])


def plain(value: Any) -> Hashable:
    """Return a value as texts and tuples that are equal where the values are."""
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if isinstance(value, float):
        return repr(value + 0.0)
    return value  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_groups_are_those_of_equal_values(kind: pa.DataType, seed: int) -> None:
    random = Random(seed)
    values = [any_value(random, kind) for _ in range(random.choice([1, 5, 60, 300]))]
    others = [random.randrange(2) for _ in values]
    column = pa.array(values, kind)
    numbers: dict[Hashable, int] = {}
    expected = [numbers.setdefault((plain(value), other), len(numbers)) for value, other in zip(values, others, strict=True)]

    start = random.randrange(len(values))
    for array in (column, pa.concat_arrays([column, column]).slice(len(values)), column.take(pa.array(np.arange(len(values))))):
        groups = group_by([array, pa.array(others)], len(array))
        assert groups.ids.tolist() == expected
        assert groups.count == len(numbers)
    part = column.slice(start)
    assert len(set(zip(key_values(part), others[start:], strict=True))) == group_by([part, pa.array(others[start:])], len(part)).count


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_values_are_keys_and_become_the_column_again(kind: pa.DataType) -> None:
    random = Random(7)
    values = [any_value(random, kind) for _ in range(100)]
    column = pa.array(values, kind)
    keys = key_values(column)
    for one, one_key in zip(values, keys, strict=True):
        for other, other_key in zip(values, pickle.loads(pickle.dumps(keys)), strict=True):
            assert (plain(one) == plain(other)) == (one_key == other_key)
            assert one_key != other_key or (hash(one_key) == hash(other_key) and stable_hash((one_key,)) == stable_hash((other_key,)))
    assert list(map(plain, key_values(pa.array(keys, kind)))) == list(map(plain, keys))


def test_there_is_one_nan_in_keys() -> None:
    (one, other), (inner,) = key_values(pa.array([float("nan"), float("nan")])), key_values(pa.array([[float("nan")]]))
    assert one is other is inner[0] is NAN is pickle.loads(pickle.dumps(NAN))


def test_equal_maps_get_one_form() -> None:
    of = t.RowType([t.RowField("m", t.MapType(t.VarCharType(9), t.ArrayType(t.DoubleType()))), t.RowField("f", t.DoubleType())])
    kind = pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.float64()))), ("f", pa.float64())])
    values = [([("b", [1.0]), ("a", [-0.0, None])], -0.0), None, ([("a", [0.0, None]), ("b", [1.0])], 0.0), (None, None), ([], 1.5)]
    column = pa.array([([("z", None)], 9.0), *values], kind).slice(1)
    rows = pa.RecordBatch.from_arrays([column], names=["r"])
    found = as_array(evaluate(call("CANONICAL VALUE OF", [InputRef(of, 0, "r")]), Frame(rows, Session())), len(values)).to_pylist()
    ordered = {"m": [("a", [0.0, None]), ("b", [1.0])], "f": 0.0}
    assert repr(found) == repr([ordered, None, ordered, {"m": None, "f": None}, {"m": [], "f": 1.5}])


def test_maps_with_keys_that_have_parts_get_one_form() -> None:
    of = t.MapType(t.ArrayType(t.IntType()), t.IntType())
    kind = pa.map_(pa.list_(pa.int32()), pa.int32())
    column = pa.array([[([2, 1], 1), ([1], 2)], [([1], 2), ([2, 1], 1)]], kind)
    rows = pa.RecordBatch.from_arrays([column], names=["m"])
    one, other = as_array(evaluate(call("CANONICAL VALUE OF", [InputRef(of, 0, "m")]), Frame(rows, Session())), 2).to_pylist()
    assert one == other
    assert sorted(one) == [([1], 2), ([2, 1], 1)]
