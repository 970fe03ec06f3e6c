"""Worked examples about state: who owns which key, alignment and its absence, deduplication, skew, and a change of parallelism."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.unit.testing.test_worked_examples import values_in
from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import ProgramError
from wiesel.datastream import CheckpointedFunction
from wiesel.datastream.functions import (
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
)
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from wiesel.runtime.operators.keyed import REDUCE_STATE
from wiesel.state.key_groups import key_group, subtask_for_key_group
from wiesel.testing import ManualSource, local_environment
from wiesel.wire.buffers import DATA, decode_batch, read_buffers

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


class Where(KeyedProcessFunction):
    """Gives the key with the subtask that has it."""

    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def process_element(self, value, ctx):
        yield ctx.get_current_key(), self.index


def test_x8_ten_key_groups_are_shared_out_between_two_subtasks() -> None:
    env = local_environment(parallelism=2)
    env.set_max_parallelism(10)
    out = env.collect(env.from_collection([n % 200 for n in range(600)], Types.INT()).key_by(lambda n: n).process(Where()))
    with env.start() as job:
        job.finish()
    groups = defaultdict(set)
    for key, subtask in out.values:
        groups[key_group(key, 10)].add(subtask)
    # Two runs of five groups each; no key is seen by both.
    assert dict(groups) == {group: {group // 5} for group in range(10)}
    assert all(subtask_for_key_group(group, 10, 2) == group // 5 for group in range(10))


def test_x8_more_subtasks_than_key_groups_are_refused() -> None:
    env = local_environment(parallelism=11)
    env.set_max_parallelism(10)
    env.collect(env.from_collection([1], Types.INT()).key_by(lambda n: n).process(Where()))
    with pytest.raises(ProgramError, match="maximum parallelism 10"):
        env.start()


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1[0], value1[1] + value2[1]


def counts_after_a_failure(mode: str, seed: int) -> tuple[dict[str, int], int]:
    """Count the records of two inputs, take a checkpoint while they come, and fail.

    Returns:
        The counts at the end, and how many records the count in the checkpoint was ahead of the positions in it.
    """
    env = local_environment(seed=seed, config={"execution.checkpointing.mode": mode})
    left, right = ManualSource(), ManualSource()
    streams = [env.from_source(source, NO_WATERMARKS, name) for source, name in ((left, "left"), (right, "right"))]
    out = env.collect(streams[0].union(streams[1]).key_by(lambda v: v[0]).reduce(Add()))
    with env.start() as job:
        for source in (left, right):
            for _ in range(20):
                source.push(("key", 1))
        job.step(Random(seed).randrange(20))
        states = [state for task in job.checkpoint().checkpoint.tasks.values() for state in task.operators.values()]
        job.fail()
        job.finish()
    counted = [state.state for state in states if state.state is not None]
    read = sum(split.position for state in states for split in state.reader_splits or ())
    return dict(sorted(out.values)), sum(count for state in counted for _, count in values_in(state, REDUCE_STATE, "reducing")) - read


def test_x16_with_alignment_no_record_counts_twice() -> None:
    assert [counts_after_a_failure("EXACTLY_ONCE", seed) for seed in range(8)] == [({"key": 40}, 0)] * 8


def test_x16_without_alignment_records_behind_the_first_barrier_count_twice() -> None:
    found = [counts_after_a_failure("AT_LEAST_ONCE", seed) for seed in range(8)]
    assert [counts for counts, _ in found] == [{"key": 40 + ahead} for _, ahead in found]
    assert max(ahead for _, ahead in found) > 0


def two_inputs_in_the_midst(seed: int, *, unaligned: bool) -> tuple[dict[str, int], int]:
    """As above; return the counts at the end, and how many records the checkpoint holds that were on their way."""
    env = local_environment(seed=seed, config={"execution.checkpointing.unaligned.enabled": str(unaligned).lower()})
    left, right = ManualSource(), ManualSource()
    streams = [env.from_source(source, NO_WATERMARKS, name) for source, name in ((left, "left"), (right, "right"))]
    out = env.collect(streams[0].union(streams[1]).key_by(lambda v: v[0]).reduce(Add()))
    with env.start() as job:
        for source in (left, right):
            source.push_all([("key", 1)] * 20)
        job.step(Random(seed).randrange(20))
        tasks = job.checkpoint().checkpoint.tasks.values()
        job.fail()
        job.finish()
    recorded = [o.in_flight.files[0].inline for t in tasks for o in t.operators.values() if o.in_flight is not None]
    assert sum(t.stats.persisted_bytes for t in tasks) == sum(map(len, recorded))
    buffers = [buffer for row in recorded for buffer in read_buffers(row) if buffer.kind == DATA]
    return dict(sorted(out.values)), sum(len(decode_batch(b.payload).values) for b in buffers)


def test_x17_both_algorithms_are_consistent_and_one_of_them_records_channels() -> None:
    aligned = [two_inputs_in_the_midst(seed, unaligned=False) for seed in range(8)]
    overtaking = [two_inputs_in_the_midst(seed, unaligned=True) for seed in range(8)]
    assert [counts for counts, _ in aligned + overtaking] == [{"key": 40}] * 16
    assert {records for _, records in aligned} == {0}
    assert max(records for _, records in overtaking) > 0


def bytes_of_a_checkpoint(records: int, steps: int, *, unaligned: bool) -> int:
    """Return the size of a checkpoint of the counts of one key, taken so many steps after records have come."""
    env = local_environment(seed=3, config={"execution.checkpointing.unaligned.enabled": str(unaligned).lower()})
    numbers = ManualSource()
    env.collect(env.from_source(numbers, NO_WATERMARKS, "numbers").key_by(lambda v: v[0]).reduce(Add()))
    with env.start() as job:
        numbers.push(("key", 1))
        job.settle()
        numbers.push_all([("key", 1)] * records)
        job.step(steps)
        return sum(t.stats.state_bytes for t in job.checkpoint().checkpoint.tasks.values())


def test_aligned_snapshots_hold_live_state_only() -> None:
    """One key is one entry, however many records are on their way; an unaligned snapshot holds those, too."""
    sizes = [[bytes_of_a_checkpoint(records, steps, unaligned=False) for records in (1, 300)] for steps in range(1, 17)]
    assert all(abs(many - one) < 16 for one, many in sizes)
    # At which step they are on their way is left to the order in which tasks run.
    sizes = [[bytes_of_a_checkpoint(records, steps, unaligned=True) for records in (1, 300)] for steps in range(1, 17)]
    assert max(many - one for one, many in sizes) > 500


class ReadsCache(MapFunction):
    """Gives the price of what it is given, from a file, with the tax of a file of a directory."""

    def open(self, runtime_context):
        cache = runtime_context.get_distributed_cache()
        lines = Path(cache.get_file("prices")).read_text().splitlines()
        self.prices = {name: int(price) for name, price in (line.split() for line in lines)}
        self.tax = int(Path(cache.get_file("settings"), "tax").read_text())

    def map(self, value):
        return value, self.prices[value] * (100 + self.tax) // 100


def test_x15_every_subtask_reads_the_files_of_the_distributed_cache(tmp_path: Path) -> None:
    (tmp_path / "prices.txt").write_text("tea 300\ncake 500\n")
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "tax").write_text("20")
    env = local_environment(parallelism=3)
    env.register_cached_file(str(tmp_path / "prices.txt"), "prices")
    env.register_cached_file(str(tmp_path / "settings"), "settings")
    orders = env.from_collection(["tea", "cake", "tea", "cake"], Types.STRING()).rebalance()
    with orders.map(ReadsCache()).execute_and_collect() as priced:
        assert sorted(priced) == [("cake", 600), ("cake", 600), ("tea", 360), ("tea", 360)]


class FirstOnly(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def process_element(self, value, ctx):
        if not self.seen.value():
            self.seen.update(True)
            yield value


@pytest.mark.parametrize("seed", range(3))
def test_x18_duplicates_are_dropped_also_those_from_before_a_failure(seed: int) -> None:
    print("seed", seed)
    random = Random(seed)
    numbers = [random.randrange(40) for _ in range(300)]
    env = local_environment(parallelism=2, seed=seed)
    source = ManualSource()
    out = env.collect(env.from_source(source, NO_WATERMARKS, "numbers").key_by(lambda n: n).process(FirstOnly()))
    with env.start() as job:
        source.push_all(numbers[:200])
        job.settle()
        job.checkpoint()
        source.push_all(numbers[200:])
        job.settle()
        job.fail()
        job.finish()
        assert sorted(out.committed) == sorted(set(numbers))


class CountOnSubtask(KeyedProcessFunction):
    """Adds up the numbers of its key, and gives the sum and the subtask with each record."""

    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[-1])
        yield ctx.get_current_key(), self.sum.value(), self.index


class Change(KeyedProcessFunction):
    """Gives by how much a partial sum has grown, under the key without its salt."""

    def open(self, runtime_context):
        self.before = runtime_context.get_state(ValueStateDescriptor("before", Types.LONG()))

    def process_element(self, value, ctx):
        (_, word), total, _ = value
        yield word, total - (self.before.value() or 0)
        self.before.update(total)


SUBTASKS = 4
SALTS = 16
WORDS = [("the" if n % 10 else f"rare {n % 40}", 1) for n in range(800)]
"""Nine of ten records have one key."""


def totals(records: list[Any]) -> dict[str, int]:
    return dict(sorted((key, count) for key, count, _ in records))


def load(records: list[Any]) -> float:
    """Return the share of the records that the busiest subtask had."""
    return max(Counter(subtask for *_, subtask in records).values()) / len(records)


def test_x18_random_prefixes_spread_a_key_that_has_nine_of_ten_records() -> None:
    env = local_environment(parallelism=SUBTASKS)
    words = env.from_collection(WORDS, Types.TUPLE([Types.STRING(), Types.INT()]))
    plain = env.collect(words.key_by(lambda v: v[0]).process(CountOnSubtask()))
    random = Random(17)
    salted = words.map(lambda v: (random.randrange(SALTS), *v)).key_by(lambda v: (v[0], v[1])).process(CountOnSubtask())
    in_parts = env.collect(salted)
    whole = env.collect(salted.key_by(lambda v: v[0]).process(Change()).key_by(lambda v: v[0]).process(CountOnSubtask()))
    with env.start() as job:
        job.finish()
    assert totals(whole.values) == totals(plain.values) == dict(sorted(Counter(word for word, _ in WORDS).items()))
    assert load(plain.values) >= 0.9
    assert load(in_parts.values) < 0.5


class LocalSums(FlatMapFunction, CheckpointedFunction):
    """Adds up what comes on its subtask and sends each key's sum on once for many records; what waits is in checkpoints."""

    def __init__(self, records: int) -> None:
        self.records = records
        self.waiting: Counter[str] = Counter()
        self.held = 0

    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("waiting"))
        for key, count, held in self.state.get():
            self.waiting[key] += count
            self.held += held

    def snapshot_state(self, context):
        self.state.update([(key, count, self.held if n == 0 else 0) for n, (key, count) in enumerate(self.waiting.items())])

    def flat_map(self, value):
        self.waiting[value[0]] += value[1]
        self.held += 1
        if self.held == self.records:
            yield from list(self.waiting.items())
            self.waiting.clear()
            self.held = 0


def counted(records_of_a_sum: int, source: ManualSource) -> tuple[Any, Any]:
    env = local_environment()
    words = env.from_source(source, NO_WATERMARKS, "words").flat_map(LocalSums(records_of_a_sum)).name("local")
    out = env.collect(words.key_by(lambda v: v[0]).process(CountOnSubtask()))
    return env.start(), out


def test_x18_local_sums_send_a_record_per_key_instead_of_one_per_record() -> None:
    expected = dict(sorted(Counter(word for word, _ in WORDS).items()))
    sent = {}
    for records_of_a_sum in (1, 200):
        source = ManualSource()
        job, out = counted(records_of_a_sum, source)
        with job:
            source.push_all(WORDS[:300])
            job.settle()
            job.checkpoint()
            source.push_all(WORDS[300:])
            job.settle()
            job.fail()  # the sums that wait are in the checkpoint
            job.finish()
            assert totals(out.committed) == expected
            sent[records_of_a_sum] = len(out.committed)
    # Four runs of 200 records; each has all five keys.
    assert sent == {1: 800, 200: 4 * len(expected)}


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class FourKinds(KeyedBroadcastProcessFunction, CheckpointedFunction):
    """Has state of each kind: per key, a list, a union list, and what was broadcast."""

    def __init__(self) -> None:
        self.mine: list[int] = []

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.list = store.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.union = store.get_union_list_state(ListStateDescriptor("union", Types.INT()))
        self.given = {"list": self.list.get(), "union": self.union.get()}
        self.mine = list(self.given["list"])

    def snapshot_state(self, context):
        self.list.update(self.mine)
        self.union.update(self.mine)

    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.mine.append(value)
        self.count.update((self.count.value() or 0) + 1)
        yield "key", value, self.count.value(), self.index

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        state.put(value, len(value))
        yield "rules", self.index, sorted(state.items()), self.given


def four_kinds(parallelism: int, numbers: ManualSource, rules: ManualSource, restore_from: Any = None) -> tuple[Any, Any]:
    env = local_environment(parallelism=parallelism)
    env.set_max_parallelism(10)
    keyed = env.from_source(numbers, NO_WATERMARKS, "numbers").uid("numbers").set_parallelism(1).key_by(lambda n: n)
    told = env.from_source(rules, NO_WATERMARKS, "rules").uid("rules").set_parallelism(1).broadcast(RULES)
    out = env.collect(keyed.connect(told).process(FourKinds()).uid("four"))
    return env.start(restore_from=restore_from), out


def test_x19_ten_entries_of_each_kind_of_state_on_two_subtasks_go_to_three() -> None:
    numbers, rules = ManualSource(), ManualSource()
    job, out = four_kinds(2, numbers, rules)
    with job:
        numbers.push_all(range(10))
        rules.push("a rule")
        job.settle()
        snapshot = job.checkpoint()
        before = {value: index for kind, value, _, index in (v for v in out.values if v[0] == "key")}
    assert set(before.values()) == {0, 1}
    job, out = four_kinds(3, numbers, rules, snapshot)
    with job:
        numbers.push_all(range(10))
        rules.push("another")
        job.settle()
        keyed = [v[1:] for v in out.values if v[0] == "key"]
        told = sorted(v[1:] for v in out.values if v[0] == "rules")
    # Keyed state: each key has its count, on the one subtask that has its group now.
    assert sorted((value, count) for value, count, _ in keyed) == [(value, 2) for value in range(10)]
    assert {index for *_, index in keyed} == {0, 1, 2}
    # Broadcast state is the same everywhere, the new subtask included.
    assert [(index, items) for index, items, _ in told] == [(i, [("a rule", 6), ("another", 7)]) for i in range(3)]
    # The list is shared out, 4, 3 and 3; the union list is given to everybody.
    shares = [given["list"] for *_, given in told]
    assert sorted(map(len, shares)) == [3, 3, 4]
    assert sorted(value for share in shares for value in share) == list(range(10))
    assert [sorted(given["union"]) for *_, given in told] == [list(range(10))] * 3
