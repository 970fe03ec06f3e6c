"""The external merge sort against sorted(), at budgets that make it spill."""

from __future__ import annotations

import gc
import pickle
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiesel.core.errors import ResourceError
from wiesel.runtime.batch.external_sort import ExternalSorter, groups, key_of, record_of
from wiesel.runtime.batch.record_codec import codec_for
from wiesel.runtime.batch.sort_keys import group_key, key_encoder, sort_encoder
from wiesel.runtime.batch.spill_files import Spill
from wiesel.types import Types

TINY = 2_000


def _sorted(values, memory, key=lambda v: v):
    spill = Spill()
    sorter = ExternalSorter(memory, spill)
    for value in values:
        sorter.add(group_key(key(value)), pickle.dumps(value))
    result = [pickle.loads(record_of(entry)) for entry in sorter.sorted_entries()]
    assert spill.open_files == 0
    return result, sorter, spill


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers()), max_size=400))
def test_sorts_like_sorted_and_is_stable(values):
    result, _, _ = _sorted(values, TINY, key=lambda v: v[0])
    assert result == sorted(values, key=lambda v: v[0])


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(), min_size=300, max_size=900), st.integers(600, 4_000))
def test_spills_at_tiny_budgets_whatever_the_number_of_passes(values, memory):
    result, sorter, spill = _sorted(values, memory)
    assert result == sorted(values)
    assert sorter.spilled and sorter.runs_written > 1
    assert spill.bytes_written > 0


def test_more_runs_than_can_be_merged_at_once_take_several_passes():
    values = [(i * 7919) % 5_003 for i in range(5_003)]
    result, sorter, _ = _sorted(values, 3_000)
    assert result == list(range(5_003))
    # Every record is written once as part of a first run, and again in each pass but the last.
    first_runs = 5_003 * 90 // 3_000
    assert sorter.runs_written > first_runs


def test_without_need_nothing_is_written():
    result, sorter, spill = _sorted([3, 1, 2], 1_000_000)
    assert result == [1, 2, 3]
    assert not sorter.spilled
    assert spill.bytes_written == 0


def test_memory_stays_within_the_budget():
    budget = 300_000
    record = b"x" * 100
    spill = Spill()
    sorter = ExternalSorter(budget, spill)
    tracemalloc.start()
    try:
        for i in range(9_000):
            sorter.add(group_key((i * 7919) % 9_001), record)
        count = sum(1 for _ in sorter.sorted_entries())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 9_000
    assert spill.bytes_written > 3 * budget  # so the data are several times the budget
    assert sorter.peak_bytes <= budget + 1_000
    assert peak < 1.6 * budget  # with the blocks that are being written or read


def test_sorting_and_grouping_by_declared_keys_decodes_nothing():
    declared = Types.TUPLE([Types.STRING(), Types.LONG(), Types.BOOLEAN()])
    codec = codec_for(declared)
    encode_key, encode_order = key_encoder(Types.STRING()), sort_encoder(Types.LONG(), ascending=False)
    records = [(f"key{i % 37}", (i * 31) % 1_009, i % 2 == 0) for i in range(1_009)]
    sorter = ExternalSorter(20_000, Spill())
    for record in records:
        key = encode_key(record[0])
        sorter.add(key + encode_order(record[1]), codec.encode(record), len(key))
    grouped = [(key, [record_of(e) for e in entries]) for key, entries in groups(sorter.sorted_entries())]
    assert sorter.spilled
    assert codec.decoded == 0
    expected = {}
    for record in sorted(records, key=lambda r: (r[0], -r[1])):
        expected.setdefault(record[0], []).append(record)
    assert [[codec.decode(r) for r in part] for _, part in grouped] == list(expected.values())
    assert codec.decoded == len(records)


def test_what_is_left_of_a_group_is_passed_over():
    sorter = ExternalSorter(TINY, Spill())
    for i in range(500):
        sorter.add(group_key(i % 5), b"%d" % i)
    first = [(key, record_of(next(entries))) for key, entries in groups(sorter.sorted_entries())]
    assert first == [(group_key(k), b"%d" % k) for k in range(5)]


def test_key_of_an_entry_is_its_grouping_part():
    sorter = ExternalSorter(TINY, Spill())
    sorter.add(b"abXY", b"record", 2)
    (entry,) = sorter.sorted_entries()
    assert (key_of(entry), record_of(entry)) == (b"ab", b"record")


def test_nothing_is_left_in_the_directory(tmp_path):
    spill = Spill(str(tmp_path / "deep" / "er"))
    sorter = ExternalSorter(TINY, spill)
    for i in range(1_000):
        sorter.add(group_key(i), b"r")
    assert spill.open_files == 1
    assert list((tmp_path / "deep" / "er").iterdir()) == []  # even while it is in use
    spill.close()
    assert spill.open_files == 0


def test_a_directory_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match=r"spill file in .*file.* cannot be made"):
        Spill(str(tmp_path / "file")).open()


def test_the_garbage_collector_sees_nothing_of_what_is_sorted():
    codec, key = codec_for(Types.TUPLE([Types.LONG(), Types.STRING()])), sort_encoder(Types.LONG(), ascending=True)
    sorter = ExternalSorter(1 << 30, Spill(None))
    collections = []

    def note(phase, info):
        collections.append(info["generation"])

    gc.collect()
    before = len(gc.get_objects())
    gc.callbacks.append(note)
    try:
        for n in range(50_000):
            sorter.add(key(n * 7919 % 50_000), codec.encode((n, "text")))
        entries = sum(1 for _ in sorter.sorted_entries())
    finally:
        gc.callbacks.remove(note)
    assert entries == 50_000
    # Half of them as tuples in a list would be 25,000 objects, and dozens of collections.
    assert len(gc.get_objects()) - before < 500
    assert len(collections) < 10
