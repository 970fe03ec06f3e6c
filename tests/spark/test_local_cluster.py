"""Jobs on two executors, each a JVM of its own with its own workers: the records are those of real Flink, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pyspark
import pytest

from tests.differential.canonical import difference
from tests.differential.programs_loader import GOLDENS
from tests.spark.cluster_witness import DIRECTORY
from wiesel.engine.registry import ENVIRONMENT_VARIABLE

SPARK = Path(pyspark.__file__).parent
PROGRAM = Path(__file__).with_name("cluster_program.py")
MASTER = "local-cluster[2,8,640]"
PROGRAMS = (
    "key_by_reduce_count:streaming-p2",
    "window_late_side_output:streaming-p2",
    "graph_diamond:streaming-p2",
    "union_streams:streaming-p2",
    "batch_word_count:batch-p3",
)
LIMIT_S = 500
GONE_S = 90


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Run all of it in one driver, whose session is not that of the other tests; return what it has printed."""
    directory = tmp_path_factory.mktemp("cluster")
    installed = contents(SPARK)
    temporary = Path(tempfile.mkdtemp(prefix="t-"))  # with a short path: the names of sockets in it may not be long
    witnesses = directory / "witnesses"
    witnesses.mkdir()
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), MASTER, *PROGRAMS],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
            env={
                **os.environ,
                "TMPDIR": str(temporary),
                "SPARK_LOCAL_DIRS": str(temporary),
                "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary}",
                DIRECTORY: str(witnesses),
                ENVIRONMENT_VARIABLE: str(directory / "jobs"),
            },
        )
    try:
        out, _ = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, (directory / "log").read_text()[-3000:]
        must_vanish(process.pid)
    finally:
        for left in family(process.pid):
            with suppress(psutil.NoSuchProcess):  # it has ended since
                left.kill()
        process.wait()
        left_over = os.listdir(temporary)
        shutil.rmtree(temporary)
    assert not left_over, "temporary files were left behind"
    assert contents(SPARK) == installed, "executors have written into the installation of Spark"
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def contents(directory: Path) -> set[Path]:
    return {*directory.iterdir(), *(directory / "work").glob("*")}


def family(session: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def must_vanish(session: int) -> None:
    deadline_s = time.monotonic() + GONE_S
    while left := family(session):
        assert time.monotonic() < deadline_s, f"still there after {GONE_S} s: {[p.cmdline()[:6] for p in left]}"
        time.sleep(0.1)


def golden(name: str, variant: str) -> list[Any]:
    recorded = json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))["results"]
    value = recorded[variant]
    return recorded[value] if isinstance(value, str) else value


@pytest.mark.parametrize("given", PROGRAMS)
def test_same_records_as_real_flink_from_tasks_on_both_executors(results: list[dict[str, Any]], given: str) -> None:
    name, _, variant = given.partition(":")
    (result,) = (r for r in results if r.get("program") == name)
    problem = difference(golden(name, variant), result["records"])
    assert not problem, problem
    assert len(set(result["executors"])) == 2, f"{len(result['executors'])} tasks ran on one executor"
    assert set(result["executors"]) == set(results[0]["executors"]), "executors were replaced in between"


def test_i12_a_cached_file_is_read_once_by_each_executor_and_without_the_cache_by_each_task(results: list[dict[str, Any]]) -> None:
    (reads,) = (r["reads"] for r in results if "reads" in r)
    assert reads["cached"] == {"texts": ["served"], "reads": 2}
    assert reads["direct"] == {"texts": ["served"], "reads": 5}


def test_a_job_waits_for_slots_and_gives_up_in_the_end(results: list[dict[str, Any]]) -> None:
    result = results[-1]
    refusal = result["refusal"]
    assert refusal["cause"] == "NoResourceAvailableError"
    assert "the job needs 8 slots at the same time, local-cluster[2,8,640] had 6 free after " in refusal["message"]
    assert "slot.request.timeout" in refusal["message"]
    assert result["before"] == [None] * 8, "the job did not wait"
    assert result["status"] == "FINISHED"
