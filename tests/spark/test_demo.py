"""The demo on Spark, as ``make demo`` starts it, with a few days of the year."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.flights import data, report
from tests.unit.examples import batch

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "flights" / "run.py"


def demo(*arguments: str) -> str:
    done = subprocess.run([sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_results_are_those_of_a_batch_computation(tmp_path: Path) -> None:
    text = demo("--days", "4", "--output", str(tmp_path))
    assert "Departures from New York" in text
    on_time, late = batch.split_late(data.read_all(data.prepare(ROOT / ".cache" / "flights"), 4))
    assert len(on_time) > 3000
    hours = report.records(tmp_path / "hours")
    names = ("airport", "hour", "flights", "cancelled", "mean_delay_min", "max_delay_min", "delayed_share")
    assert Counter(tuple(hour[name] for name in names) for hour in hours) == batch.hours(on_time)
    build_ups = report.records(tmp_path / "build_ups")
    assert Counter((b["aircraft"], tuple(b["delays_min"])) for b in build_ups) == batch.build_ups(on_time)
    assert Counter(r["flight"] for r in report.records(tmp_path / "late")) == Counter(f"{f.carrier}{f.number}" for f in late)


@pytest.mark.slow
def test_kills_change_nothing(tmp_path: Path) -> None:
    text = demo("--kill", "--days", "20", "--output", str(tmp_path))
    assert text.count("killed worker") == 4  # told when it happens, and at the end
    assert text.count("killed the driver") == 2
    assert "attempt 4 went on from checkpoint" in text
    assert "outputs are equal" in text
