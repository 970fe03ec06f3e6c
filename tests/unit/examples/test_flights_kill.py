"""The part of the demo that kills: it must not claim more than it has seen. The job is played by ``acting_driver.py``."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from examples.flights import kill

pytestmark = pytest.mark.slow


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(kill, "_PROGRAM", Path(__file__).with_name("acting_driver.py"))
    monkeypatch.setattr(kill.data, "prepare", lambda cache: cache)
    monkeypatch.setattr(kill.data, "count", lambda directory, days: 100)

    def run(how: str) -> tuple[int, str]:
        monkeypatch.setenv("PLAY", how)
        out = io.StringIO()
        options = argparse.Namespace(output=tmp_path / "out", cache=tmp_path, days=10.0, parallelism=2, speed_up=None)
        code = kill.run(Console(file=out, width=200), options)
        return code, out.getvalue()

    return run


def test_three_kills_and_three_recoveries(play: Any) -> None:
    code, text = play("")
    assert code == 0, text
    story = text[text.index("3. What happened") :]
    assert story.count("killed worker") == 2
    assert story.count("killed the driver") == 1
    for attempt in (2, 3, 4):
        assert f"attempt {attempt} went on from checkpoint" in story
    assert "its JVM and 2 workers ended by themselves" in story
    assert "hours: 2 lines, 0 missing, 0 too many" in story
    assert "outputs are equal" in story


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("repeats", "too many: x"),
        ("forgets", "began from checkpoint 0: nothing was recovered"),
        ("ignores", "the kill did not hit or nothing was recovered"),
        ("gives up", "the kill did not hit or nothing was recovered"),
    ],
)
def test_what_does_not_go_well_is_a_failure(play: Any, how: str, message: str) -> None:
    code, text = play(how)
    assert code == 1
    assert message in text
    assert "outputs are equal" not in text


def test_looks_are_told_from_other_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "driver.py"
    look = json.dumps({"job_id": "a"})
    program.write_text(f"print('noise'); print({look!r}); print({look[:-2]!r}, end=''); raise SystemExit('broken')")
    monkeypatch.setattr(kill, "_PROGRAM", program)
    options = argparse.Namespace(cache=tmp_path, days=None, parallelism=1)
    child = kill.Child(options, tmp_path / "out")
    assert list(child.looks()) == [{"job_id": "a"}]
    with pytest.raises(kill.DemoFailed, match=r"exit code 1:\s+broken"):
        child.must_have_succeeded()
    child.end()
