"""A pipeline under the control of a test, with its checkpoints on the disk: what restarts and other jobs find there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.engine.base import JobSettings, job_settings
from wiesel.engine.local.executor import NEVER_MS
from wiesel.testing import CollectedStream, ManualSource, local_environment
from wiesel.testing.environment import LocalEnvironment
from wiesel.testing.job import PipelineJob


class StoredJob(PipelineJob):
    """As on Spark the configuration says where checkpoints lie and what the job starts from."""

    _steps_to_end_max = 1_000_000

    def _settings(self, config: Configuration) -> JobSettings:
        return replace(job_settings(config), heartbeat_timeout_ms=NEVER_MS)

    @property
    def master(self) -> Any:
        return self._master

    @property
    def directory(self) -> Path:
        return Path(self._master.settings.checkpoint_dir) / self._master.job_id

    def store(self) -> str:
        """Take a checkpoint and return its path."""
        return str(self.directory / f"chk-{self.checkpoint().checkpoint.checkpoint_id}")

    def savepoint(self, directory: Path | str | None = None, **options: Any) -> str:
        """Take a savepoint and return its path."""
        answer = self.ask(directory, **options)
        self.until(answer.done, "answer")
        return str(answer.result(0))

    def ask(self, directory: Path | str | None = None, **options: Any) -> Future[str]:
        return self.master.savepoint(None if directory is None else str(directory), **options)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        self._until(condition, what)


class Total(KeyedProcessFunction):
    """Emits the sum of all numbers of the key."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        yield value[0], self.sum.value()


def environment(checkpoints: Path | None, parallelism: int = 1, **config: Any) -> LocalEnvironment:
    """Return an environment; names of options are given with ``_`` for ``.`` and ``__`` for ``-``."""
    settings = {key.replace("__", "-").replace("_", "."): value for key, value in config.items()}
    if checkpoints is not None:
        # Jobs under test are cancelled at their end; what they leave is what others start from.
        retain = {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
        # Little state is enough for files of its own.
        files = {"execution.checkpointing.dir": str(checkpoints), "execution.checkpointing.data-inline-threshold": "4 kb"}
        settings = {**files, "execution.checkpointing.interval": "1 d", **retain, **settings}
    return local_environment(parallelism=parallelism, config=settings)


def start(env: LocalEnvironment) -> StoredJob:
    return StoredJob(env._generate_stream_graph(clear_transformations=True), Configuration(env._config), None)


def totals(
    numbers: ManualSource,
    checkpoints: Path | None,
    restore: str | None = None,
    claim: str = "NO_CLAIM",
    parallelism: int = 1,
    **config: Any,
) -> tuple[StoredJob, CollectedStream]:
    """Start a job with the running total of each key; return it with its results."""
    if restore is not None:
        config |= {"execution_state__recovery_path": restore, "execution_state__recovery_claim__mode": claim}
    env = environment(checkpoints, parallelism, **config)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    sums = stream.key_by(lambda pair: pair[0], Types.STRING()).process(Total(), Types.TUPLE([Types.STRING(), Types.LONG()])).uid("total")
    results = env.collect(sums)
    return start(env), results
