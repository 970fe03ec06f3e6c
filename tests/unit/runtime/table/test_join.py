"""Joins of random changelogs: what is left of the result is the join of what is left of the inputs."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness
from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import call
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.table.join.join_state import JoinSide
from wiesel.runtime.table.join.regular_join import JoinSpec, join_operator
from wiesel.types import logical as t

LEFT = pa.schema([("id", pa.int32()), ("k", pa.string()), ("v", pa.int64())])
RIGHT = pa.schema([("k2", pa.string()), ("id2", pa.int32()), ("w", pa.int64())])
TYPES = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
SMALLER = call("<", [InputRef(t.BigIntType(), 2), InputRef(t.BigIntType(), 5)])


def spec(kind: str, *, condition: Any = None, null_safe: bool = False, unique: bool = False, appends: bool = False) -> JoinSpec:
    keys = [(0,), (1,)] if unique else [None, None]
    sides = tuple(
        JoinSide((key,), (null_safe,), schema, appends, of)
        for key, schema, of in zip((1, 0), (LEFT, RIGHT), keys, strict=True)
    )
    schema = LEFT if kind in ("SEMI", "ANTI") else pa.schema([*LEFT, *RIGHT])
    return JoinSpec(kind, sides, condition, schema)  # type: ignore[arg-type]


class Changelog:
    """A random changelog of one side, and the rows that are left of it."""

    def __init__(self, rng: random.Random, side: int, *, unique: bool, appends: bool) -> None:
        self.rng, self.side, self.unique, self.appends = rng, side, unique, appends
        self.rows: list[tuple[Any, ...]] = []

    def _row(self, number: Any = None) -> tuple[Any, ...]:
        rng = self.rng
        number = rng.randrange(4) if number is None else number
        key, value = rng.choice(["a", "b", "c", None]), rng.choice([1, 2, None])
        return (number, key, value) if self.side == 0 else (key, number, value)

    def changes(self, count: int) -> RowBatch:
        found: list[tuple[int, tuple[Any, ...]]] = []
        while len(found) < count:
            self._change(found)
        schema = (LEFT, RIGHT)[self.side]
        columns = [pa.array(column, of.type) for column, of in zip(zip(*(row for _, row in found), strict=True), schema, strict=True)]
        kinds = np.array([kind for kind, _ in found], np.uint8)
        return RowBatch(pa.RecordBatch.from_arrays(columns, schema=schema), kinds if kinds.any() else None)

    def _change(self, found: list[tuple[int, tuple[Any, ...]]]) -> None:
        place = 0 if self.side == 0 else 1
        old = self.rng.choice(self.rows) if self.rows and not self.appends and self.rng.random() < 0.5 else None
        if old is None:
            taken = {row[place] for row in self.rows}
            row = self._row(len(self.rows) if self.unique and self.appends else None)
            if not self.unique or row[place] not in taken:
                self.rows.append(row)
                found.append((INSERT, row))
            return
        self.rows.remove(old)
        if self.rng.random() < 0.5:
            found.append((DELETE, old))
            return
        new = self._row(old[place])
        self.rows.append(new)
        found.extend([(UPDATE_BEFORE, old), (UPDATE_AFTER, new)])


def joined(kind: str, lefts: list[Any], rights: list[Any], *, smaller: bool, null_safe: bool) -> Counter[Any]:
    """Return the join of rows by its definition."""

    def fits(left: Any, right: Any) -> bool:
        equal = left[1] == right[0] and (null_safe or left[1] is not None)
        return equal and (not smaller or (None not in (left[2], right[2]) and left[2] < right[2]))

    none = (None,) * 3
    found: Counter[Any] = Counter()
    for left in lefts:
        partners = [right for right in rights if fits(left, right)]
        if kind in ("SEMI", "ANTI"):
            found[left] += (bool(partners)) == (kind == "SEMI")
            continue
        found.update(left + right for right in partners)
        if not partners and kind in ("LEFT", "FULL"):
            found[left + none] += 1
    if kind in ("RIGHT", "FULL"):
        found.update(none + right for right in rights if not any(fits(left, right) for left in lefts))
    return +found


def replayed(output: list[RowBatch], found: Counter[Any]) -> None:
    """Apply a changelog to rows; nothing may be taken back that is not there."""
    for batch in output:
        rows = zip(*(column.to_pylist() for column in batch.rows.columns), strict=True)
        for row, kind in zip(rows, batch.kinds_or_inserts().tolist(), strict=True):
            found[row] += 1 if kind in (INSERT, UPDATE_AFTER) else -1
            assert found[row] >= 0, f"{row} is taken back but is not there"


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("variant", ["rows", "unique", "appends", "unique appends"])
def test_random_changelogs(kind: str, variant: str) -> None:
    for seed in range(12):
        rng = random.Random(f"{kind} {variant} {seed}")
        smaller, null_safe = seed % 2 == 1, seed % 3 == 2
        unique, appends = "unique" in variant, "appends" in variant
        payload = spec(kind, condition=SMALLER if smaller else None, null_safe=null_safe, unique=unique, appends=appends)
        sides = [Changelog(rng, side, unique=unique, appends=appends) for side in (0, 1)]
        harness = OperatorHarness(join_operator, payload=payload)
        left: Counter[Any] = Counter()
        for step in range(8):
            side = rng.randrange(2)
            harness.push([sides[side].changes(rng.choice([1, 2, 9]))], input_index=side)
            replayed(harness.values, left)
            harness.take()
            expected = joined(kind, sides[0].rows, sides[1].rows, smaller=smaller, null_safe=null_safe)
            assert +left == expected, f"seed {seed}, step {step}"
            if step == 4:
                harness = OperatorHarness(join_operator, payload=payload, restore_from=harness.snapshot())


@pytest.mark.parametrize("kind", TYPES)
def test_batch_mode_emits_the_final_rows_only(kind: str) -> None:
    rng = random.Random(f"batch {kind}")
    payload = spec(kind, condition=SMALLER, appends=True)
    sides = [Changelog(rng, side, unique=False, appends=True) for side in (0, 1)]
    harness = OperatorHarness(join_operator, payload=payload, config={"execution.runtime-mode": "BATCH"})
    for side in (0, 1, 0, 1):
        harness.push([sides[side].changes(7)], input_index=side)
    harness.operator.finish()
    while harness.operator.has_more:
        harness.operator.finish()
    assert all(batch.kinds is None for batch in harness.values)
    left: Counter[Any] = Counter()
    replayed(harness.values, left)
    assert left == joined(kind, sides[0].rows, sides[1].rows, smaller=True, null_safe=False)


def test_kinds_of_an_outer_join_are_those_of_flink() -> None:
    """As in Flink's StreamingJoinOperator: a row without partner goes when its first one comes, and comes again with the last one's end."""
    harness = OperatorHarness(join_operator, payload=spec("LEFT"))

    def change(side: int, kind: int, *row: Any) -> list[tuple[str, ...]]:
        schema = (LEFT, RIGHT)[side]
        rows = pa.RecordBatch.from_arrays([pa.array([value], of.type) for value, of in zip(row, schema, strict=True)], schema=schema)
        harness.push([RowBatch(rows, np.array([kind], np.uint8) if kind else None)], input_index=side)
        batches = [event.value for event in harness.take()]
        return [
            (int(kind), row[0], row[4])
            for batch in batches
            for kind, row in zip(batch.kinds_or_inserts(), zip(*(c.to_pylist() for c in batch.rows.columns), strict=True), strict=True)
        ]

    assert change(0, INSERT, 1, "a", 5) == [(INSERT, 1, None)]
    assert change(1, INSERT, "a", 7, 0) == [(DELETE, 1, None), (INSERT, 1, 7)]
    assert change(1, UPDATE_AFTER, "a", 8, 0) == [(INSERT, 1, 8)]
    assert change(1, UPDATE_BEFORE, "a", 7, 0) == [(UPDATE_BEFORE, 1, 7)]
    assert change(1, DELETE, "a", 8, 0) == [(DELETE, 1, 8), (INSERT, 1, None)]
    assert change(0, UPDATE_BEFORE, 1, "a", 5) == [(DELETE, 1, None)]
