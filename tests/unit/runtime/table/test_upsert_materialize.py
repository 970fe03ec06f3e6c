"""Changes that come out of order by the key of a table: what is left is what the makers of the changes ended with."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.table.changelog.upsert_materialize import UpsertMaterializeSpec, upsert_materialize_operator

SCHEMA = pa.schema([("key", pa.int32()), ("id", pa.string()), ("at", pa.timestamp("ms"))])
Change = tuple[int, tuple[Any, ...]]


def batch(changes: list[Change]) -> RowBatch:
    columns = [pa.array(column, of.type) for column, of in zip(zip(*(row for _, row in changes), strict=True), SCHEMA, strict=True)]
    return RowBatch(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array([kind for kind, _ in changes], np.uint8))


def changes_of(rng: random.Random, name: str, last: int) -> list[Change]:
    """Return the changes of one row, which is at the key ``last`` at the end, and at others before."""
    found: list[Change] = []
    row: tuple[Any, ...] | None = None
    for key in [rng.randrange(6) for _ in range(rng.randrange(6))] + [last]:
        new = (key, name, len(found))
        if row is None:
            found.append((INSERT, new))
        elif rng.random() < 0.2:
            found += [(DELETE, row), (INSERT, new)]
        else:
            found += [(UPDATE_BEFORE, row), (UPDATE_AFTER, new)]
        row = new
    return found


def interleaved(rng: random.Random, makers: list[list[Change]]) -> list[Change]:
    """Return the changes of several makers, each one's in order."""
    left = [list(changes) for changes in makers]
    found = []
    while any(left):
        found.append(rng.choice([changes for changes in left if changes]).pop(0))
    return found


def apply(output: list[RowBatch], table: dict[int, Any]) -> None:
    """Apply changes to a table with a key; each must fit what is there."""
    for each in output:
        for row, kind in zip(each.rows.to_pylist(), each.kinds_or_inserts().tolist(), strict=True):
            assert kind in (INSERT, UPDATE_AFTER, DELETE)
            assert (row["key"] in table) == (kind != INSERT)
            if kind == DELETE:
                assert table.pop(row["key"]) == row
            else:
                table[row["key"]] = row


@pytest.mark.parametrize("row_key", [None, (1,)])
def test_what_is_left_is_what_the_makers_ended_with(row_key: tuple[int, ...] | None) -> None:
    for seed in range(60):
        rng = random.Random(f"materialize {row_key} {seed}")
        keys = rng.sample(range(6), 4)
        makers = [changes_of(rng, f"row {place}", key) for place, key in enumerate(keys)]
        spec = UpsertMaterializeSpec((0,), row_key, SCHEMA)
        harness = OperatorHarness(upsert_materialize_operator, payload=spec)
        table: dict[int, Any] = {}
        changes = interleaved(rng, makers)
        while changes:
            size = rng.randrange(1, 5)
            harness.push([batch(changes[:size])])
            apply(harness.values, table)
            harness.take()
            changes = changes[size:]
            if rng.random() < 0.2:
                harness = OperatorHarness(upsert_materialize_operator, payload=spec, restore_from=harness.snapshot())
        last = {row[0]: row[1] for kind, row in (changes[-1] for changes in makers)}
        assert {key: row["id"] for key, row in table.items()} == last, f"seed {seed}"


def test_a_row_that_was_there_before_comes_back() -> None:
    """As in Flink's materialiser: the last row of a key is that of the table, and the one before it when that one goes."""
    harness = OperatorHarness(upsert_materialize_operator, payload=UpsertMaterializeSpec((0,), None, SCHEMA))

    def told(*changes: Change) -> list[tuple[int, str]]:
        harness.push([batch(list(changes))])
        batches = list(harness.values)
        harness.take()
        rows = [(kind, row["id"]) for each in batches for kind, row in zip(each.kinds_or_inserts(), each.rows.to_pylist(), strict=True)]
        return rows

    first, second = (1, "a", 0), (1, "b", 0)
    assert told((INSERT, first)) == [(INSERT, "a")]
    assert told((UPDATE_AFTER, second)) == [(UPDATE_AFTER, "b")]
    assert told((UPDATE_BEFORE, first)) == []
    assert told((INSERT, first)) == [(UPDATE_AFTER, "a")]
    assert told((DELETE, first)) == [(UPDATE_AFTER, "b")]
    assert told((DELETE, first)) == []  # it is not known (any more)
    assert told((INSERT, first), (DELETE, first)) == []
    assert told((DELETE, second)) == [(DELETE, "b")]
