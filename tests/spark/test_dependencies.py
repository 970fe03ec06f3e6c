"""What workers need besides the program reaches the workers of a Spark job."""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.parity.conftest import time_limit
from wiesel.common import Configuration
from wiesel.core.errors import ConfigurationError, JobExecutionError, ResourceError, UserFunctionError
from wiesel.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment


class UsesAll(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.cached = Path(runtime_context.get_distributed_cache().get_file("words")).read_text()

    def map(self, value: int) -> Any:
        import module_of_the_job

        return value, module_of_the_job.VALUE, Path("data/x.txt").read_text(), self.cached, Path(module_of_the_job.__file__).parent


def test_python_files_archives_and_cached_files_reach_every_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "module_of_the_job.py").write_text("VALUE = 'shipped'\n")
    (tmp_path / "x.txt").write_text("unpacked")
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        tar.add(tmp_path / "x.txt", "x.txt")
    (tmp_path / "w.txt").write_text("cached")
    monkeypatch.chdir(tmp_path)
    options = {"restart-strategy.type": "none", "wiesel.spark.master": "local[64]", "execution.checkpointing.dir": "checkpoints"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(2)
    env.enable_checkpointing(500)
    env.add_python_file("code/module_of_the_job.py")
    env.add_python_archive("a.tgz", "data")
    env.register_cached_file("w.txt", "words")
    with time_limit(300), env.from_collection([1, 2, 3]).rebalance().map(UsesAll()).execute_and_collect() as results:
        found = sorted(results)
    assert [row[:4] for row in found] == [(n, "shipped", "unpacked", "cached") for n in (1, 2, 3)]
    assert {row[4] for row in found} != {tmp_path / "code"}
    assert len({row[4] for row in found}) == 1


def test_the_interpreter_of_the_workers_is_the_one_that_was_set(tmp_path: Path) -> None:
    marked = tmp_path / "python"
    marked.write_text(f'#!/bin/sh\nMARK_OF_THE_TEST=seen exec {sys.executable} "$@"\n')
    marked.chmod(0o755)
    found = []
    for executable in (str(marked), None):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.spark.master": "local[64]"}))
        if executable:
            env.set_python_executable(executable)
        with time_limit(300), env.from_collection([1]).map(lambda _: os.environ.get("MARK_OF_THE_TEST")).execute_and_collect() as results:
            found += list(results)
    assert found == ["seen", None]
    env.set_python_executable(str(tmp_path / "nothing"))
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=r"python\.executable.*nothing"):
        env.execute()


def leaves(value: int) -> int:
    raise GeneratorExit(f"no more after {value}")


def test_what_keeps_a_task_from_running_reaches_the_program(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("a-package-that-nobody-has==1\n")
    (tmp_path / "packages").mkdir()
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.spark.master": "local[64]"}))
    env.from_collection([1]).map(leaves).print()
    with time_limit(300), pytest.raises(JobExecutionError) as ended:
        env.execute()
    assert isinstance(ended.value.__cause__, UserFunctionError)
    assert "GeneratorExit: no more after 1" in str(ended.value)
    assert f"at {__file__}:" in str(ended.value)
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "packages"))
    env.from_collection([1]).print()
    with time_limit(300), pytest.raises(JobExecutionError, match=r"pip could not install(?s:.*)a-package-that-nobody-has==1") as refused:
        env.execute()
    assert isinstance(refused.value.__cause__, ResourceError)
