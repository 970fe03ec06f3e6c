"""ON CONFLICT DO ERROR and DO NOTHING: behind each watermark is left what the makers of the changes had there, however far one is ahead."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.unit.runtime.harness import OperatorHarness
from tests.unit.runtime.table.test_upsert_materialize import SCHEMA, Change, apply, batch, changes_of
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.table.changelog.upsert_conflicts import UpsertConflictsSpec, upsert_conflicts_operator, watermark_stamps_operator

STEPS = 6


def spec(fails: bool, row_key: tuple[int, ...] | None = (1,)) -> UpsertConflictsSpec:
    return UpsertConflictsSpec("`totals`", (0,), row_key, fails, SCHEMA)


def moved(rng: random.Random, name: str, at: int | None, to: int, number: int) -> list[Change]:
    """Return the changes of a row that is at a key, or nowhere, and at another one, or the same, behind them."""
    if at is None:
        return changes_of(rng, name, to)
    found: list[Change] = []
    row: tuple[Any, ...] = (at, name, number)
    for key in [*(rng.randrange(6) for _ in range(rng.randrange(3))), to]:
        new = (key, name, row[2] + 1)
        found += [(UPDATE_BEFORE, row), (UPDATE_AFTER, new)]
        row = new
    return found


def stamped(rng: random.Random, name: str, keys: list[int]) -> list[Any]:
    """Return what a maker sends whose row is at these keys when watermarks 0, 1, ... come: batches with stamps, and the watermarks."""
    harness = OperatorHarness(watermark_stamps_operator)
    found: list[Any] = []
    at, number = None, 0
    for step, key in enumerate(keys):
        changes = moved(rng, name, at, key, number)
        at, number = key, changes[-1][1][2]
        while changes:
            size = rng.randrange(1, 3)
            harness.push([batch(changes[:size])])
            changes = changes[size:]
        found += [*harness.values, step]
        harness.take()
        harness.watermark(step)
        harness.take()
    return found


@pytest.mark.parametrize("row_key", [None, (1,)])
def test_what_is_left_behind_a_watermark_is_what_the_makers_had(row_key: tuple[int, ...] | None) -> None:
    ahead = restored = 0
    for seed in range(60):
        rng = random.Random(f"conflicts {row_key} {seed}")
        places = [rng.sample(range(6), 4) for _ in range(STEPS)]  # no two makers are at one key when a watermark comes
        sent = [stamped(rng, f"row {maker}", [places[step][maker] for step in range(STEPS)]) for maker in range(4)]
        harness = OperatorHarness(upsert_conflicts_operator, payload=spec(True, row_key))
        reached, table = [-1] * 4, dict[int, Any]()
        while any(sent):
            maker = rng.choice([place for place, events in enumerate(sent) if events])
            event = sent[maker].pop(0)
            if not isinstance(event, int):
                harness.push([event])
                assert not harness.values
                continue
            before, reached[maker] = min(reached), event
            ahead += max(reached) > min(reached)
            if min(reached) > before:
                harness.watermark(min(reached))
                apply(harness.values, table)
                harness.take()
                expected = {key: f"row {each}" for each, key in enumerate(places[min(reached)])}
                assert {key: row["id"] for key, row in table.items()} == expected, f"seed {seed}"
            if rng.random() < 0.1 and len(set(reached)) == 1:
                snapshot = harness.snapshot()
                harness = OperatorHarness(upsert_conflicts_operator, payload=spec(True, row_key), restore_from=snapshot)
                restored += 1
    assert ahead and restored


def told(harness: OperatorHarness, watermark: int, *changes: Change, stamp: int = -1) -> list[tuple[int, str]]:
    stamps = OperatorHarness(watermark_stamps_operator)
    stamps.watermark(stamp)
    stamps.take()
    if changes:
        stamps.push([batch(list(changes))])
        harness.push(stamps.values)
    harness.watermark(watermark)
    found = [
        (kind, row["id"])
        for each in harness.values
        for kind, row in zip(each.kinds_or_inserts().tolist(), each.rows.to_pylist(), strict=True)
    ]
    harness.take()
    return found


def test_the_first_row_stays_until_it_goes() -> None:
    harness = OperatorHarness(upsert_conflicts_operator, payload=spec(False))
    first, second, third = (1, "a", 0), (1, "b", 0), (1, "c", 0)
    assert told(harness, 0, (INSERT, first), (INSERT, second)) == [(INSERT, "a")]
    assert told(harness, 1, (INSERT, third)) == []
    assert told(harness, 2, (UPDATE_BEFORE, first), (UPDATE_AFTER, (1, "a", 1))) == [(UPDATE_AFTER, "a")]
    assert told(harness, 3, (DELETE, (1, "a", 1)), (INSERT, third)) == [(UPDATE_AFTER, "c")]
    assert told(harness, 4, (INSERT, second), (DELETE, second)) == []
    harness = OperatorHarness(upsert_conflicts_operator, payload=spec(False), restore_from=harness.snapshot())
    assert told(harness, 5, (DELETE, third), (DELETE, second)) == [(DELETE, "c")]


def test_changes_wait_for_the_watermark_of_their_maker() -> None:
    harness = OperatorHarness(upsert_conflicts_operator, payload=spec(True))
    assert told(harness, 5, (INSERT, (1, "a", 0)), stamp=7) == []
    harness = OperatorHarness(upsert_conflicts_operator, payload=spec(True), restore_from=harness.snapshot())
    assert told(harness, 6) == [(INSERT, "a")], "what waited for it is the oldest there is behind a restore"
    assert told(harness, 7, (INSERT, (1, "b", 0)), (DELETE, (1, "a", 0)), stamp=7) == []
    assert told(harness, 8) == [(UPDATE_AFTER, "b")]


def test_several_rows_of_a_key_are_an_error_that_names_it() -> None:
    harness = OperatorHarness(upsert_conflicts_operator, payload=spec(True))
    with pytest.raises(UserFunctionError, match=r"the same primary key \[key=1\] are to be written into table `totals`") as caught:
        told(harness, 0, (INSERT, (1, "a", 0)), (INSERT, (1, "b", 0)))
    assert caught.value.hint and "ON CONFLICT DO NOTHING" in caught.value.hint
