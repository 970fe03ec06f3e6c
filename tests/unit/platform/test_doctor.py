"""``wiesel doctor`` judges the machine it is given: here machines made of small scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wiesel.platform.cli import _doctor


def machine_with_java(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    """Make ``JAVA_HOME`` a folder whose java tells this version; None leaves it empty."""
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    if version is not None:
        java = home / "bin" / "java"
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-16' >&2\n")
        java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))


def finding(subject: str) -> _doctor.Finding:
    return next(found for found in _doctor.examine() if found.subject == subject)


@pytest.mark.parametrize(("version", "major"), [("17.0.9", 17), ("1.8.0_392", 8), ("21", 21), ("22-ea", 22), ("", 0)])
def test_the_feature_release_of_a_java_version(version: str, major: int) -> None:
    assert _doctor.java_major(version) == major


@pytest.mark.parametrize(("version", "good"), [("17.0.9", True), ("21.0.1", True), ("1.8.0_392", False), ("11.0.22", False), (None, False)])
def test_java_is_judged_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, good: bool) -> None:
    machine_with_java(tmp_path, monkeypatch, version)
    found = finding("Java")
    assert found.good is good
    assert ("openjdk-17-jre-headless" in found.remedy) is not good


def test_without_java_home_java_is_looked_for_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not finding("Java").good
    assert _doctor.java_version() == ""


def test_the_workers_python_must_be_the_same_minor_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3.7\n")
    other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert finding("Python of the workers").good
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    assert "PYSPARK_PYTHON must be" in finding("Python of the workers").remedy
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "gone"))
    assert "does not start" in finding("Python of the workers").text


def test_another_spark_is_not_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_doctor, "_installed", lambda package: "3.5.1")
    assert finding("PySpark").remedy == "pip install pyspark==4.3.0"
