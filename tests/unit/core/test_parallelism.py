"""The parallelism where nothing sets one: cores on a local master, 1 elsewhere; real Flink's local environment does the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wiesel.common import Configuration
from wiesel.core import parallelism
from wiesel.core.parallelism import available_cores, default_parallelism, set_local_default_parallelism
from wiesel.datastream import StreamExecutionEnvironment


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(parallelism, "available_cores", lambda: 8)
    yield
    set_local_default_parallelism(None)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 8),
        ({"wiesel.spark.master": "local[160]"}, 8),
        ({"wiesel.spark.master": "local[64]"}, 4),
        ({"wiesel.spark.master": "local[8, 1]"}, 1),
        ({"wiesel.spark.master": "local[*]"}, 1),
        ({"spark.master": "local"}, 1),
        ({"wiesel.spark.master": "spark://host:7077"}, 1),
        ({"wiesel.spark.master": "local-cluster[2,8,1024]"}, 1),
        ({"wiesel.engine": "local"}, 1),
        ({"parallelism.default": "5"}, 5),
        ({"parallelism.default": "5", "wiesel.engine": "local"}, 5),
    ],
)
def test_cores_of_a_local_master_unless_something_is_set(eight_cores: None, settings: dict[str, str], expected: int) -> None:
    assert default_parallelism(Configuration.from_dict(settings)) == expected


def test_the_default_for_this_machine_is_for_later_environments(eight_cores: None) -> None:
    # As recorded with real Flink: 2, -1, 5 and 5 on two cores.
    before = StreamExecutionEnvironment.get_execution_environment()
    before.set_default_local_parallelism(5)
    after = StreamExecutionEnvironment.get_execution_environment()
    assert (before.get_parallelism(), before.get_default_local_parallelism()) == (8, 5)
    assert (after.get_parallelism(), after.get_config().get_parallelism()) == (5, 5)
    assert after.get_config().set_parallelism(-1).get_parallelism() == -1


@pytest.mark.parametrize(("quota", "expected"), [("max 100000", 6), ("250000 100000", 3), ("1000 100000", 1), ("9900000 100000", 6)])
def test_cores_are_those_of_the_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str, expected: int) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    monkeypatch.setattr(parallelism, "_CGROUP_QUOTA", file)
    monkeypatch.setattr(parallelism.os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    assert available_cores() == expected
