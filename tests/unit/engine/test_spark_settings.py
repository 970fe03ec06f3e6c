"""What Spark is told, from the options of a job and the kind of its master."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from wiesel.core.config import Configuration
from wiesel.core.errors import ConfigurationError
from wiesel.engine.base import job_settings
from wiesel.engine.spark import driver_jvm
from wiesel.engine.spark.session_settings import session_settings

EXECUTORS = {
    "heartbeat.interval": "1 s",
    "heartbeat.timeout": "20 s",
    "taskmanager.numberOfTaskSlots": "3",
    "env.java.opts.all": "-Dall=1",
    "env.java.opts.jobmanager": "-Ddriver=1",
    "env.java.opts.taskmanager": "-Dexecutor=1",
}


@pytest.fixture(autouse=True)
def archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_jvm, "archive_options", lambda java, options: "-XX:SharedArchiveFile=x.jsa")


def settings(master: str, **options: str) -> dict[str, str]:
    return session_settings(Configuration.from_dict({**EXECUTORS, **options}), master, "java")


def test_executors_of_a_cluster() -> None:
    found = settings("spark://host:7077")
    assert found["spark.executor.cores"] == "3"
    assert found["spark.executor.heartbeatInterval"] == "1000ms"
    assert found["spark.storage.blockManagerHeartbeatTimeoutMs"] == "20000ms"
    assert found["spark.network.timeoutInterval"] == "4000ms"
    assert "-Dall=1" in found["spark.executor.extraJavaOptions"] and "-Dexecutor=1" in found["spark.executor.extraJavaOptions"]
    assert "-Ddriver=1" not in found["spark.executor.extraJavaOptions"]
    assert "-XX:SharedArchiveFile=x.jsa" in found["spark.driver.extraJavaOptions"]
    assert "-XX:SharedArchiveFile" not in found["spark.executor.extraJavaOptions"], "executors may run on other machines"
    assert "-Ddriver=1" in found["spark.driver.extraJavaOptions"] and "-Dexecutor=1" not in found["spark.driver.extraJavaOptions"]
    assert "spark.executor.memory" not in found and "spark.driver.host" not in found


def test_executors_of_a_local_cluster_have_the_memory_that_its_name_says() -> None:
    found = settings("local-cluster[2,3,640]")
    assert found["spark.executor.memory"] == "640m"
    assert found["spark.driver.host"] == "127.0.0.1"


def test_no_executors_of_their_own_in_one_process() -> None:
    assert not [key for key in settings("local[4]") if key.startswith("spark.executor.")]


def test_spark_accepts_no_rarer_reports_of_executors_than_its_own() -> None:
    found = settings("yarn", **{"heartbeat.interval": "5 min", "heartbeat.timeout": "30 min"})
    assert found["spark.executor.heartbeatInterval"] == "10000ms"


def test_settings_that_the_user_names_win() -> None:
    assert settings("yarn", **{"spark.executor.cores": "7"})["spark.executor.cores"] == "7"


def test_a_timeout_shorter_than_the_interval_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"heartbeat.timeout \(20000 ms\) is shorter than heartbeat.interval \(30000 ms\)"):
        job_settings(Configuration.from_dict({"heartbeat.interval": "30 s", "heartbeat.timeout": "20 s"}))


def test_log4j_tells_nothing_of_its_own_troubles() -> None:
    """It does so at ERROR by default: a trace of its stack where there is no network and the machine's name cannot be resolved."""
    settings = Path(driver_jvm.__file__).with_name("log4j2.properties").read_text().splitlines()
    assert "status = off" in settings


@pytest.mark.parametrize("name", ["short", "long" * 20])
def test_files_of_a_local_master_are_in_a_directory_that_nobody_else_can_enter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    temporary = tmp_path / name
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    driver_jvm._private_directory.cache_clear()
    driver_jvm._socket_directory.cache_clear()
    before = os.umask(0)
    try:
        found = settings("local[4]")
    finally:
        os.umask(before)
        driver_jvm._private_directory.cache_clear()
        driver_jvm._socket_directory.cache_clear()
    private = Path(found["spark.local.dir"])
    assert private.parent == temporary
    assert f"-Djava.io.tmpdir={private}" in found["spark.driver.extraJavaOptions"]
    sockets = Path(found["spark.python.unix.domain.socket.dir"])
    assert len(str(sockets)) <= 60
    assert private.stat().st_mode & 0o777 == sockets.stat().st_mode & 0o777 == 0o700


def test_the_user_chooses_where_spark_keeps_its_files() -> None:
    assert settings("local[4]", **{"spark.local.dir": "/data"})["spark.local.dir"] == "/data"


def test_the_jvm_of_a_cluster_has_the_directory_for_temporary_files_of_the_program() -> None:
    found = settings("spark://host:7077")
    assert f"-Djava.io.tmpdir={tempfile.gettempdir()}" in found["spark.driver.extraJavaOptions"]
    assert "spark.local.dir" not in found


def test_no_secret_is_on_the_command_line_of_the_jvm() -> None:
    found = settings(
        "local[4]",
        **{"spark.driver.password": "x", "spark.jars.repositories": "https://user:hunter2@host/maven", "spark.driver.memory": "1g"},
    )
    shown = driver_jvm.launched_with(found)
    assert shown["spark.driver.memory"] == "1g"
    assert not shown.keys() & {"spark.driver.password", "spark.jars.repositories"}


def test_the_jvm_is_started_without_the_incubator_module_that_it_would_warn_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = tmp_path / "a java" / "bin" / "java"
    real.parent.mkdir(parents=True)
    real.write_text('#!/bin/sh\nfor a; do echo "$a"; done\necho "$JAVA_HOME"\n')
    real.chmod(0o700)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a java"))
    monkeypatch.setattr(driver_jvm, "_private_directory", lambda: str(tmp_path))
    home = driver_jvm.launching_home()

    def said(*arguments: str) -> list[str]:
        environment = {**os.environ, "JAVA_HOME": home}
        command = [os.path.join(home, "bin", "java"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()

    given = ["-Da=b c", "--add-modules=jdk.incubator.vector", "--add-modules=java.sql", "org.apache.spark.deploy.SparkSubmit", "it's"]
    assert said(*given) == [given[0], *given[2:], str(tmp_path / "a java")]
    assert said("org.apache.spark.launcher.Main", "x") == ["org.apache.spark.launcher.Main", "x", home]
