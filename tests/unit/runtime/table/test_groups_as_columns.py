"""Groups and values held as columns are those that lie in keyed state one by one; mini-batches let nothing wait past a checkpoint."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.unit.runtime.harness import OperatorHarness, Record
from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.registry import Spec
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.aggregate.group_aggregate import group_aggregate_operator
from wiesel.runtime.table.aggregate.seen_pairs import SeenPairs
from wiesel.runtime.table.mini_batch import MiniBatch
from wiesel.types import logical as t

ROWS = pa.schema([("k", pa.string()), ("n", pa.int64()), ("s", pa.string())])


def test_pairs_are_those_of_a_dict() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = np.random.default_rng(seed)
    pairs, known = SeenPairs(), {}
    changed: dict[tuple[int, int], int] = {}
    for _ in range(60):
        size = int(chance.integers(1, 400))
        wide = int(chance.choice([3, 100, 2**62]))
        keys = np.unique(np.stack([chance.integers(-3, 60, size), chance.integers(-wide, wide, size)]), axis=1)
        ones, others = np.ascontiguousarray(keys[0]), np.ascontiguousarray(keys[1])
        bits = chance.integers(1, 8, len(ones))
        expected = [known.get(pair, 0) for pair in zip(ones.tolist(), others.tolist(), strict=True)]
        assert pairs.mark(ones, others, bits).tolist() == expected
        for one, other, now, before in zip(ones.tolist(), others.tolist(), bits.tolist(), expected, strict=True):
            known[one, other] = before | now
            if now & ~before:
                changed[one, other] = before | now
        assert len(pairs) == len(known)
        if chance.random() < 0.2:
            found = zip(*(each.tolist() for each in pairs.changed()), strict=True)
            assert {(one, other): all_bits for one, other, all_bits in found} == changed
            changed = {}


def calls(*, retracts: bool) -> tuple[BoundCall, ...]:
    number, text, count = t.BigIntType(), t.VarCharType(10), t.BigIntType(False)
    plain = [
        BoundCall("SUM", Spec((number,), number, retracts), (1,)),
        BoundCall("AVG", Spec((number,), number, retracts), (1,)),
        BoundCall("COUNT", Spec((number,), count, retracts), (1,), distinct=True),
        BoundCall("COUNT", Spec((text,), count, retracts), (2,), distinct=True),
        BoundCall("COUNT", Spec((number, text), count, retracts), (1, 2), distinct=True),
    ]
    ends = [BoundCall(name, Spec((of,), of), (place,)) for name in ("MIN", "MAX", "LAST_VALUE") for of, place in ((number, 1), (text, 2))]
    return tuple(plain if retracts else [*plain, *ends])


def harness(backend: str, folder: Path, *, retracts: bool, **options: Any) -> OperatorHarness:
    made = calls(retracts=retracts)
    results = [pa.field(f"f{place}", arrow_type(each.spec.result)) for place, each in enumerate(made)]
    payload = {"keys": (0,), "calls": made, "schema": pa.schema([ROWS[0], *results]), "sends_before": True, **options}
    return OperatorHarness(group_aggregate_operator, payload=payload, backend=backend, local_dir=str(folder))


def changes(of: OperatorHarness) -> list[Any]:
    batches = [event.value for event in of.take() if isinstance(event, Record)]
    return [(batch.kinds_or_inserts().tolist(), batch.rows.to_pylist()) for batch in batches]


def rows_of(chance: random.Random, there: list[Any], *, retracts: bool) -> RowBatch:
    rows, kinds = [], []
    for _ in range(chance.randrange(1, 30)):
        if retracts and there and chance.random() < 0.45:
            rows.append(there.pop(chance.randrange(len(there))))
            kinds.append(3)
        else:
            rows.append((chance.choice("abcde"), chance.choice([None, chance.randrange(5)]), chance.choice([None, "x", "y", "z"])))
            there.append(rows[-1])
            kinds.append(0)
    columns = [pa.array(list(values), of.type) for values, of in zip(zip(*rows, strict=True), ROWS, strict=True)]
    return RowBatch(pa.RecordBatch.from_arrays(columns, schema=ROWS), np.array(kinds, np.uint8) if any(kinds) else None)


def test_groups_in_arrays_change_as_those_in_state(tmp_path: Path) -> None:
    for retracts in (False, True):
        seed = random.randrange(2**32)
        print("seed", seed)
        chance = random.Random(seed)
        arrays, state = (harness(backend, tmp_path / f"{backend}-{retracts}", retracts=retracts) for backend in ("hashmap", "lmdb"))
        there: list[Any] = []
        for number in range(40):
            batch = rows_of(chance, there, retracts=retracts)
            for each in (arrays, state):
                each.push([batch])
            assert changes(arrays) == changes(state)
            if number % 7 == 6:
                arrays = arrays.restored(arrays.snapshot())


def test_what_waits_goes_out_before_the_barrier(tmp_path: Path) -> None:
    waiting = harness("hashmap", tmp_path, retracts=False, mini_batch=MiniBatch(1_000, 100))
    chance = random.Random(1)
    for _ in range(3):
        waiting.push([rows_of(chance, [], retracts=False)])
    waiting.watermark(5)
    assert waiting.take() == []
    waiting.operator.prepare_snapshot(1)
    assert len(waiting.take()) == 2  # the changes, then the watermark
