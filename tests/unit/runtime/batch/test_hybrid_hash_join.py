"""The hybrid hash join against nested loops, at budgets that make it spill."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiesel.runtime.batch.hybrid_hash_join import HybridHashJoin
from wiesel.runtime.batch.sort_keys import group_key
from wiesel.runtime.batch.spill_files import Spill


def _join(build, probe, memory, keep_build=False, keep_probe=False):
    spill = Spill()
    join = HybridHashJoin(memory, spill, keep_build=keep_build, keep_probe=keep_probe)
    for key, value in build:
        join.add_build(group_key(key), value)
    matches = [m for key, value in probe if (m := join.probe(group_key(key), value)) is not None]
    matches.extend(join.rest())
    assert spill.open_files == 0
    pairs = Counter()
    for found, record in matches:
        for b in found or (None,):
            pairs[b, record] += 1
    return pairs, join, spill


def _nested_loops(build, probe, keep_build, keep_probe):
    pairs = Counter((b, p) for bk, b in build for pk, p in probe if bk == pk)
    if keep_build:
        pairs.update((b, None) for bk, b in build if all(bk != pk for pk, _ in probe))
    if keep_probe:
        pairs.update((None, p) for pk, p in probe if all(bk != pk for bk, _ in build))
    return pairs


_SIDE = st.lists(st.tuples(st.integers(0, 30), st.binary(max_size=12)), max_size=80)


@settings(max_examples=40, deadline=None)
@given(_SIDE, _SIDE, st.integers(200, 30_000), st.booleans(), st.booleans())
def test_joins_like_nested_loops(build, probe, memory, keep_build, keep_probe):
    pairs, _, _ = _join(build, probe, memory, keep_build, keep_probe)
    assert pairs == _nested_loops(build, probe, keep_build, keep_probe)


@pytest.mark.parametrize("keep_build", [False, True])
@pytest.mark.parametrize("keep_probe", [False, True])
def test_spills_and_divides_again(keep_build, keep_probe):
    build = [(i, b"b%d" % i) for i in range(3_000)]
    probe = [(i * 2, b"p%d" % i) for i in range(2_000)]
    pairs, join, spill = _join(build, probe, 20_000, keep_build, keep_probe)
    assert join.partitions_spilled > 16  # more than there are on one level
    assert spill.bytes_written > 0
    expected = {(b"b%d" % (2 * i), b"p%d" % i) for i in range(1_500)}
    if keep_build:
        expected |= {(b"b%d" % i, None) for i in range(1, 3_000, 2)}
    if keep_probe:
        expected |= {(None, b"p%d" % i) for i in range(1_500, 2_000)}
    assert set(pairs) == expected
    assert max(pairs.values()) == 1


@pytest.mark.parametrize(("keep_build", "keep_probe"), [(False, False), (True, True)])
def test_one_key_that_does_not_fit_is_joined_block_by_block(keep_build, keep_probe):
    build = [(1, b"b%d" % i) for i in range(300)] + [(2, b"alone")]
    probe = [(1, b"p%d" % i) for i in range(20)] + [(3, b"lonely")]
    pairs, join, _ = _join(build, probe, 5_000, keep_build, keep_probe)
    assert join.partitions_spilled > 0
    assert pairs == _nested_loops(build, probe, keep_build, keep_probe)


def test_without_need_nothing_is_written():
    pairs, join, spill = _join([(1, b"a")], [(1, b"b"), (2, b"c")], 1_000_000)
    assert pairs == Counter({(b"a", b"b"): 1})
    assert (join.partitions_spilled, spill.bytes_written) == (0, 0)


def test_memory_stays_within_the_budget():
    budget, count = 300_000, 6_000
    spill = Spill()
    join = HybridHashJoin(budget, spill)
    record = b"x" * 150
    tracemalloc.start()
    try:
        for i in range(count):
            join.add_build(group_key(i), record + b"%d" % i)
        matches = sum(1 for i in range(count) if join.probe(group_key(i), record) is not None)
        matches += sum(1 for _ in join.rest())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert matches == count
    assert spill.bytes_written > 3 * budget
    assert join.peak_bytes <= budget + 1_000
    assert peak < 1.6 * budget
