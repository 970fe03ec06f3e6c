"""Functions with OVER of whole partitions, against a computation row by row."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

import pyarrow as pa
import pytest

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.arrow_types import arrow_type
from wiesel.runtime.table.over.results import PartitionsSpec, sorted_with_results
from wiesel.types import logical as t

COLUMNS = {
    "id": t.IntType(),
    "part": t.VarCharType(10),
    "key": t.IntType(),
    "exact": t.DecimalType(10, 2),
    "fraction": t.DoubleType(),
    "word": t.VarCharType(10),
    "at": t.TimestampType(3),
}
NAMES = list(COLUMNS)
Rows = list[tuple[Any, ...]]


def some_rows(chance: random.Random, count: int) -> Rows:
    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.15 else value

    return [
        (
            place,
            maybe(chance.choice("abc")),
            maybe(chance.randrange(8)),
            maybe(Decimal(chance.randrange(500)) / 100),
            maybe(chance.random()),
            maybe(chance.choice(["x", "yy", "z"])),
            maybe(chance.randrange(20) * 1000),
        )
        for place in range(count)
    ]


def batch(rows: Rows) -> pa.RecordBatch:
    arrays = []
    for place, kind in enumerate(COLUMNS.values()):
        values = [row[place] for row in rows]
        of = arrow_type(kind)
        arrays.append(pa.array(values, pa.int64()).cast(of) if pa.types.is_timestamp(of) else pa.array(values, of))
    return pa.RecordBatch.from_arrays(arrays, names=NAMES)


def call(
    function: str, *columns: str, distinct: bool = False, result: t.DataType | None = None, options: tuple[Any, ...] = ()
) -> BoundCall:
    types = tuple(COLUMNS[name] for name in columns)
    return BoundCall(function, Spec(types, result or types[0], options=options), tuple(map(NAMES.index, columns)), distinct)


def results(calls: Sequence[BoundCall], rows: Rows, keys: Any, by_rows: bool, preceding: Any, following: Any) -> dict[int, tuple[Any, ...]]:
    schema = pa.schema([*batch(rows).schema, *(pa.field(f"r{place}", arrow_type(each.spec.result)) for place, each in enumerate(calls))])
    found = sorted_with_results(PartitionsSpec((1,), keys, by_rows, preceding, following, tuple(calls), schema), batch(rows))
    return {row["id"]: tuple(row[f"r{place}"] for place in range(len(calls))) for row in found.to_pylist()}


def in_order(keys: Any) -> Callable[[Any], Any]:
    def compare(one: Any, other: Any) -> int:
        for index, ascending, nulls_first in keys:
            left, right = one[index], other[index]
            if left == right:
                continue
            if left is None or right is None:
                return -1 if (left is None) == nulls_first else 1
            return -1 if (left < right) == ascending else 1
        return 0

    return cmp_to_key(compare)


def within(row: Any, other: Any, places: tuple[int, int], keys: Any, by_rows: bool, preceding: Any, following: Any) -> bool:
    """Return whether a row is in the frame of another one; ``places`` are those of both."""
    mine, its = places
    if by_rows:
        return (preceding is None or its >= mine - preceding) and (following is None or its <= mine + following)
    index, ascending, nulls_first = keys[0]
    sign = 1 if ascending else -1
    value, other_value = row[index], other[index]

    def reached(limit: Any, direction: int) -> bool:
        if limit is None:
            return True
        if value is None and other_value is None:
            return True
        if value is None or other_value is None:
            comes_before = (other_value is None) == nulls_first
            return comes_before == (direction > 0)
        return (other_value - value) * sign * direction <= limit

    return reached(preceding, -1) and reached(following, 1)


def values_of(frame: Rows, name: str) -> list[Any]:
    return [row[NAMES.index(name)] for row in frame if row[NAMES.index(name)] is not None]


def summed(values: Sequence[Any]) -> Any:
    total = None
    for value in values:
        total = value if total is None else total + value
    return total


AGGREGATES: list[tuple[BoundCall, Callable[[Rows], Any]]] = [
    (call("SUM", "key"), lambda frame: summed(values_of(frame, "key"))),
    (call("SUM", "exact", result=t.DecimalType(38, 2)), lambda frame: summed(values_of(frame, "exact"))),
    (call("SUM", "fraction"), lambda frame: summed(values_of(frame, "fraction"))),
    (call("MIN", "word"), lambda frame: min(values_of(frame, "word"), default=None)),
    (call("MAX", "exact"), lambda frame: max(values_of(frame, "exact"), default=None)),
    (call("COUNT", "word", distinct=True, result=t.BigIntType(False)), lambda frame: len(set(values_of(frame, "word")))),
    (call("FIRST_VALUE", "word"), lambda frame: next(iter(values_of(frame, "word")), None)),
    (call("LAST_VALUE", "key"), lambda frame: next(iter(values_of(frame, "key")[::-1]), None)),
    (call("LISTAGG", "word", result=t.VarCharType(t.MAX_LENGTH)), lambda frame: ",".join(values_of(frame, "word")) or None),
]
BOTH_ENDS = [(None, 0), (0, None), (None, None), (3, 0), (2, 2), (0, 4), (4, -2), (-1, 3), (None, -1), (-2, None), (0, 0)]


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("preceding, following", BOTH_ENDS)
def test_aggregates_of_frames_are_those_of_their_rows(by_rows: bool, preceding: int | None, following: int | None) -> None:
    for seed in range(8):
        print(f"seed {seed}")
        chance = random.Random(seed)
        rows = some_rows(chance, chance.choice([1, 7, 60]))
        index = NAMES.index(chance.choice(["key", "at"]))
        unit = 1000 if NAMES[index] == "at" and not by_rows else 1
        reach = [None if each is None else each * unit for each in (preceding, following)]
        keys = ((index, chance.random() < 0.6, chance.random() < 0.5),)
        found = results([each for each, _ in AGGREGATES], rows, keys, by_rows, *reach)
        for part in {row[1] for row in rows}:
            mine = sorted((row for row in rows if row[1] == part), key=in_order(keys))
            for place, row in enumerate(mine):
                frame = [other for its, other in enumerate(mine) if within(row, other, (place, its), keys, by_rows, *reach)]
                for (each, expected), value in zip(AGGREGATES, found[row[0]], strict=True):
                    wanted = expected(frame)
                    same = value == (pytest.approx(wanted, rel=1e-12) if isinstance(wanted, float) else wanted)
                    assert same, f"{each.function} for {row}: {value} instead of {wanted}"


def test_places_are_those_of_the_standard() -> None:
    """Rows that are equal in order have the same ranks and shares."""
    count, share = t.BigIntType(False), t.DoubleType(False)
    functions = [("ROW_NUMBER", count), ("RANK", count), ("DENSE_RANK", count), ("PERCENT_RANK", share), ("CUME_DIST", share)]
    rows = [(place, "a", key, None, None, None, None) for place, key in enumerate([5, 1, 1, 3, 1])] + [(9, "b", 4, None, None, None, None)]
    found = results([call(name, result=of) for name, of in functions], rows, ((2, True, True),), False, None, 0)
    assert found == {
        1: (1, 1, 1, 0.0, 0.6),
        2: (2, 1, 1, 0.0, 0.6),
        4: (3, 1, 1, 0.0, 0.6),
        3: (4, 4, 2, 0.75, 0.8),
        0: (5, 5, 3, 1.0, 1.0),
        9: (1, 1, 1, 0.0, 1.0),
    }


@pytest.mark.parametrize("count", range(1, 12))
def test_rows_are_shared_out_evenly(count: int) -> None:
    rows = [(place, "a", place, None, None, None, None) for place in range(count)]
    for parts in range(1, 7):
        found = results([call("NTILE", result=t.BigIntType(False), options=(parts,))], rows, ((0, True, True),), False, None, 0)
        sizes = [sum(value == (part,) for value in found.values()) for part in range(1, parts + 1)]
        assert sizes == [count // parts + (part < count % parts) for part in range(parts)]
        assert [found[place] for place in range(count)] == sorted(found.values())


def test_rows_before_and_behind() -> None:
    rows = [(place, "ab"[place % 2], place, None, None, str(place), None) for place in range(6)]
    calls = [call(name, "word", "word", options=(back,)) for name in ("LAG", "LEAD") for back in (0, 1)]
    found = results(calls, rows, ((2, False, True),), False, None, 0)
    assert found[0] == ("0", "2", "0", "0")
    assert found[2] == ("2", "4", "2", "0")
    assert found[5] == ("5", "5", "5", "3")
