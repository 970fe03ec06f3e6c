"""Savepoints whose barriers overtake records when their alignment takes too long: the records go with the savepoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.stored_job import StoredJob, Total, environment, start
from wiesel.checkpoint.savepoint import Savepoint
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.common.job_status import JobStatus
from wiesel.core.errors import CheckpointError, ProgramError, StateMigrationError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine.unaligned import holds_in_flight
from wiesel.state_processor.compatibility import check_savepoint
from wiesel.testing import CollectedStream, ManualSource
from wiesel.testing.environment import LocalEnvironment

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
RECORDS = [(f"k{n % 7}", n) for n in range(3000)]
OPTION = "wiesel_checkpointing_aligned__savepoint__timeout"


def program(
    numbers: ManualSource, checkpoints: Path, parallelism: int = 2, restore: str | None = None, *, chained: bool = False, **options: Any
) -> tuple[LocalEnvironment, CollectedStream]:
    """Sum by key behind two exchanges."""
    if restore is not None:
        options["execution_state__recovery_path"] = restore
    small = {"wiesel_exchange_row__size": "1 kb", "pipeline_max__parallelism": "16", "restart__strategy_type": "none"}
    env = environment(checkpoints, parallelism, **small, **options)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    spread = stream if chained else stream.rebalance()
    spread = spread.map(lambda pair: pair, PAIR).uid("spread")
    sums = spread.key_by(lambda pair: pair[0], Types.STRING()).process(Total(), PAIR).uid("total")
    results = env.collect(sums.rebalance())  # the same connection also where all have one subtask
    return env, results


def pipeline(*arguments: Any, **options: Any) -> tuple[StoredJob, CollectedStream]:
    env, results = program(*arguments, **options)
    return start(env), results


def in_the_midst(job: StoredJob, results: CollectedStream, numbers: ManualSource) -> None:
    """Let some records come through while many are on their way."""
    numbers.push_all(RECORDS)
    while len(results.values) < 5:
        assert job.step(1)


def reached(values: list[Any]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for key, value in values:
        sums[key] = max(value, sums.get(key, 0))
    return sums


EXPECTED = {f"k{key}": sum(n for k, n in RECORDS if k == f"k{key}") for key in range(7)}


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_job_goes_on_with_the_records_at_any_parallelism(tmp_path: Path, stop: bool, after: int, seed: int) -> None:
    numbers = ManualSource()
    job, results = pipeline(numbers, tmp_path / "checkpoints", wiesel_local_seed=str(seed), **{OPTION: "0 ms"})
    with job:
        in_the_midst(job, results, numbers)
        path = job.savepoint(tmp_path / "savepoints", stop=stop)
        assert job.status is (JobStatus.FINISHED if stop else JobStatus.RUNNING)
        before = results.values if stop else []
        if not stop:
            job.settle()
            assert reached(results.values) == EXPECTED, "the job itself goes on"
    checkpoint, _ = Savepoint(path).load()
    assert holds_in_flight(checkpoint) and Savepoint(path).facts().unaligned
    moved = Path(path).rename(tmp_path / "moved")
    job, results = pipeline(numbers, tmp_path / "other", after, str(moved))
    with job:
        job.settle()
        assert reached([*before, *results.values]) == EXPECTED


def test_it_is_aligned_if_that_is_done_in_time(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, _ = pipeline(numbers, tmp_path / "checkpoints", **{OPTION: "5 s"})
    with job:
        numbers.push_all(RECORDS)
        job.step(50)
        path = job.savepoint(tmp_path / "savepoints")
    checkpoint, _ = Savepoint(path).load()
    assert not holds_in_flight(checkpoint) and not Savepoint(path).facts().unaligned


def test_one_request_may_have_a_time_of_its_own(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = pipeline(numbers, tmp_path / "checkpoints")
    with job:
        in_the_midst(job, results, numbers)
        assert Savepoint(job.savepoint(tmp_path / "savepoints", overtake_after_ms=0)).facts().unaligned
        with pytest.raises(CheckpointError, match="to drain the job"):
            job.ask(tmp_path, stop=True, drain=True, overtake_after_ms=0)


def test_a_stop_that_fails_with_recorded_buffers_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ManualSource()
    job, results = pipeline(numbers, tmp_path / "checkpoints", **{OPTION: "0 ms"})
    with job:
        in_the_midst(job, results, numbers)
        with monkeypatch.context() as patch, pytest.raises(CheckpointError, match="the job runs on"):
            patch.setattr(Savepoint, "publish", lambda *_: 1 / 0)
            job.savepoint(tmp_path / "savepoints", stop=True)
        job.settle()
        assert job.restarts == 0 and reached(results.values) == EXPECTED


def test_a_program_without_the_connection_is_refused_with_what_to_do(tmp_path: Path) -> None:
    numbers = ManualSource()
    job, results = pipeline(numbers, tmp_path / "checkpoints", **{OPTION: "0 ms"})
    with job:
        in_the_midst(job, results, numbers)
        path = job.savepoint(tmp_path / "savepoints", stop=True)
    with pytest.raises(StateMigrationError, match="the savepoint is unaligned and holds records in flight to Map, with which no"):
        pipeline(numbers, tmp_path / "other", 2, path, chained=True)
    for chained in (False, True):
        env, _ = program(numbers, tmp_path / "other", 2, chained=chained)
        check = check_savepoint(env._generate_stream_graph(), path)
        assert [v.verdict for v in check.verdicts if "in flight" in v.state] == ["incompatible" if chained else "kept"]
        assert check.fits != chained


def test_programs_that_cannot_have_them_are_told_before() -> None:
    settings = {"wiesel.engine": "local", "wiesel.checkpointing.aligned-savepoint-timeout": "1 s"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.from_collection([1]).partition_custom(lambda key, count: 0, lambda n: n).print()
    with pytest.raises(ProgramError, match="partition_custom behind the operator at ") as caught:
        env.execute()
    assert "leave wiesel.checkpointing.aligned-savepoint-timeout out" in str(caught.value)
