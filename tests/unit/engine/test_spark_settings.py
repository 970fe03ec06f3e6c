"""What Spark is told, from the options of a job and the kind of its master."""

from __future__ import annotations

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
