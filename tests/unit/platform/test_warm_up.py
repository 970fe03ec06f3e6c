"""The archive of Java classes is made in the background by the first job of an installation, and no other."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.engine.spark import class_archive
from wiesel.platform.cli import _warm_up


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directories of the archive, which are empty, and a java that only tells its version."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.9\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.delenv("WIESEL_WARM_UP")
    return tmp_path


@pytest.fixture
def started(places: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that has a line for each background process."""
    file = places / "started"
    monkeypatch.setattr(_warm_up, "_COMMAND", f"open({str(file)!r}, 'a').write('started\\n')")
    return file


def lines(file: Path, expected: int) -> int:
    deadline = time.monotonic() + 60
    while (found := len(file.read_text().splitlines()) if file.exists() else 0) < expected and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def config(**options: str) -> Configuration:
    return Configuration.from_dict(options)


def test_the_first_job_makes_it_and_says_so(started: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _warm_up.warm_up_in_background(config())
    assert capsys.readouterr().err.startswith("note: this is the first job of this installation")
    _warm_up.warm_up_in_background(config())
    assert capsys.readouterr().err == ""
    assert lines(started, 1) == 1


@pytest.mark.parametrize("options", [{"wiesel.engine": "local"}, {"wiesel.spark.warm-up": "false"}, {"env.java.home": "/nowhere"}])
def test_other_engines_and_those_who_do_not_want_it_make_none(started: Path, options: dict[str, str]) -> None:
    _warm_up.warm_up_in_background(config(**options))
    assert not list(started.parent.rglob("*.attempt")) and not started.exists()


def test_the_environment_variable_turns_it_off(started: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIESEL_WARM_UP", "off")
    _warm_up.warm_up_in_background(config())
    assert not list(started.parent.rglob("*.attempt"))


def test_nothing_is_made_where_there_is_one(places: Path) -> None:
    java = str(places / "jdk" / "bin" / "java")
    folder = places / "prefix" / "share" / "wiesel"
    folder.mkdir(parents=True)
    (folder / f"{class_archive._name(java)}-3.jsa").write_text("abc")
    assert not class_archive.claim_automatic_attempt(java)


def test_an_installation_that_cannot_be_written_is_left_alone(
    places: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = places / "file"
    file.write_text("")
    monkeypatch.setattr(sys, "prefix", str(file))
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    _warm_up.warm_up_in_background(config())
    assert capsys.readouterr().err == ""


def test_an_attempt_that_failed_is_repeated_after_a_day(places: Path) -> None:
    java = str(places / "jdk" / "bin" / "java")
    assert class_archive.claim_automatic_attempt(java)
    assert not class_archive.claim_automatic_attempt(java)
    (claim,) = places.rglob("*.attempt")
    yesterday = time.time() - 25 * 3600
    os.utime(claim, (yesterday, yesterday))
    assert class_archive.claim_automatic_attempt(java)
    assert not class_archive.claim_automatic_attempt(java)


def test_a_machine_without_java_says_nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: Configuration) -> str:
        raise ResourceError("no java")

    monkeypatch.setattr(_warm_up, "find_java", none)
    _warm_up.warm_up_in_background(config())
