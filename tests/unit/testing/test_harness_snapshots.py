"""Snapshots of an operator under test: going on with another parallelism, another state backend, another version of the code."""

from __future__ import annotations

import pickle
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.testing.programs import CountOfKey, first, sums_of
from wiesel.common import Types
from wiesel.core.errors import ProgramError, StateMigrationError
from wiesel.datastream.functions import KeyedProcessFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.testing import END_OF_TIME, StreamHarness, function_harness

KEYS = "abcdefghij"


@pytest.mark.parametrize("after", ["hashmap", "lmdb", "rocksdb"])
@pytest.mark.parametrize("before", ["hashmap", "lmdb", "rocksdb"])
@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_state_and_timers_move_with_their_keys(before, after, parallelism):
    with function_harness(CountOfKey(), key_selector=first, parallelism=2, state_backend=before) as harness:
        for i, key in enumerate(KEYS):
            harness.push((key, i), timestamp=i)
        harness.set_processing_time(400)
        snapshot = harness.snapshot()
        harness.push(("a", 99), timestamp=99)
        assert harness.state("a")["count"] == 2

        with harness.restored(snapshot, parallelism=parallelism, state_backend=after) as again:
            assert (again.output, again.processing_time) == ([], 400)
            assert [again.state(key) for key in KEYS] == [{"count": 1, "seen": [i], "by time": {i: i}} for i in range(10)]
            assert again.event_time_timers == harness.event_time_timers[:10]
            assert len(again.processing_time_timers) == 10
            again.push(("a", 0), timestamp=200)
            again.advance_watermark(104)
            assert again.values[0] == ("a", 2)
            assert sorted(again.values[1:]) == sorted(("EVENT_TIME", key, 2 if key == "a" else 1) for key in "abcde")
            again.set_processing_time(1_000)
            assert again.state("a") == {}


def test_snapshots_build_on_each_other():
    with function_harness(CountOfKey(), key_selector=first) as harness:
        snapshots = []
        for i in range(5):
            harness.push(("a", i), timestamp=i)
            snapshots.append(harness.snapshot())
        assert [s.checkpoint_id for s in snapshots] == [1, 2, 3, 4, 5]
        for i, snapshot in enumerate(snapshots):
            with harness.restored(snapshot) as again:
                assert again.state("a")["seen"] == list(range(i + 1))
                assert again.snapshot().checkpoint_id == i + 2


def test_a_snapshot_can_be_kept_for_the_next_version_of_the_code():
    with function_harness(CountOfKey(), key_selector=first) as harness:
        harness.push(("a", 1), timestamp=5)
        kept = pickle.dumps(harness.snapshot())
    with function_harness(CountTwice(), key_selector=first, restore_from=pickle.loads(kept), parallelism=2) as harness:
        harness.push(("a", 1))
        assert harness.values == [4]


class CountTwice(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield 2 * self.count.value()


class CountAsText(CountTwice):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.STRING()))


def test_state_that_does_not_fit_is_refused():
    with function_harness(CountOfKey(), key_selector=first) as harness:
        harness.push(("a", 1), timestamp=5)
        snapshot = harness.snapshot()
    with pytest.raises(StateMigrationError, match="count"):
        function_harness(CountAsText(), key_selector=first, restore_from=snapshot)
    with pytest.raises(StateMigrationError, match="max parallelism 128"):
        harness.restored(snapshot, max_parallelism=64)
    with pytest.raises(ProgramError, match="restore_from"):
        function_harness(CountTwice(), key_selector=first, restore_from="a path")


records = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 500)), min_size=1, max_size=40)
settings_of_one_harness = st.tuples(st.integers(1, 5), st.sampled_from(["hashmap", "lmdb", "rocksdb"]))


@settings(max_examples=60)
@given(
    records=records,
    size=st.sampled_from([1, 10, 70, 1_000]),
    ways=st.lists(settings_of_one_harness, min_size=1, max_size=4),
    data=st.data(),
)
def test_windows_are_those_of_a_batch_whatever_happens_in_between(records, size, ways, data):
    """Records in any order, no watermark before the end: each window holds the sum of its records."""
    expected: defaultdict = defaultdict(int)
    for key, timestamp in records:
        expected[key, timestamp - timestamp % size] += timestamp
    places = sorted(data.draw(st.integers(0, len(records))) for _ in ways[1:])
    harness = StreamHarness(sums_of(size), parallelism=ways[0][0], state_backend=ways[0][1])
    for start, end, way in zip([0, *places], [*places, len(records)], [*ways[1:], None], strict=True):
        for record in records[start:end]:
            harness.push(record, timestamp=record[1])
        if way is not None:
            with harness as before:
                harness = before.restored(before.snapshot(), parallelism=way[0], state_backend=way[1])
    with harness:
        harness.advance_watermark(END_OF_TIME)
        assert {(value[0], timestamp - size + 1): value[1] for value, timestamp in harness.records} == expected
