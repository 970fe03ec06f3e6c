"""What is missing for a job on Spark is named before Spark looks for it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.engine.dependencies import _said_by_pip
from wiesel.engine.spark.driver_jvm import find_java
from wiesel.engine.spark.session import spark_session


def test_a_wrong_java_home_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(ResourceError, match=r"the environment variable JAVA_HOME is '.*gone', but there is no program .*gone") as told:
        find_java(Configuration())
    assert "unset it" in str(told.value)
    with pytest.raises(ResourceError, match=r"the option env\.java\.home is '/nowhere'"):
        find_java(Configuration().set("env.java.home", "/nowhere"))


def test_a_master_that_does_not_answer_is_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    with pytest.raises(ResourceError, match=rf"the Spark master {master} does not answer \(127\.0\.0\.1:{port}: .*refused") as told:
        spark_session(Configuration().set("wiesel.spark.master", master), 1)
    assert "7077" in str(told.value)


def test_of_what_pip_prints_its_errors_are_shown() -> None:
    output = "WARNING: old\nERROR: Could not find a version that satisfies x==9\nERROR: No matching distribution found for x==9\n"
    assert _said_by_pip(output) == "Could not find a version that satisfies x==9\n  No matching distribution found for x==9"
    assert _said_by_pip("Traceback\n  No module named pip") == "Traceback No module named pip"
