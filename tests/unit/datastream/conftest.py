"""An environment, and an engine that runs nothing and remembers what it was given."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from wiesel.common.job_client import JobClient
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_id import JobID
from wiesel.core.errors import JobCancelledError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.engine import base


def done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


class FakeHandle:
    """A job that ends when the test says so."""

    def __init__(self) -> None:
        self.ended: Future[JobExecutionResult] = Future()
        self.cancels = 0

    def cancel(self) -> Future[None]:
        self.cancels += 1
        if not self.ended.done():
            self.ended.set_exception(JobCancelledError("cancelled"))
        return done(None)

    def result(self) -> Future[JobExecutionResult]:
        return self.ended


class FakeEngine:
    """Remembers graphs and configurations; its jobs finish at once unless ``finishes`` is False."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.configs: list[Any] = []
        self.handles: list[FakeHandle] = []
        self.finishes = True

    def execute(self, graph: Any, config: Any) -> JobClient:
        handle = FakeHandle()
        self.graphs.append(graph)
        self.configs.append(config)
        self.handles.append(handle)
        job_id = JobID()
        if self.finishes:
            handle.ended.set_result(JobExecutionResult(job_id))
        return JobClient(job_id, handle)  # type: ignore[arg-type]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr(base, "get_executor", lambda config: fake)
    return fake


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
