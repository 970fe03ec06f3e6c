"""``wiesel savepoint dispose`` with checkpoints that jobs have left, as Flink's ``savepoint -d`` takes them."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.unit.engine.stored_job import totals
from wiesel.common import Configuration, JobClient, WatermarkStrategy
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.platform.cli import _savepoints, main
from wiesel.testing import ManualSource

LIMIT_S = 150.0


@pytest.fixture(autouse=True)
def _no_other_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    monkeypatch.setattr(_savepoints, "_PROCESS_ENDS_S", 0.2)


def dispose(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["savepoint", *map(str, arguments)])


@pytest.fixture
def numbers() -> ManualSource:
    return ManualSource()


@pytest.fixture
def left(tmp_path: Path, numbers: ManualSource) -> list[Path]:
    """Three checkpoints that a cancelled job has left, with more state than fits into their metadata."""
    job, _ = totals(numbers, tmp_path / "checkpoints", execution_checkpointing_num__retained="3")
    with job:
        numbers.push_all([(f"key {n}", n) for n in range(2000)])
        paths = []
        for number in (1, 2, 3):
            numbers.push(("a", number))
            job.settle()
            paths.append(Path(job.store()))
    return paths


def ran_in(checkpoint: Path, pid: int, host: str = socket.gethostname()) -> None:
    """Write down that the job of a checkpoint ran in another process last."""
    newest = max((checkpoint.parent / "attempts").iterdir(), key=lambda path: int(path.name))
    newest.write_text(f"0123456789abcdef {pid} {host}")


@pytest.fixture(scope="module")
def dead() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_what_a_job_has_left_is_deleted_and_what_others_share_stays(left: list[Path], dead: int, numbers: ManualSource) -> None:
    first, second, third = left
    shared = first.parent / "shared"
    before = {path.name for path in shared.iterdir()}
    assert before, "there is nothing to be shared"
    ran_in(first, dead)
    assert dispose("dispose", second).output == f"deleted {second}\n"
    assert dispose("-d", first / "_metadata").exit_code == 0
    assert not first.exists() and not second.exists() and third.exists()
    assert before & {path.name for path in shared.iterdir()}, "files that the third needs have gone"
    job, results = totals(numbers, None, str(third))
    with job:
        numbers.push_all([("a", 10), ("key 7", 1)])
        job.settle()
        assert results.values == [("a", 16), ("key 7", 8)]
    assert dispose("dispose", third).exit_code == 0
    assert not third.parent.exists(), "nothing of the job is left"


@pytest.mark.parametrize("ran", ["here", "elsewhere", "unknown"])
def test_a_checkpoint_whose_job_may_still_run_is_deleted_only_by_force(left: list[Path], dead: int, ran: str) -> None:
    if ran == "elsewhere":
        ran_in(left[0], dead, "another.host")
    elif ran == "unknown":
        next((left[0].parent / "attempts").iterdir()).write_text("0123456789abcdef")  # as before processes were written down
    refused = dispose("dispose", left[0])
    assert refused.exit_code == 1 and "still runs" in refused.output and "--force" in refused.output
    assert ("another.host" in refused.output) == (ran == "elsewhere") and left[0].exists()
    assert dispose("dispose", "--force", left[0]).exit_code == 0
    assert not left[0].exists() and left[1].exists()


def test_a_process_whose_job_was_just_cancelled_is_given_the_time_to_end(left: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_savepoints, "_PROCESS_ENDS_S", LIMIT_S)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as ending:
        ran_in(left[0], ending.pid)
        timer = threading.Timer(0.5, ending.communicate)
        timer.start()
        assert dispose("dispose", left[0]).exit_code == 0 and ending.poll() is not None
        timer.join()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[JobClient]:
    settings = {"wiesel.engine": "local", "wiesel.rest.enabled": "true", "execution.checkpointing.dir": str(tmp_path / "checkpoints")}
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({**settings, "execution.checkpointing.interval": "1 d"})
    )
    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda n: n % 3).reduce(lambda a, b: a + b).filter(lambda n: n < 0).print()
    client = env.execute_async("endless sums")
    yield client
    client.cancel().result(LIMIT_S)


def test_a_checkpoint_of_a_running_job_is_not_deleted(running: JobClient, tmp_path: Path) -> None:
    job_id = str(running.get_job_id())
    assert CliRunner().invoke(main, ["checkpoint", job_id]).exit_code == 0
    (path,) = (tmp_path / "checkpoints" / job_id).glob("chk-*")
    for force in ((), ("--force",)):
        refused = dispose("dispose", *force, path)
        assert refused.exit_code == 1 and f"the job {job_id} runs and needs its checkpoints" in refused.output
    assert (path / "_metadata").exists()


def test_a_job_is_no_checkpoint(left: list[Path]) -> None:
    refused = dispose("dispose", "--force", left[0].parent)
    assert refused.exit_code == 1 and f"name one: {left[-1]}" in refused.output
    assert all(path.exists() for path in left)


def test_one_that_cannot_be_read_is_left_as_it_is(left: list[Path]) -> None:
    (left[0] / "_metadata").write_bytes(b"torn")
    refused = dispose("dispose", "--force", left[0])
    assert refused.exit_code == 1 and "_metadata is not" in refused.output and "Traceback" not in refused.output
    assert left[0].exists()
