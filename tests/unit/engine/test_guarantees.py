"""What reaches the outside world by the kind of the sink and of the checkpoints, when the job is killed at any moment."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start, totals
from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream.connectors.base import Sink, SinkWriter
from wiesel.testing import ManualSource

RESTARTS = {
    "restart__strategy_type": "fixed-delay",
    "restart__strategy_fixed__delay_attempts": "1000",
    "restart__strategy_fixed__delay_delay": "0 s",
}


class Outside(Sink):
    """Writes records where no failure of the job takes them back: each into a new line, or the value of a key over the last one."""

    def __init__(self, directory: Path, *, upserts: bool = False) -> None:
        self.directory, self.upserts = directory, upserts
        directory.mkdir()

    def create_writer(self, context: Any, state: Sequence[Any] = ()) -> SinkWriter:
        return _Writer(self.directory / f"{'table' if self.upserts else 'lines'}-{context.subtask_index}", self.upserts)

    def lines(self) -> Counter[tuple[str, int]]:
        return Counter(tuple(json.loads(line)) for path in self.directory.glob("lines-*") for line in path.read_text().splitlines())

    def table(self) -> dict[str, int]:
        return {key: value for path in self.directory.glob("table-*") for key, value in json.loads(path.read_text()).items()}


class _Writer(SinkWriter):
    def __init__(self, path: Path, upserts: bool) -> None:
        self.path, self.upserts = path, upserts

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        if self.upserts:
            table = json.loads(self.path.read_text()) if self.path.exists() else {}
            self.path.write_text(json.dumps(table | dict(values)))
        else:
            with self.path.open("a") as file:
                file.writelines(json.dumps(value) + "\n" for value in values)

    def flush(self, end_of_input: bool) -> None:
        pass  # every batch was written at once


def job_into(sink: Outside, numbers: ManualSource, checkpoints: Path | None, **config: Any) -> StoredJob:
    env = environment(checkpoints, 2, **config)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").key_by(lambda pair: pair[0], Types.STRING())
    stream.map(lambda pair: pair).sink_to(sink)
    return start(env)


def seeded() -> random.Random:
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    return random.Random(seed)


def pairs(rnd: random.Random, first: int, count: int) -> list[tuple[str, int]]:
    return [(f"k{rnd.randrange(7)}", number) for number in range(first, first + count)]


def die(job: StoredJob) -> None:
    assert job.master.attempt is not None
    job.master.attempt.fail(RuntimeError("killed"))


def test_k6_without_checkpoints_a_kill_loses_records_and_repeats_none(tmp_path: Path) -> None:
    rnd, lost = seeded(), 0
    # In a third of the rounds something is on its way.
    for round_ in range(80):
        numbers, sink = ManualSource(), Outside(tmp_path / str(round_))
        # Without checkpoints a failure is the end, as in Flink, where nothing is said about restarts.
        job = job_into(sink, numbers, None)
        sent = pairs(rnd, 0, 1000)
        numbers.push_all(sent[:500])
        job.settle()
        numbers.push_all(sent[500:])
        # The records are read at some of these steps, and are on their way at some.
        job.step(rnd.randrange(1, 6))
        die(job)
        with pytest.raises(JobExecutionError, match="killed"):
            job.settle()
        job.close()
        written = sink.lines()
        assert set(written.values()) == {1} and not written - Counter(sent)
        assert len(written) >= 500, "what had been written before the kill"
        lost += len(sent) - len(written)
    assert lost > 0, "no kill came in time"


@pytest.mark.parametrize("mode", ["EXACTLY_ONCE", "AT_LEAST_ONCE"])
def test_k7_with_checkpoints_a_sink_that_takes_nothing_back_sees_each_record_at_least_once(tmp_path: Path, mode: str) -> None:
    rnd = seeded()
    numbers, sink = ManualSource(), Outside(tmp_path / "out")
    with job_into(sink, numbers, tmp_path / "checkpoints", execution_checkpointing_mode=mode, **RESTARTS) as job:
        before, after = pairs(rnd, 0, 300), pairs(rnd, 300, 200)
        numbers.push_all(before)
        job.settle()
        job.checkpoint()
        numbers.push_all(after)
        job.settle()
        die(job)
        job.settle()
        assert sink.lines() == Counter(before) + Counter(after + after), "what came behind the checkpoint comes twice, nothing else"


def test_k8_state_counts_each_record_exactly_once_at_any_kill(tmp_path: Path) -> None:
    rnd, restarts = seeded(), 0
    for round_ in range(10):
        numbers = ManualSource()
        job, results = totals(numbers, tmp_path / str(round_), parallelism=2, **RESTARTS)
        sums: Counter[str] = Counter()
        with job:
            for turn in range(12):
                fresh = pairs(rnd, turn * 50, 50)
                numbers.push_all(fresh)
                for key, number in fresh:
                    sums[key] += number
                job.step(rnd.randrange(1, 60))
                if rnd.random() < 0.4:
                    job.checkpoint()
                elif rnd.random() < 0.5:
                    job.fail()
            job.settle()
            numbers.push_all((key, 0) for key in sums)
            job.settle()
            assert dict(results.values[-len(sums) :]) == dict(sums)
            restarts += job.master.restarts
    assert restarts > 0, "nothing was killed"


def test_h1_a_hundred_kills_of_tasks_at_random_times_leave_the_counts_exact(tmp_path: Path) -> None:
    rnd, kills = seeded(), 100
    numbers = ManualSource()
    job, results = totals(numbers, tmp_path, parallelism=2, **RESTARTS)
    sums: Counter[str] = Counter()
    restored: set[int] = set()
    with job:
        for turn in range(kills):
            for key, number in (fresh := pairs(rnd, turn * 20, 20)):
                sums[key] += number
            numbers.push_all(fresh)
            job.step(rnd.randrange(1, 60))
            if rnd.random() < 0.4:
                job.checkpoint()
                job.step(rnd.randrange(1, 20))
            job.fail(f"kill {turn}")
            restored.add(job.master.attempt.restored_checkpoint_id)
        job.settle()
        numbers.push_all((key, 0) for key in sums)
        job.settle()
        assert job.master.restarts == kills
        assert len(restored) > 10, "the kills did not go back to checkpoints of their own"
        assert dict(results.values[-len(sums) :]) == dict(sums)


def test_k9_at_least_once_into_a_table_by_key_is_exactly_once(tmp_path: Path) -> None:
    rnd = seeded()
    numbers, sink = ManualSource(), Outside(tmp_path / "out", upserts=True)
    options = {"execution_checkpointing_mode": "AT_LEAST_ONCE", **RESTARTS}
    sent: list[tuple[str, int]] = []
    with job_into(sink, numbers, tmp_path / "checkpoints", **options) as job:
        for turn in range(40):
            sent += (fresh := pairs(rnd, turn * 20, 20))
            numbers.push_all(fresh)
            job.step(rnd.randrange(1, 60))
            if rnd.random() < 0.3:
                job.checkpoint()
            elif rnd.random() < 0.5:
                job.fail()
        job.fail()
        job.settle()
        assert job.master.restarts > 0
    assert sink.table() == dict(sent), "as without a failure: the last value of each key"


def test_h13_state_is_exact_after_a_kill_while_a_sink_that_takes_nothing_back_has_duplicates(tmp_path: Path) -> None:
    rnd = seeded()
    numbers, sink = ManualSource(), Outside(tmp_path / "out")
    env = environment(tmp_path / "checkpoints", 2, **RESTARTS)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").key_by(lambda pair: pair[0], Types.STRING())
    stream.process(Total(), Types.TUPLE([Types.STRING(), Types.LONG()])).sink_to(sink)
    before, after = pairs(rnd, 1, 300), pairs(rnd, 301, 200)
    with start(env) as job:
        numbers.push_all(before)
        job.settle()
        job.checkpoint()
        numbers.push_all(after)
        job.settle()
        die(job)
        job.settle()
        assert job.restarts == 1
    sums: Counter[str] = Counter()
    written: Counter[tuple[str, int]] = Counter()
    for times, part in ((1, before), (2, after)):
        for key, number in part:
            sums[key] += number
            written[key, sums[key]] = times
    assert sink.lines() == written, "no total is wrong: state goes back, lines do not"
