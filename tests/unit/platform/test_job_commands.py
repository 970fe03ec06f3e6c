"""``wiesel list``, ``info``, ``savepoint``, ``checkpoint``, ``stop`` and ``cancel`` with a job that runs."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wiesel.common import Configuration, JobClient, JobStatus, WatermarkStrategy
from wiesel.core.errors import JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.engine.endpoint import JobEndpoint
from wiesel.platform.cli import _jobs, main

LIMIT_S = 150.0


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def job(directory: Path) -> Iterator[JobClient]:
    settings = {"wiesel.engine": "local", "wiesel.rest.enabled": "true", "execution.checkpointing.dir": str(directory / "checkpoints")}
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({**settings, "execution.checkpointing.interval": "1 d"})
    )
    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    numbers.key_by(lambda n: n % 3).reduce(lambda a, b: a + b).uid("sums").filter(lambda n: n < 0).print()
    client = env.execute_async("endless sums")
    yield client
    client.cancel().result(LIMIT_S)


def wiesel(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_running_job_is_found_and_told_what_to_do(job: JobClient, directory: Path) -> None:
    job_id = str(job.get_job_id())
    listed = wiesel("list")
    assert listed.exit_code == 0
    (line,) = listed.output.splitlines()[1:]
    assert line.startswith(f"{job_id}  endless sums  RUNNING") or "CREATED" in line
    # A savepoint waits until the tasks run.
    taken = wiesel("savepoint", job_id, "savepoints", "--label", "by hand")
    assert taken.exit_code == 0, taken.output
    path = Path(taken.stdout.strip())
    assert path.parent == directory / "savepoints" and (path / "_metadata").exists()
    assert "by hand" in wiesel("savepoint", "list", "savepoints").output
    assert wiesel("checkpoint", "endless sums").stdout.startswith("checkpoint ")
    told = json.loads(wiesel("info", "--json", job_id[:8]).stdout)
    assert json.loads(wiesel("info", "--json", told["name"]).stdout)["jid"] == job_id
    shown = wiesel("info", job_id[:8]).output.splitlines()
    assert shown[0].startswith(f"job {job_id} 'endless sums': RUNNING since ")
    heads = "task parallelism state in out busy idle backpressured waiting watermark lag".split()
    assert shown[1].split() == heads and len(shown[2:]) > len(told["vertices"])
    completed = told["checkpoints"]["counts"]["completed"]
    assert any(re.fullmatch(r"checkpoints: (\d+) completed, 0 failed, [01] in progress", line) for line in shown) and completed >= 1
    (listed,) = json.loads(wiesel("list", "--json").stdout)
    assert (listed["job"], listed["name"], listed["state"]) == (job_id, "endless sums", "RUNNING")
    assert json.loads(wiesel("checkpoint", job_id, "--json").stdout).keys() == {"job", "checkpointId"}
    assert json.loads(wiesel("savepoint", "list", "--json", "savepoints").stdout)[0]["label"] == "by hand"
    assert "no job 'nosuch' runs here" in wiesel("info", "nosuch").output
    assert told["jid"] == job_id and told["state"] == "RUNNING"
    stopped = wiesel("stop", job_id[:6], "-p", str(directory / "last"), "--drain")
    assert stopped.exit_code == 0, stopped.output
    assert Path(stopped.stdout.strip(), "_metadata").exists()
    job.get_job_execution_result().result(LIMIT_S)
    assert job.get_job_status().result() is JobStatus.FINISHED


def test_a_stop_that_ends_while_its_progress_is_asked_for(job: JobClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jobs, "_SHOW_AFTER_S", 0.0)
    monkeypatch.setattr(_jobs, "_ASK_EVERY_S", 5.0)  # the job ends in this time, and its endpoint once the end has been reported
    stopped = wiesel("stop", str(job.get_job_id()), "-p", "savepoints")
    assert stopped.exit_code == 0, stopped.output
    assert Path(stopped.stdout.strip(), "_metadata").exists()


def test_a_job_is_cancelled(job: JobClient) -> None:
    ended = wiesel("cancel", "--json", str(job.get_job_id()))
    assert (ended.exit_code, json.loads(ended.output)) == (0, {"job": str(job.get_job_id()), "state": "CANCELED"})
    with pytest.raises(JobCancelledError):
        job.get_job_execution_result().result(LIMIT_S)
    assert wiesel("list").output == "no job runs here\n"


def test_statements_of_sql_list_and_stop_jobs(job: JobClient) -> None:
    job_id = str(job.get_job_id())
    shown = wiesel("sql", "-e", f"SHOW JOBS; DESCRIBE JOB '{job_id}'; STOP JOB '{job_id}'; SHOW JOBS")
    assert shown.exit_code == 0, shown.output
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown.output.splitlines() if line.startswith("|")]
    heads, listed, same_heads, described = rows
    assert heads == same_heads == ["job id", "job name", "status", "start time"]
    assert listed[:2] == described[:2] == [job_id, "endless sums"]
    assert shown.output.splitlines()[-2:] == [f"[INFO] job {job_id} is cancelled", "Empty set"]
    with pytest.raises(JobCancelledError):
        job.get_job_execution_result().result(LIMIT_S)


@pytest.mark.usefixtures("directory")
def test_a_program_runs_in_the_background(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "from wiesel.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1, 2]).print()\n"
        "print(env.execute('first').get_job_id())\n"
    )
    (tmp_path / "wrong.py").write_text("1 / 0\n")
    begin = "import sys; sys.argv[0] = 'wiesel'; from wiesel.platform.cli import main; main()"
    command = [sys.executable, "-c", begin, "run", "-d", "--json", "--log", "out.log", "-D", "wiesel.engine=local"]
    (tmp_path / "out.log").write_text("of a run before")
    (tmp_path / "out.log").chmod(0o644)
    done = subprocess.run([*command, "job.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    found = json.loads(done.stdout)
    assert found["log"] == str(tmp_path / "out.log")
    assert stat.S_IMODE((tmp_path / "out.log").stat().st_mode) == 0o600
    deadline_s = time.monotonic() + LIMIT_S
    while len(lines := (tmp_path / "out.log").read_text().splitlines()) < 4 and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert sorted(lines) == sorted(["1", "2", found["job"], f"Job has been submitted with JobID {found['job']}"])
    failed = subprocess.run([*command, "wrong.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert failed.returncode == 1 and "ZeroDivisionError" in failed.stderr and "out.log" in failed.stderr


def test_a_job_that_was_stopped_is_not_found_any_more(job: JobClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next command may name another job of that name: the first one has ended by then, however long its end takes."""
    end, gone = JobEndpoint._end, threading.Event()

    def late(endpoint: JobEndpoint, unregister: Callable[[], None]) -> None:
        threading.Timer(0.5, gone.set).start()
        assert gone.wait(LIMIT_S)
        end(endpoint, unregister)

    monkeypatch.setattr(JobEndpoint, "_end", late)
    stopped = wiesel("stop", "endless sums", "-p", "savepoints")
    assert stopped.exit_code == 0, stopped.output
    assert wiesel("list").output == "no job runs here\n"


def test_r6_a_job_is_rescaled_by_one_command(job: JobClient) -> None:
    job_id = str(job.get_job_id())
    assert wiesel("checkpoint", job_id).exit_code == 0
    done = wiesel("rescale", job_id[:6], "2")
    assert done.exit_code == 0, done.output
    first, heads, *rows = done.stdout.splitlines()
    assert first.startswith("the job goes on from checkpoint ") and heads.split("  ")[0] == "operators"
    # Half of the 128 key groups have left the only subtask.
    assert any(row.split("  ")[-1].strip() == "64 of 128 (50%)" for row in rows), done.output
    assert {v["parallelism"] for v in json.loads(wiesel("info", "--json", job_id).stdout)["vertices"]} == {2}
    assert wiesel("rescale", job_id, "2").stdout == "the job has this parallelism already\n"
    refused = wiesel("rescale", job_id, "129")
    assert refused.exit_code == 1 and "maximum parallelism is 128" in refused.output + str(refused.stderr)
    assert json.loads(wiesel("info", "--json", job_id).stdout)["state"] == "RUNNING"


def test_a_savepoint_that_fails_is_told(job: JobClient, directory: Path) -> None:
    (directory / "file").touch()
    for arguments in (("savepoint", "endless sums", "file"), ("savepoint", "endless sums"), ("stop", "endless sums")):
        failed = wiesel(*arguments)
        assert failed.exit_code == 1 and "directory" in failed.output + str(failed.stderr), arguments
        assert "JobRefusedError: no " in failed.output + str(failed.stderr)


@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize("command", ["cancel", "stop", "checkpoint", "savepoint", "info", "rescale"])
def test_a_job_that_does_not_run(command: str) -> None:
    failed = wiesel(command, "abcdef", *(["2"] if command == "rescale" else []))
    assert failed.exit_code == 1 and "no job 'abcdef' runs here; there are: none" in failed.output


@pytest.mark.usefixtures("directory")
def test_the_id_of_a_job_is_told_beside_what_its_program_prints(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "from wiesel.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1, 2]).print()\n"
        "print(env.execute('first').get_job_id())\n"
        "env.from_collection([3]).print()\n"
        "print(env.execute('second').get_job_id())\n"
    )
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'wiesel'; from wiesel.platform.cli import main; main()"]
    arguments = [*command, "run", "-D", "wiesel.engine=local", "job.py"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    one, two, first, three, second = done.stdout.split()
    assert (one, two, three) == ("1", "2", "3")
    assert done.stderr.splitlines() == [f"Job has been submitted with JobID {job_id}" for job_id in (first, second)]
