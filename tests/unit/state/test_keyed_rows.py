"""Rows as columns in keyed state: what snapshots write is what lists and values of tuples write, and any backend reads it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.state.backends import MAX_PARALLELISM, new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.columnar.keys import BatchKeys
from wiesel.core.errors import StateMigrationError
from wiesel.state import keyed_rows, row_sections, tracked
from wiesel.state.key_groups import key_group, key_group_range

SCHEMA = pa.schema([("s", pa.string()), ("k", pa.int64()), ("t", pa.timestamp("ms"))])
Model = dict[tuple[Any, ...], list[tuple[Any, ...]]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    made = []

    def make(kind: str = "hashmap", **how: Any) -> Any:
        made.append(new_backend(kind, tmp_path, **how))
        return made[-1]

    yield make
    for backend in made:
        backend.close()


def batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = [pa.array([row[place] for row in rows], of.type) for place, of in enumerate(SCHEMA)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


class Grown:
    """Lists that grow, and what should be in them."""

    kind = "list"

    def __init__(self, backend: Any, keys: tuple[int, ...]) -> None:
        self.keys, self.model = keys, Model()
        self.state = backend.grown_rows("rows", SCHEMA, keys)

    def change(self, random: Random, number: int) -> None:
        rows = [(random.choice(["a", "b", None]), random.randrange(40), number * 100 + place) for place in range(random.choice([1, 3, 50]))]
        keys = BatchKeys(batch(rows), self.keys)
        self.state.extend(keys, keys.ids, batch(rows).columns)
        for row in rows:
            self.model.setdefault(self.key(row), []).append(row)

    def key(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(row[place] for place in self.keys)


class Replaced(Grown):
    """Lists that are replaced: by old rows of theirs, and new ones."""

    kind = "value"

    def __init__(self, backend: Any, keys: tuple[int, ...]) -> None:
        self.keys, self.model = keys, Model()
        self.state = backend.replaced_rows("rows", SCHEMA, keys)

    def change(self, random: Random, number: int) -> None:
        firsts = {self.key(row): row for row in ((random.choice(["a", "b", None]), random.randrange(40), number) for _ in range(20))}
        keys = BatchKeys(batch(list(firsts.values())), self.keys)
        found = self.state.find(keys)
        numbers, sizes = self.state.read(found)
        starts = np.cumsum(sizes) - sizes
        wanted, lengths, fresh = list[int](), list[int](), list[tuple[Any, ...]]()
        for place, (key, row) in enumerate(firsts.items()):
            old = self.model.get(key, [])
            kept = sorted(random.sample(range(len(old)), random.randrange(len(old) + 1)))[:3]
            self.model[key] = [row, *(old[each] for each in kept)]
            wanted += [-1, *numbers[starts[place] + np.array(kept, np.int64)].tolist()]
            lengths.append(1 + len(kept))
            fresh.append(row)
        self.state.replace(self.state.add(keys, found), np.array(lengths), np.array(wanted), batch(fresh).columns)


def contents(backend: Any, kind: str) -> Model:
    return {key: list(value) for key, _, value in backend.table("rows", kind=kind).items()}


def read(state: Any, model: Model, keys: tuple[int, ...]) -> Model:
    """Return what is kept under the keys of the model."""
    known = list(model)
    fields = [SCHEMA.field(place) for place in keys]
    columns = [pa.array([key[place] for key in known], of.type) for place, of in enumerate(fields)]
    batch_keys = BatchKeys(pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)) if keys else batch([("", 0, 0)]), range(len(keys)))
    assert batch_keys.count == len(known)
    numbers, sizes = state.read(state.find(batch_keys))
    rows = [tuple(row.values()) for row in pa.RecordBatch.from_arrays(state.rows.pick(numbers).columns(), schema=SCHEMA).to_pylist()]
    ends = np.cumsum(sizes).tolist()
    found = {key: rows[end - size : end] for key, end, size in zip(known, ends, sizes.tolist(), strict=True)}
    return {key: [(s, k, int(t.timestamp() * 1000 + 0.5)) for s, k, t in _utc(value)] for key, value in found.items()}


def _utc(rows: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    return ((s, k, t.replace(tzinfo=datetime.timezone.utc)) for s, k, t in rows)


@pytest.fixture(params=[Grown, Replaced])
def lists(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("keys", [(1,), (0, 1), ()])
def test_every_snapshot_is_read_back_by_every_backend(opened: Any, lists: Any, keys: tuple[int, ...], monkeypatch: Any) -> None:
    monkeypatch.setattr(tracked, "_FLOOR_BYTES", 2_000)  # so that chains are written anew now and then
    monkeypatch.setattr(row_sections, "CHUNK_ENTRIES", 16)
    monkeypatch.setattr(keyed_rows, "_FEWEST", 100)
    random, files, backend = Random(len(keys)), MemoryFiles(), opened()
    rows = lists(backend, keys)
    for number in range(60):
        rows.change(random, number)
        if random.random() < 0.3:
            continue
        task = backend.snapshot(number, full=number % 11 == 10)
        expected = {key: list(value) for key, value in rows.model.items()}
        rows.change(random, 1_000 + number)  # what comes before the bytes are written is not in them
        handle = task.run(files)
        again = opened(random.choice(["hashmap", "lmdb", "rocksdb"]))
        again.restore([handle], files)
        assert contents(again, rows.kind) == expected, f"snapshot {number}"
        if number % 10 == 0:
            again = opened()
            again.restore([handle], files)
            assert read(lists(again, keys).state, expected, keys) == expected
    assert read(rows.state, rows.model, keys) == rows.model


def test_columns_are_made_of_what_other_backends_and_tables_wrote(opened: Any, lists: Any) -> None:
    files, model = MemoryFiles(), {(key,): [("x", key, key * 10 + place) for place in range(1 + key % 3)] for key in range(50)}
    for kind in ("hashmap", "lmdb", "rocksdb"):
        backend = opened(kind)
        for key, value in model.items():
            backend.table("rows", kind=lists.kind).put(key, value)
        again = opened()
        again.restore([backend.snapshot(1).run(files)], files)
        rows = lists(again, (1,))
        assert read(rows.state, model, (1,)) == model
        # Nothing has changed: the next checkpoint writes no rows, unless the files are not of the same backend.
        later = again.snapshot(2).run(files)
        last = opened()
        last.restore([later], files)
        assert contents(last, lists.kind) == model


def test_rescaled(opened: Any, lists: Any) -> None:
    random, files = Random(3), MemoryFiles()
    whole, backend = Model(), opened()
    rows = lists(backend, (1,))
    for number in range(20):
        rows.change(random, number)
        handle = backend.snapshot(number).run(files)
    for subtask in range(3):
        part = opened(subtask=subtask, parallelism=3)
        part.restore([handle], files)
        own = key_group_range(subtask, MAX_PARALLELISM, 3)
        mine = {key: value for key, value in rows.model.items() if own.start <= key_group(key, MAX_PARALLELISM) < own.end}
        again = lists(part, (1,))
        assert read(again.state, mine, (1,)) == mine
        assert len(again.state._index) == len(mine)
        whole |= mine
    assert whole == rows.model


def test_a_failed_snapshot_is_in_the_next_one(opened: Any, lists: Any) -> None:
    random, files, backend = Random(5), MemoryFiles(), opened()
    rows = lists(backend, (1,))
    for number in range(12):
        rows.change(random, number)
        files.failing = number % 3 == 1
        task = backend.snapshot(number)
        if files.failing:
            with pytest.raises(Exception, match="storage is down"):
                task.run(files)
            backend.snapshot_failed(number)
            continue
        again = opened()
        again.restore([task.run(files)], files)
        assert contents(again, lists.kind) == rows.model


def test_a_checkpoint_costs_what_has_changed(opened: Any) -> None:
    files, backend = MemoryFiles(), opened()
    state = backend.grown_rows("rows", SCHEMA, (1,))
    rows = [("text", number % 100, number) for number in range(20_000)]
    keys = BatchKeys(batch(rows), (1,))
    state.extend(keys, keys.ids, batch(rows).columns)
    backend.snapshot(1).run(files)
    first = files.written
    few = BatchKeys(batch(rows[:20]), (1,))
    state.extend(few, few.ids, batch(rows[:20]).columns)
    backend.snapshot(2).run(files)
    assert files.written - first < first / 200
    assert backend.size_bytes() > 20_000 * 8


def test_rows_that_are_in_no_list_any_more_are_given_back(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_rows, "_FEWEST", 100)
    rows = Replaced(opened(), (1,))
    random = Random(1)
    for number in range(300):
        rows.change(random, number)
    assert len(rows.state.rows) <= max(100, 2 * sum(map(len, rows.model.values()))) + 50
    assert read(rows.state, rows.model, (1,)) == rows.model


def test_state_of_another_kind_is_refused(opened: Any) -> None:
    files, backend = MemoryFiles(), opened()
    backend.table("rows").put((1,), [("a", 1, 1)])
    again = opened()
    again.restore([backend.snapshot(1).run(files)], files)
    with pytest.raises(StateMigrationError, match="rows"):
        again.grown_rows("rows", SCHEMA, (1,))
