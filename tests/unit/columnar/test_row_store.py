"""Rows by number and lists of numbers: at every step what a list of Python and a dict of lists have."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wiesel.columnar import row_store
from wiesel.columnar.key_index import KeyIndex
from wiesel.columnar.keys import BatchKeys
from wiesel.columnar.number_lists import NumberLists, spans
from wiesel.columnar.row_store import RowStore

SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string())])


def columns(rows: list[tuple[Any, ...]]) -> list[pa.Array]:
    return [pa.array([row[place] for row in rows], of.type) for place, of in enumerate(SCHEMA)]


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_read_by_number(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    if seed % 2:
        monkeypatch.setattr(row_store, "_CHUNK_BYTES", 2_000)
    store, rows = RowStore(SCHEMA), list[tuple[Any, ...]]()
    frozen: list[tuple[RowStore, int]] = []
    for step in range(200):
        count = random.choice([0, 1, 2, 40])
        added = [(random.choice([None, number]), random.choice([None, f"{step}-{number}"])) for number in range(count)]
        assert store.add(columns(added)) == len(rows)
        rows += added
        assert len(store) == len(rows)
        numbers = [random.choice([-1, random.randrange(len(rows))]) if rows else -1 for _ in range(random.choice([0, 1, 30]))]
        picked = store.pick(np.array(numbers, np.int64))
        expected = [(None, None) if number < 0 else rows[number] for number in numbers]
        assert list(zip(*(column.to_pylist() for column in picked.columns()), strict=True)) == expected, f"seed {seed}, step {step}"
        if step % 50 == 30:
            frozen.append((store.frozen(), len(rows)))
        if step == 120:
            kept = random.sample(range(len(rows)), len(rows) // 2)
            store.keep(np.array(kept))
            before, rows = rows, [rows[number] for number in kept]
            for copy, count in frozen:
                assert copy.pick(np.arange(count)).column(1).to_pylist() == [row[1] for row in before[:count]]
            frozen = []
    assert len(store._chunks) < (12 if seed % 2 == 0 else len(rows))


def test_small_batches_become_few_chunks() -> None:
    store = RowStore(SCHEMA)
    for number in range(3_000):
        store.add(columns([(number, "x")]))
    assert len(store._chunks) < 30
    assert store.pick(np.arange(3_000)).column(0).to_pylist() == list(range(3_000))


@pytest.mark.parametrize("seed", range(5))
def test_lists_grow_and_are_replaced(seed: int) -> None:
    random = Random(seed)
    lists, model, number = NumberLists(), dict[int, list[int]](), 0
    for step in range(300):
        owners = random.sample(range(1 + step * 3), min(random.choice([1, 5, 60]), 1 + step * 3))
        sizes = [random.choice([0, 1, 1, 3, 9]) for _ in owners]
        values = [list(range(number + sum(sizes[:place]), number + sum(sizes[: place + 1]))) for place in range(len(sizes))]
        number += sum(sizes)
        arrays = np.array(owners), np.array(sizes), np.array([each for value in values for each in value], np.int64)
        replaces = random.random() < 0.5
        (lists.replace if replaces else lists.extend)(*arrays)
        for owner, value in zip(owners, values, strict=True):
            model[owner] = value if replaces else model.get(owner, []) + value
        if step % 100 == 50:
            lists.renumber(np.arange(number) * 2)
            model = {owner: [each * 2 for each in value] for owner, value in model.items()}
            number *= 2
        asked = [random.randrange(-1, 5 + step * 3) for _ in range(20)]
        flat, lengths = lists.read(np.array(asked))
        expected = [model.get(owner, []) for owner in asked]
        assert lengths.tolist() == list(map(len, expected)), f"seed {seed}, step {step}"
        assert flat.tolist() == [each for value in expected for each in value], f"seed {seed}, step {step}"
    # What lists have left behind does not pile up.
    assert len(lists._numbers) < 8 * sum(map(len, model.values())) + 2_000


def test_spans() -> None:
    assert spans(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert spans(np.array([], np.int64), np.array([], np.int64)).tolist() == []


def test_keys_of_a_batch_and_their_numbers() -> None:
    rows = pa.RecordBatch.from_arrays(columns([(1, "a"), (None, "a"), (1, "b"), (1, "a"), (None, None)]), schema=SCHEMA)
    both, one, none = BatchKeys(rows, (0, 1)), BatchKeys(rows, (1,)), BatchKeys(rows, ())
    assert both.tuples == [(1, "a"), (None, "a"), (1, "b"), (None, None)]
    assert both.ids.tolist() == [0, 1, 2, 0, 3]
    assert both.without_nulls((False, True)).tolist() == [True, False, True, False]
    assert both.without_nulls((True, True)).all()
    assert (one.tuples, one.values) == ([("a",), ("b",), (None,)], ["a", "b", None])
    assert (none.tuples, none.ids.tolist()) == ([()], [0] * 5)


def key_column(random: Random, kind: pa.DataType, many: int, wide: int) -> pa.Array:
    def value() -> Any:
        if pa.types.is_string(kind):
            return f"k{random.randrange(90)}"
        if pa.types.is_floating(kind):
            return random.choice([0.5, 0.0, float("nan"), 1e9])
        return max(min(random.randrange(-wide, wide), 2**31 - 1), -(2**31)) if kind == pa.int32() else random.randrange(-wide, wide)

    return pa.array([None if random.random() < 0.05 else value() for _ in range(many)], kind)


@pytest.mark.parametrize("kinds", [(pa.int64(),), (pa.int32(), pa.int64()), (pa.int64(), pa.string()), (pa.float64(),)])
def test_numbers_of_keys(kinds: tuple[pa.DataType, ...]) -> None:
    random = Random(str(kinds))
    index, model = KeyIndex(kinds), dict[Any, int]()
    for step in range(120):
        many = random.choice([1, 5, 400])
        wide = random.choice([3, 2_000, 1 << 62])
        columns_ = [key_column(random, kind, many, wide) for kind in kinds]
        keys = BatchKeys(pa.RecordBatch.from_arrays(columns_, names=list("ab"[: len(kinds)])), range(len(kinds)))
        names = [tuple("nan" if value != value else value for value in key) for key in keys.tuples]
        assert len(set(names)) == keys.count
        found = index.find(keys)
        assert found.tolist() == [model.get(name, -1) for name in names], f"step {step}"
        if step % 3:
            for name in names:
                model.setdefault(name, len(model))
            assert index.add(keys, found if step % 2 else None).tolist() == [model[name] for name in names], f"step {step}"
            assert len(index) == len(model)


def test_zeros_of_both_signs_are_one_key() -> None:
    rows = pa.RecordBatch.from_arrays([pa.array([0.0, -0.0, 1.5, None, -0.0])], names=["f"])
    keys = BatchKeys(rows, (0,))
    assert keys.ids.tolist() == [0, 0, 1, 2, 0]
    assert keys.tuples == [(0.0,), (1.5,), (None,)]
