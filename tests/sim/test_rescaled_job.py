"""A job with every kind of state, which fails, restarts, fails for good and goes on elsewhere with another parallelism.

What has to come out is known without the job: each number once, each rule once on every subtask, sums that are a closed form.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import CheckpointedFunction, DataStream, KeyedBroadcastProcessFunction, MapFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from wiesel.testing import local_environment

pytestmark = pytest.mark.slow

NUMBERS = 900
NUMBERS_PER_SECOND = 300
RULES_TOLD = 30
RULES_PER_SECOND = 15
FAILS_AFTER = 20
KEYS = 7
END_OF_TIME = 2**63 - 1
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Diary:
    """Where functions write what the test wants to know, by job, attempt and subtask."""

    def __init__(self, folder: Path, job: int) -> None:
        self.folder = str(folder)
        self.job = job

    def write(self, what: str, attempt: int, subtask: int, content: Any) -> None:
        path = Path(self.folder) / f"{what}-{self.job}-{attempt}-{subtask}.json"
        path.write_text(json.dumps(content))

    def read(self, what: str, attempt: int) -> list[Any]:
        paths = Path(self.folder).glob(f"{what}-{self.job}-{attempt}-*.json")
        by_subtask = {int(path.stem.rpartition("-")[2]): json.loads(path.read_text()) for path in paths}
        return [by_subtask[subtask] for subtask in sorted(by_subtask)]


class Keep(MapFunction, CheckpointedFunction):
    """Keeps the numbers it has seen in a list that is shared out, and their count in one that everybody gets."""

    def __init__(self, diary: Diary, failing_attempts: int) -> None:
        self.diary = diary
        self.failing_attempts = failing_attempts
        self.since_start = 0

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.list_state = store.get_list_state(ListStateDescriptor("numbers", Types.INT()))
        self.union_state = store.get_union_list_state(ListStateDescriptor("counts", Types.INT()))
        self.given = {"numbers": self.list_state.get(), "counts": self.union_state.get(), "restored": context.is_restored()}
        self.numbers = self.list_state.get()

    def open(self, runtime_context: Any) -> None:
        self.subtask, self.attempt = runtime_context.get_index_of_this_subtask(), runtime_context.get_attempt_number()
        parallelism = runtime_context.get_number_of_parallel_subtasks()
        self.diary.write("given", self.attempt, self.subtask, self.given)
        # Everybody has the counts of all, and takes its share of them.
        self.count = sum(self.given["counts"][self.subtask :: parallelism])

    def map(self, value: int) -> int:
        self.since_start += 1
        if self.subtask == 0 and self.attempt < self.failing_attempts and self.since_start > FAILS_AFTER:
            raise RuntimeError("the failure in the middle")
        self.numbers.append(value)
        self.count += 1
        return value

    def snapshot_state(self, context: Any) -> None:
        self.list_state.update(self.numbers)
        self.union_state.update([self.count])

    def close(self) -> None:
        self.diary.write("left", self.attempt, self.subtask, {"numbers": self.numbers, "count": self.count})


class Apply(KeyedBroadcastProcessFunction[int, int, str, Any], CheckpointedFunction):
    """Counts and sums numbers by key, and counts how often each rule was told."""

    def __init__(self, diary: Diary) -> None:
        self.diary = diary

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.given = dict(store.get_broadcast_state(RULES).items())
        # The lists of the other operator are not seen here.
        assert store.get_registered_state_names() == set()

    def snapshot_state(self, context: Any) -> None:
        """Nothing to do: the state is always up to date."""

    def open(self, runtime_context: Any) -> None:
        subtask, attempt = runtime_context.get_index_of_this_subtask(), runtime_context.get_attempt_number()
        self.diary.write("rules", attempt, subtask, self.given)
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.TUPLE([Types.INT(), Types.INT()])))

    def process_element(self, value: int, ctx: Any) -> None:
        count, total = self.sum.value() or (0, 0)
        self.sum.update((count + 1, total + value))
        ctx.timer_service().register_event_time_timer(END_OF_TIME)

    def process_broadcast_element(self, value: str, ctx: Any) -> None:
        rules = ctx.get_broadcast_state(RULES)
        rules.put(value, (rules.get(value) or 0) + 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), *self.sum.value(), sorted(ctx.get_broadcast_state(RULES).items())


def run(diary: Diary, parallelism: int, failing_attempts: int, options: dict[str, Any]) -> list[Any]:
    """Run the job once; one restart is allowed."""
    settings = {
        "wiesel.engine": "local",
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.num-retained": "2",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings | options))
    env.set_parallelism(parallelism).set_max_parallelism(16)
    with define(env, diary, failing_attempts).execute_and_collect() as results:
        return list(results)


def define(env: StreamExecutionEnvironment, diary: Diary, failing_attempts: int) -> DataStream:
    none = WatermarkStrategy.no_watermarks()
    numbers = DataGeneratorSource(_same, NUMBERS, RateLimiterStrategy.per_second(NUMBERS_PER_SECOND), Types.INT())
    told = DataGeneratorSource(_rule, RULES_TOLD, RateLimiterStrategy.per_second(RULES_PER_SECOND), Types.STRING())
    rules = env.from_source(told, none, "rules").uid("rules").set_parallelism(1)
    kept = env.from_source(numbers, none, "numbers").uid("numbers").map(Keep(diary, failing_attempts), Types.INT()).uid("keep")
    keyed = kept.key_by(_key, Types.INT())
    return keyed.connect(rules.broadcast(RULES)).process(Apply(diary)).uid("apply")


def _same(index: int) -> int:
    return index


def _rule(index: int) -> str:
    return f"rule {index % 3}"


def _key(number: int) -> int:
    return number % KEYS


@pytest.mark.parametrize(
    ("seed", "parallelisms", "backend"),
    [
        *((seed, (2, 3, 1), "hashmap") for seed in range(2)),
        (10, (2, 3, 1), "lmdb"),
        (11, (2, 4, 1), "hashmap"),
        (12, (1, 4, 3), "rocksdb"),
        (13, (3, 3, 2), "hashmap"),
    ],
)
def test_every_kind_of_state_survives_failures_and_rescaling(
    tmp_path: Path, seed: int, parallelisms: tuple[int, ...], backend: str
) -> None:
    print(f"seed {seed}")
    restore: dict[str, Any] = {}
    results: list[Any] = []
    for job, parallelism in enumerate(parallelisms):
        last = job == len(parallelisms) - 1
        checkpoints = tmp_path / f"checkpoints-{job}"
        options = {"wiesel.local.seed": str(seed), "state.backend.type": backend, "execution.checkpointing.dir": str(checkpoints)}
        options["execution.checkpointing.externalized-checkpoint-retention"] = "DELETE_ON_CANCELLATION"  # not if it fails
        diary = Diary(tmp_path, job)
        if last:
            results = run(diary, parallelism, 1, options | restore)
        else:
            with pytest.raises(JobExecutionError, match="the failure in the middle"):
                run(diary, parallelism, 2, options | restore)
        if job > 0:
            for attempt in (0, 1):
                look_at_what_was_given(diary, attempt, parallelism, rescaled=attempt == 0 and parallelism != parallelisms[job - 1])
        restore = {"execution.state-recovery.path": str(newest(checkpoints))} if not last else {}
    must_be_whole(results, diary, attempt=1, parallelism=parallelisms[-1])


@pytest.mark.parametrize(
    ("seed", "parallelisms", "backend"),
    [(20, (2, 3, 1), "hashmap"), (21, (2, 4, 1), "lmdb"), (22, (1, 4, 3), "hashmap"), (23, (3, 1, 2), "lmdb")],
)
def test_every_kind_of_state_goes_by_its_rule_when_a_running_job_is_rescaled(
    tmp_path: Path, seed: int, parallelisms: tuple[int, ...], backend: str
) -> None:
    print(f"seed {seed}")
    diary = Diary(tmp_path, 0)
    options = {"state.backend.type": backend, "pipeline.max-parallelism": "16"}
    env = local_environment(seed=seed, parallelism=parallelisms[0], config=options)
    results = env.collect(define(env, diary, failing_attempts=0))
    with env.start() as job:
        for parallelism in parallelisms[1:]:
            job.advance_processing_time(700)
            job.rescale(parallelism)
        job.finish()
    for attempt, parallelism in list(enumerate(parallelisms))[1:]:
        look_at_what_was_given(diary, attempt, parallelism, rescaled=True)
    must_be_whole(results.values, diary, attempt=len(parallelisms) - 1, parallelism=parallelisms[-1])


def must_be_whole(results: list[Any], diary: Diary, attempt: int, parallelism: int) -> None:
    """Compare the results, and what the last attempt was left with, to what is known without the job."""
    rules = [(f"rule {i}", RULES_TOLD // 3) for i in range(3)]
    expected = [(key, len(range(key, NUMBERS, KEYS)), sum(range(key, NUMBERS, KEYS)), rules) for key in range(KEYS)]
    assert sorted(results) == expected
    left = diary.read("left", attempt)
    assert len(left) == parallelism
    assert sorted(number for subtask in left for number in subtask["numbers"]) == list(range(NUMBERS))
    assert sum(subtask["count"] for subtask in left) == NUMBERS


def look_at_what_was_given(diary: Diary, attempt: int, parallelism: int, *, rescaled: bool) -> None:
    """Compare what the subtasks were given by a checkpoint of another job, or by one of their own."""
    given = diary.read("given", attempt)
    assert len(given) == parallelism
    assert all(subtask["restored"] for subtask in given)
    lists = [subtask["numbers"] for subtask in given]
    numbers = Counter(number for entries in lists for number in entries)
    assert numbers.total() > 0
    assert set(numbers.values()) == {1}
    if rescaled:
        assert max(map(len, lists)) - min(map(len, lists)) <= 1
    assert all(subtask["counts"] == given[0]["counts"] for subtask in given)
    assert sum(given[0]["counts"]) == numbers.total()
    rules = diary.read("rules", attempt)
    assert len(rules) == parallelism
    assert all(copy == rules[0] != {} for copy in rules)


def newest(checkpoints: Path) -> Path:
    found = sorted(checkpoints.glob("*/chk-*/_metadata"), key=lambda path: int(path.parent.name.removeprefix("chk-")))
    return found[-1].parent
