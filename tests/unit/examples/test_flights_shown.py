"""What the demo shows: the look at a running job, the tables at the end."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from examples.flights import report
from examples.flights.data import DAY_MS, FIRST_DAY_MS, HOUR_MS
from examples.flights.progress import Progress, Reading
from examples.flights.source import BOUND_MS

MAX_WATERMARK = 2**63 - 1


def task(vertex: int, subtask: int, name: str, pid: int | None = 7, **metrics: Any) -> dict[str, Any]:
    return {"name": name, "vertex": vertex, "subtask": subtask, "source": vertex == 0, "pid": pid, "metrics": metrics}


def look(*, pid: int | None = 7, source_ms: int = FIRST_DAY_MS + 2 * DAY_MS, job_ms: int = FIRST_DAY_MS + DAY_MS) -> dict[str, Any]:
    read = {"Source: flights.numRecordsOut": 500, "on time.numRecordsOut": 499, "currentOutputWatermark": source_ms}
    return {
        "job_id": "a",
        "status": "RUNNING",
        "attempt": 3,
        "restarts": 2,
        "checkpoints": {
            "completed": 4,
            "failed": 0,
            "restored_id": 2,
            "last_id": 6,
            "last_duration_ms": 120,
            "last_written_bytes": 5_000,
            "last_state_bytes": 60_000,
        },
        "tasks": [
            task(0, 0, "Source: flights -> on time", pid, **read, busyTimeMsPerSecond=400),
            task(0, 1, "Source: flights -> on time", pid, **{**read, "currentOutputWatermark": source_ms + HOUR_MS}),
            task(1, 0, "airport hours -> hours as JSON", pid, currentInputWatermark=job_ms, **{"hours as JSON.numRecordsOut": 40}),
        ],
    }


def test_a_look_at_a_running_job() -> None:
    reading = Reading(look())
    assert (reading.status, reading.attempt, reading.restarts) == ("running", 3, 2)
    assert (reading.read, reading.written) == (1000, {"hours": 40, "build_ups": 0, "late": 0})
    assert reading.event_time == "2013-01-02 00:00"
    assert reading.lag == "1 day, 1:30"  # of the newest report, which is ahead of its watermark by the bound
    assert BOUND_MS == HOUR_MS / 2
    assert reading.fraction(days=4) == 0.5
    assert [(o.name, o.subtasks, o.records) for o in reading.operators] == [("flights", 2, 1000), ("airport hours", 1, 0)]


def test_a_look_before_the_job_runs_and_at_its_end() -> None:
    before = look(pid=None)
    for t in before["tasks"]:
        t["metrics"] = {}
    assert (Reading(before).status, Reading(before).event_time, Reading(before).fraction(4)) == ("0 of 3 tasks run", "not begun", 0.0)
    after = Reading(look(source_ms=MAX_WATERMARK - HOUR_MS, job_ms=MAX_WATERMARK))
    assert (after.event_time, after.lag, after.fraction(4)) == ("at its end", "-", 1.0)


def test_lines_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    with Progress(Console(file=out), total=2000, days=4) as progress:
        progress.show(look())
        progress.show(look())  # too early for a second line
        progress.show(look(), last=True)
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    assert "in   1,000" in lines[0]
    assert "checkpoint 6 (120 ms, 5 of 60 kB)  restarts 2" in lines[0]


def test_a_panel_on_a_terminal() -> None:
    out = io.StringIO()
    with Progress(Console(file=out, force_terminal=True, width=120), total=2000, days=4) as progress:
        progress.show(look())
    text = out.getvalue()
    for part in ("1,000 of 2,000 records", "40 hours, 0 build-ups, 0 late", "1 day, 1:30 behind", "airport hours", "40 %, 0 %"):
        assert part in text, part


def test_only_visible_files_count(tmp_path: Path) -> None:
    for name, text in (("a.jsonl", "1\n2\n"), ("b/c.jsonl", "2\n"), (".d.jsonl", "3\n"), ("_e/f", "4\n"), (".g/h", "5\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert report.multiset(tmp_path) == {"1": 1, "2": 2}


def test_the_tables(tmp_path: Path) -> None:
    def hour(airport: str, at: int, flights: int, mean: float | None) -> dict[str, Any]:
        none = mean is None
        start = f"2013-07-10T{at:02}:00-04:00"
        figures = {"mean_delay_min": mean, "max_delay_min": None if none else 300, "delayed_share": None if none else 0.5}
        return {"airport": airport, "hour": start, "flights": flights, "cancelled": 2, **figures}

    def build_up(since: str, delays: list[int]) -> dict[str, Any]:
        return {"aircraft": "N1", "carrier": "B6", "since": since, "legs": ["JFK-BOS"] * len(delays), "delays_min": delays}

    results = {
        "hours": [hour("JFK", 8, 10, 30.0), hour("JFK", 9, 30, 70.0), hour("JFK", 10, 2, 900.0), hour("LGA", 4, 0, None)],
        "build_ups": [
            build_up("2013-07-10T08:00-04:00", [1, 2, 3]),
            build_up("2013-07-10T08:00-04:00", [1, 2, 3, 44]),
            build_up("2013-07-12T08:00-04:00", [5, 6, 7]),
        ],
        "late": [{"reported_after_min": 125}, {"reported_after_min": 300}],
    }
    for name, rows in results.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "part").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = io.StringIO()
    report.print_report(Console(file=out, width=150), tmp_path, total=1000)
    text = out.getvalue()
    # The mean over 42 flights, not over three hours: (300 + 2100 + 1800) / 42.
    assert "100.0 min" in text
    worst = [line for line in text.splitlines() if "Wed 10 Jul" in line and "Kennedy" in line]
    assert [line.split("│")[3].strip() for line in worst] == ["30", "10"]
    assert "1 > 2 > 3 > 44" in text
    assert "2 build-ups of three or more legs" in text
    assert "2 of 1,000 reports (2.0 per mille)" in text
    assert "5 h 0 min" in text
