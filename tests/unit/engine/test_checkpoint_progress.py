"""What a savepoint under way waits for, as tasks report it, in words, and what to do when it has expired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.unit.engine.test_unaligned_savepoints import in_the_midst, pipeline
from wiesel.checkpoint.messages import TaskProgress
from wiesel.core.errors import CheckpointError
from wiesel.engine.checkpoint_progress import checkpoint_progress, remedy
from wiesel.engine.registry import JobEntry
from wiesel.platform.cli import _jobs, main
from wiesel.platform.cli._progress import progress_lines
from wiesel.runtime.task import StreamTask
from wiesel.testing import ManualSource


def test_tasks_report_what_they_wait_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ManualSource()
    job, results = pipeline(numbers, tmp_path / "checkpoints", execution_checkpointing_timeout="5 s")
    with job:
        assert checkpoint_progress(job.master) == {"state": "COMPLETING", "waiting": []}
        in_the_midst(job, results, numbers)
        monkeypatch.setattr(StreamTask, "_upload", lambda *_: None)
        answer = job.ask(tmp_path / "savepoints", stop=True)
        seen: dict[str, dict[str, Any]] = {}
        for _ in range(400):
            job.step(3)
            job.master.progress_asked_ms = -1000
            for task in checkpoint_progress(job.master)["waiting"]:
                seen[task["reason"]] = task
        assert {"UNKNOWN", "BARRIER", "ALIGNING", "WRITING"} <= seen.keys()
        assert seen["ALIGNING"]["missing-barriers"] >= 1
        found = checkpoint_progress(job.master)
        assert (found["state"], found["tasks"], found["unaligned"]) == ("IN_PROGRESS", 7, False)
        assert {task["reason"] for task in found["waiting"]} == {"WRITING"}
        job.settle()
        job.advance_processing_time(5000)
        job.until(answer.done, "answer")
        with pytest.raises(CheckpointError, match="the job runs on") as caught:
            answer.result(0)
        assert f"'wiesel stop {job.master.job_id[:8]} --alignedTimeout 10s' includes records in flight" in str(caught.value)


def test_a_call_that_does_not_return_is_named(tmp_path: Path) -> None:
    job, _ = pipeline(ManualSource(), tmp_path / "checkpoints")
    with job:
        attempt = job.master.attempt
        attempt.progress[(1, 0)] = TaskProgress((1, 0), 0, 0, 1, 0, False, 600.0, {})
        told = remedy(attempt, {(1, 0), (2, 0)}, "wiesel stop x")
        assert told.startswith("'Map' (1/2) has been in one call of its function for 600 s: no savepoint")
        assert "execution.checkpointing.timeout" in remedy(attempt, {(2, 0)}, "wiesel stop x")


def task(name: str, reason: str, in_flight: int = 0, busy: int = 0, missing: int = 0) -> dict[str, Any]:
    return {"task": name, "reason": reason, "in-flight-bytes": in_flight, "busy": busy, "missing-barriers": missing}


def test_the_lines_name_first_what_is_busy() -> None:
    waiting = [
        task("'sink' (1/1)", "BARRIER"),
        task("'map' (1/2)", "BARRIER", 5000, 0, 2),
        task("'map' (2/2)", "ALIGNING", 3 << 20, 2500, 1),
        task("'a' (1/1)", "WRITING"),
        task("'b' (1/1)", "SOURCE"),
    ]
    assert progress_lines({"state": "IN_PROGRESS", "tasks": 7, "unaligned": False, "waiting": waiting}, 12.3) == [
        "waiting for 12 s: 5 of 7 tasks have not acknowledged",
        "  'map' (2/2): aligning: 1 barriers have not arrived behind 3.0 MB in flight; in one call of its function for 2.5 s",
        "  'map' (1/2): its barrier has not arrived behind 4.9 KB in flight",
        "  'sink' (1/1): its barrier has not arrived",
        "  'a' (1/1): writing its state",
        "  and 1 more",
    ]
    assert progress_lines({"state": "STARTING", "waiting": []}, 3) == ["waiting for 3 s: the tasks of the job are starting"]
    assert progress_lines({"state": "COMPLETING", "waiting": []}, 3) == [
        "waiting for 3 s: all tasks have acknowledged, it is being completed"
    ]


def test_the_client_prints_them_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = JobEntry(job_id="abc", name="name", pid=1, started_ms=0, address="http://127.0.0.1:1", token="token")
    progress = {"state": "IN_PROGRESS", "tasks": 2, "unaligned": True, "waiting": [task("'map' (1/1)", "RECORDING", 0, 0, 3)]}
    asked: list[str] = []

    def ask(_: JobEntry, method: str, path: str, body: Any = None) -> dict[str, Any]:
        asked.append(path)
        if method == "POST":
            assert body["alignedTimeout"] == "5s"
            return {"request-id": "7"}
        if len(asked) < 6:
            return {"status": {"id": "IN_PROGRESS"}, "operation": None, **({"progress": progress} if "progress" in path else {})}
        return {"status": {"id": "COMPLETED"}, "operation": {"location": "/there"}}

    monkeypatch.setattr(_jobs, "_find", lambda job: entry)
    monkeypatch.setattr(_jobs, "_ask", ask)
    monkeypatch.setattr(_jobs, "_wait_for_end", lambda entry: None)
    for name in ("_ASK_EVERY_S", "_SHOW_AFTER_S", "_REPORT_S"):
        monkeypatch.setattr(_jobs, name, 0.0)
    done = CliRunner().invoke(main, ["stop", "abc", "--json", "--alignedTimeout", "5s"])
    assert json.loads(done.stdout) == {"job": "abc", "location": "/there"}
    assert done.stderr.splitlines() == [
        "waiting for 0 s: 1 of 2 tasks have not acknowledged; its barriers do not wait for records any more",
        "  'map' (1/1): collecting the records before 3 barriers",
    ]
