"""Top-N, joins and groups of windows: what comes out is what brute force gives, and nothing is kept of windows that are over."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.runtime.harness import OperatorHarness, Record
from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import call
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.windows import Window
from wiesel.runtime.table.join.join_state import JoinSide
from wiesel.runtime.table.join.regular_join import JoinSpec
from wiesel.runtime.table.rank.top_n import TopNSpec
from wiesel.runtime.table.window.aggregate import window_aggregate_operator
from wiesel.runtime.table.window.join import WindowJoinSpec, window_join_operator
from wiesel.runtime.table.window.session_table import SessionTableSpec, session_table_operator
from wiesel.runtime.table.window.spec import WindowSpec
from wiesel.runtime.table.window.top_n import window_top_n_operator
from wiesel.state.factory import make_backend
from wiesel.state.key_groups import key_group, key_group_range
from wiesel.testing.snapshots import files_in_memory
from wiesel.types import logical as t

TIME = pa.timestamp("ms")
SIZE = 10
ROWS = pa.schema([("id", pa.int64()), ("k", pa.string()), ("end", TIME)])
Row = tuple[int, str | None, int]


def batch(rows: list[Any], schema: pa.Schema = ROWS) -> RowBatch:
    columns = [
        pa.array(list(values), pa.int64()).cast(of.type) if of.type == TIME else pa.array(list(values), of.type)
        for values, of in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return RowBatch(pa.RecordBatch.from_arrays(columns, schema=schema))


def out(harness: OperatorHarness) -> list[tuple[Any, ...]]:
    found = []
    for event in harness.take():
        if isinstance(event, Record):
            columns = [column.cast(pa.int64()) if column.type == TIME else column for column in event.value.rows.columns]
            found += zip(*(column.to_pylist() for column in columns), strict=True)
    return found


def kept(harness: OperatorHarness) -> set[int]:
    """Return the ends of the windows of which rows are kept, in memory or in state."""
    in_state = {end for rows in harness.operator._rows for _, end, _ in rows._table.items()}
    return in_state | {end for rows in harness.operator._rows for end in rows.ends()}


def top_n(*, last: int = 2, numbered: bool = True) -> OperatorHarness:
    results = pa.schema([*ROWS, ("n", pa.int64())]) if numbered else ROWS
    spec = TopNSpec((1, 2), ((0, False, False),), False, 1, last, numbered, False, True, ROWS, results)
    return OperatorHarness(window_top_n_operator, payload={"spec": spec, "end": 2, "time": TIME})


def join(kind: str, *, condition: Any = None, null_safe: bool = False) -> OperatorHarness:
    sides = tuple(JoinSide((1, 2), (null_safe, False), ROWS, True) for _ in range(2))
    pairs = pa.schema([pa.field(f"f{i}", of.type) for i, of in enumerate((*ROWS, *ROWS))])
    schema = ROWS if kind in ("SEMI", "ANTI") else pairs
    spec = WindowJoinSpec(JoinSpec(kind, sides, condition, schema), (2, 2), pairs, TIME)  # type: ignore[arg-type]
    return OperatorHarness(window_join_operator, payload=spec)


def test_nothing_is_kept_of_windows_that_are_over() -> None:
    for harness, sides in ((top_n(), 1), (join("FULL"), 2)):
        sizes = []
        for window in range(1, 40):
            for side in range(sides):
                harness.push([batch([(number, f"k{number % 7}", window * SIZE) for number in range(20)])], input_index=side)
            harness.snapshot(window)
            assert kept(harness) == {window * SIZE}
            sizes.append(harness.backend.size_bytes())
            harness.watermark(window * SIZE - 1)
            assert kept(harness) == set()
        assert max(sizes) < 2 * sizes[0]


def test_rows_that_come_when_their_window_is_over_are_dropped_also_after_a_restore() -> None:
    harness = top_n()
    harness.push([batch([(1, "a", 10), (2, "a", 20)])])
    harness.watermark(9)
    assert out(harness) == [(1, "a", 10, 1)]
    harness = harness.restored(harness.snapshot())
    harness.push([batch([(3, "a", 10), (4, "a", 20)])])
    assert harness.metrics.value("numLateRecordsDropped") == 1
    harness.watermark(19)
    assert out(harness) == [(4, "a", 20, 1), (2, "a", 20, 2)]
    assert kept(harness) == set()


def test_rows_without_a_place_are_dropped_before_the_window_is_over() -> None:
    harness = top_n(last=3)
    rng = random.Random(5)
    numbers = list(range(10_000))
    rng.shuffle(numbers)
    for start in range(0, len(numbers), 500):
        harness.push([batch([(number, "ab"[number % 2], 10) for number in numbers[start : start + 500]])])
        assert sum(rows.size(10) for rows in harness.operator._rows) < 2_000
    harness = harness.restored(harness.snapshot())
    harness.watermark(9)
    expected = {(first - 2 * place, key, 10, place + 1) for first, key in ((9_999, "b"), (9_998, "a")) for place in range(3)}
    assert set(out(harness)) == expected


def events(rng: random.Random, sides: int) -> Iterator[tuple[str, Any]]:
    """Yield rows of windows that are not over, watermarks and restores."""
    watermark, number = 0, 0
    for _ in range(60):
        what = rng.random()
        if what < 0.7:
            rows: list[Row] = []
            for _ in range(rng.randrange(1, 5)):
                number += 1
                rows.append((number, rng.choice(["a", "b", None]), ((watermark + 1) // SIZE + 1 + rng.randrange(3)) * SIZE))
            yield "rows", (rng.randrange(sides), rows)
        elif what < 0.9:
            watermark += rng.randrange(1, 12)
            yield "watermark", watermark
        else:
            yield "restore", None
    yield "watermark", watermark + 100


def played(harness: OperatorHarness, seed: int, sides: int) -> tuple[list[tuple[Any, ...]], list[list[Row]]]:
    """Return what comes out, and the rows of each side that went in."""
    given: list[list[Row]] = [[], []]
    found = []
    for what, value in events(random.Random(seed), sides):
        if what == "rows":
            given[value[0]] += value[1]
            harness.push([batch(value[1])], input_index=value[0])
        elif what == "watermark":
            harness.watermark(value)
            found += out(harness)
            assert all(end - 1 > value for end in kept(harness))
        else:
            found += out(harness)
            harness = harness.restored(harness.snapshot())
    assert kept(harness) == set()
    return found, given


@pytest.mark.parametrize("seed", range(10))
def test_any_top_n_is_what_brute_force_gives(seed: int) -> None:
    print("seed", seed)
    found, (rows, _) = played(top_n(), seed, 1)
    partitions: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        partitions[row[1:]].append(row)
    expected = [(*row, place) for mine in partitions.values() for place, row in enumerate(sorted(mine, key=lambda row: -row[0])[:2], 1)]
    assert Counter(found) == Counter(expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"])
@pytest.mark.parametrize("null_safe", [False, True])
@pytest.mark.parametrize("smaller", [False, True])
def test_any_join_is_what_brute_force_gives(kind: str, null_safe: bool, smaller: bool, seed: int) -> None:
    print("seed", seed)
    condition = call("<", [InputRef(t.BigIntType(), 0), InputRef(t.BigIntType(), 3)]) if smaller else None
    found, (lefts, rights) = played(join(kind, condition=condition, null_safe=null_safe), seed, 2)

    def fits(left: Row, right: Row) -> bool:
        return left[1:] == right[1:] and (null_safe or left[1] is not None) and (not smaller or left[0] < right[0])

    none = (None,) * 3
    expected: list[tuple[Any, ...]] = []
    for left in lefts:
        partners = [right for right in rights if fits(left, right)]
        if kind in ("SEMI", "ANTI"):
            expected += [left] if bool(partners) == (kind == "SEMI") else []
        else:
            expected += [left + right for right in partners] or ([left + none] if kind in ("LEFT", "FULL") else [])
    if kind in ("RIGHT", "FULL"):
        expected += [none + right for right in rights if not any(fits(left, right) for left in lefts)]
    assert Counter(found) == Counter(expected)


# What has fired, where subtasks that are restored together were not equally far

TIMED = pa.schema([("k", pa.string()), ("ts", TIME)])
COUNTS = pa.schema([("k", pa.string()), ("n", pa.int64()), ("s", TIME), ("e", TIME), ("t", TIME)])


def counting(kind: str, subtask: int = 0, parallelism: int = 1) -> OperatorHarness:
    count = BoundCall("COUNT", Spec((), t.BigIntType(False)), ())
    spec = WindowSpec((0,), (count,), Window(kind, 30, 10), 1, None, False, tuple(TIMED.types), COUNTS)

    def backend() -> Any:
        return make_backend(
            "hashmap",
            operator_id="0" * 32,
            subtask=subtask,
            parallelism=parallelism,
            key_group_range=key_group_range(subtask, 128, parallelism),
            local_dir="",
            clock=None,  # type: ignore[arg-type]
            options={},
        )

    options: dict[str, Any] = {"subtask_index": subtask, "parallelism": parallelism, "backend": backend, "open": False}
    return OperatorHarness(window_aggregate_operator, payload={"spec": spec}, **options)


def restored(make: Callable[[], OperatorHarness], snapshots: list[Any]) -> OperatorHarness:
    harness = make()
    harness.driver.restore([snapshot.state for snapshot in snapshots], files_in_memory("restored"))
    harness.driver.open()
    return harness


@pytest.mark.parametrize("kind", ["HOP", "CUMULATE"])
@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_no_window_fires_again_after_subtasks_were_restored_that_were_not_equally_far(kind: str, parallelism: int) -> None:
    """As an unaligned checkpoint takes them: the first subtask has handled a watermark that the second has not seen."""
    names = [f"key{number}" for number in range(40)]
    found: list[tuple[Any, ...]] = []
    snapshots = []
    for subtask, watermark in ((0, 25), (1, 12)):
        harness = counting(kind, subtask, 2)
        harness.driver.open()
        mine = [name for name in names if key_group((name,), 128) * 2 // 128 == subtask]
        harness.push([batch([(name, ts) for name in mine for ts in (1, 11, 21, 28)], TIMED)])
        harness.watermark(watermark)
        found += out(harness)
        snapshots.append(harness.snapshot())
    for subtask in range(parallelism):
        harness = restored(lambda subtask=subtask: counting(kind, subtask, parallelism), snapshots)  # type: ignore[misc]
        harness.watermark(17)
        found += out(harness)
        harness = restored(lambda subtask=subtask: counting(kind, subtask, parallelism), [harness.snapshot()])  # type: ignore[misc]
        harness.watermark(1_000)
        found += out(harness)
    per_key = Counter((end, count) for _, count, _, end, _ in found)
    counts = {"HOP": {10: 1, 20: 2, 30: 4, 40: 3, 50: 2}, "CUMULATE": {10: 1, 20: 2, 30: 4}}[kind]
    assert per_key == Counter({(end, count): len(names) for end, count in counts.items()})
    assert len(found) == len(set(found))


# Tables of sessions


def sessions(rows: list[tuple[str, int]], gap: int) -> Counter[tuple[Any, ...]]:
    """Return the rows with the borders of their sessions, by definition."""
    found: Counter[tuple[Any, ...]] = Counter()
    for name in {key for key, _ in rows}:
        run: list[int] = []
        for time in [*sorted(time for key, time in rows if key == name), None]:
            if run and (time is None or time - run[-1] > gap):
                found.update((name, each, run[0], run[-1] + gap, run[-1] + gap - 1) for each in run)
                run = []
            if time is not None:
                run.append(time)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_any_table_of_sessions_is_what_brute_force_gives(seed: int) -> None:
    print("seed", seed)
    # Times are even and the gap is odd: whether a row makes a session longer that ends at its very time depends on the watermark.
    rng = random.Random(seed)
    schema = pa.schema([*TIMED, ("s", TIME), ("e", TIME), ("t", TIME)])
    harness = OperatorHarness(session_table_operator, payload=SessionTableSpec((0,), 1, 7, TIMED, schema))
    given, found, watermark = [], [], 0
    for _ in range(40):
        rows = [(rng.choice("abc"), 2 * (watermark // 2 + rng.randrange(15)) + 2) for _ in range(rng.randrange(1, 4))]
        given += rows
        harness.push([batch(rows, TIMED)])
        watermark += rng.randrange(0, 6)
        if rng.random() < 0.2:
            found += out(harness)
            harness = harness.restored(harness.snapshot())
            harness.watermark(watermark - 1)
        harness.watermark(watermark - 1)
    harness.watermark(10_000)
    found += out(harness)
    assert Counter(found) == sessions(given, 7)
    assert not list(harness.operator._rows.items()) and not list(harness.operator._sessions.items())
