"""Handles, results and settings of jobs. Values of PyFlink's getters were read from PyFlink 2.3."""

from __future__ import annotations

import datetime
from concurrent.futures import Future
from typing import Any

import pytest

from wiesel.common import (
    CompletableFuture,
    Configuration,
    Duration,
    ExecutionConfig,
    JobClient,
    JobExecutionResult,
    JobID,
    JobStatus,
    RestartStrategies,
)
from wiesel.core.errors import JobExecutionError, ProgramError


def test_states_of_jobs() -> None:
    ended = {status for status in JobStatus if status.is_globally_terminal_state()}
    assert ended == {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}
    assert {status for status in JobStatus if status.is_terminal_state()} == ended | {JobStatus.SUSPENDED}


def test_job_ids() -> None:
    assert len(str(JobID())) == 32
    assert JobID() != JobID()
    assert JobID("0" * 32) == JobID("0" * 32)
    with pytest.raises(ProgramError, match="'x' is not a job id"):
        JobID("x")


def test_futures() -> None:
    future: Future[int] = Future()
    later = CompletableFuture(future, str)
    assert (later.done(), later.exception(), str(later)) == (False, None, "CompletableFuture[Not completed]")
    with pytest.raises(TimeoutError):
        later.result(timeout_s=0)
    future.set_result(5)
    assert (later.done(), later.result(), str(later)) == (True, "5", "CompletableFuture[Completed normally]")
    assert not later.cancel()
    assert CompletableFuture.completed(1).result() == 1


def test_futures_that_fail() -> None:
    future: Future[int] = Future()
    future.set_exception(JobExecutionError("no"))
    later: CompletableFuture[int] = CompletableFuture(future)
    assert isinstance(later.exception(), JobExecutionError)
    assert str(later) == "CompletableFuture[Completed exceptionally]"
    with pytest.raises(JobExecutionError):
        later.result()
    waiting: CompletableFuture[int] = CompletableFuture(Future())
    assert waiting.cancel()
    assert (waiting.cancelled(), waiting.exception()) == (True, None)


class Handle:
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def _done(self, call: Any, value: Any) -> Future[Any]:
        self.calls.append(call)
        future: Future[Any] = Future()
        future.set_result(value)
        return future

    def status(self) -> Future[JobStatus]:
        return self._done("status", JobStatus.RUNNING)

    def cancel(self) -> Future[None]:
        return self._done("cancel", None)

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> Future[str]:
        return self._done(("stop", advance_to_end_of_event_time, savepoint_directory), "/sp")

    def trigger_savepoint(self, savepoint_directory: str | None) -> Future[str]:
        return self._done(("savepoint", savepoint_directory), "/sp")

    def accumulators(self) -> Future[dict[str, Any]]:
        return self._done("accumulators", {"n": 1})

    def metrics(self) -> Future[dict[str, Any]]:
        return self._done("metrics", {"restarts": 2})

    def result(self) -> Future[JobExecutionResult]:
        return self._done("result", JobExecutionResult(JobID("a" * 32), 12, {"n": 3}))


def test_a_client_asks_the_engine() -> None:
    handle = Handle()
    client = JobClient(JobID("a" * 32), handle)
    assert str(client.get_job_id()) == "a" * 32
    assert client.get_job_status().result() is JobStatus.RUNNING
    client.cancel().result()
    assert client.stop_with_savepoint(True).result() == "/sp"
    assert client.trigger_savepoint("/d").result() == "/sp"
    assert client.get_accumulators().result() == {"n": 1}
    assert client.get_job_metrics().result() == {"restarts": 2}
    result = client.get_job_execution_result().result()
    assert (result.get_net_runtime(), result.get_accumulator_result("n"), result.get_accumulator_result("x")) == (12, 3, None)
    assert result.get_all_accumulator_results() == {"n": 3}
    assert "Job with JobID " + "a" * 32 + " has finished." in str(result)
    assert "Job Runtime: 12 ms" in str(result)
    assert handle.calls == ["status", "cancel", ("stop", True, None), ("savepoint", "/d"), "accumulators", "metrics", "result"]


def test_execution_config_starts_as_in_flink() -> None:
    config = ExecutionConfig()
    assert config.get_auto_watermark_interval() == 200
    assert config.get_latency_tracking_interval() == 0
    assert config.get_max_parallelism() == -1
    assert config.get_task_cancellation_interval() == 30000
    assert config.get_task_cancellation_timeout() == 180000
    assert config.get_global_job_parameters() == {}
    assert config.has_auto_generated_uids_enabled()
    assert config.is_closure_cleaner_enabled()
    assert not config.is_object_reuse_enabled()
    assert not config.is_use_snapshot_compression()


def test_execution_config_writes_the_configuration() -> None:
    configuration = Configuration()
    config = ExecutionConfig(configuration)
    chained = (
        config.set_parallelism(7)
        .set_max_parallelism(256)
        .set_auto_watermark_interval(50)
        .set_global_job_parameters({"a": 1})
        .disable_auto_generated_uids()
        .enable_object_reuse()
        .set_parallelism(ExecutionConfig.PARALLELISM_UNKNOWN)
    )
    assert chained is config
    assert configuration.to_dict() == {
        "parallelism.default": "7",
        "pipeline.max-parallelism": "256",
        "pipeline.auto-watermark-interval": "50 ms",
        "pipeline.global-job-parameters": "a:1",
        "pipeline.auto-generate-uids": "false",
        "pipeline.object-reuse": "true",
    }
    assert (config.get_parallelism(), config.get_global_job_parameters()) == (7, {"a": "1"})
    assert config.set_parallelism(ExecutionConfig.PARALLELISM_DEFAULT).get_parallelism() == -1


@pytest.mark.parametrize(
    "action",
    [
        lambda config: config.set_parallelism(0),
        lambda config: config.set_max_parallelism(0),
        lambda config: config.set_max_parallelism(-1),
        lambda config: config.set_max_parallelism(40000),
        lambda config: config.set_auto_watermark_interval(-1),
    ],
)
def test_execution_config_refuses(action: Any) -> None:
    with pytest.raises(ProgramError):
        action(ExecutionConfig())


def test_settings_about_java_are_remembered() -> None:
    config = ExecutionConfig().disable_closure_cleaner().enable_force_kryo().disable_generic_types().enable_force_avro()
    assert (config.is_closure_cleaner_enabled(), config.is_force_kryo_enabled()) == (False, True)
    assert (config.has_generic_types_disabled(), config.is_force_avro_enabled()) == (True, True)
    assert config != ExecutionConfig()


def test_restart_strategies_are_settings() -> None:
    fixed = RestartStrategies.fixed_delay_restart(3, 10_000)
    assert fixed.get_restart_attempts() == 3
    assert fixed.get_delay_between_attempts_interval() == datetime.timedelta(seconds=10)
    rate = RestartStrategies.failure_rate_restart(3, datetime.timedelta(minutes=5), Duration.of_seconds(2))
    exponential = RestartStrategies.exponential_delay_restart(1000, 60_000, 2.0, 3_600_000, 0.1)
    for strategy in (fixed, rate, exponential, RestartStrategies.no_restart(), RestartStrategies.fall_back_restart()):
        assert Configuration.from_dict(strategy.to_settings()).to_dict() == strategy.to_settings()
        assert strategy.get_description()
    assert rate.to_settings() == {
        "restart-strategy.type": "failure-rate",
        "restart-strategy.failure-rate.max-failures-per-interval": "3",
        "restart-strategy.failure-rate.failure-rate-interval": "5 min",
        "restart-strategy.failure-rate.delay": "2 s",
    }
    assert fixed == RestartStrategies.fixed_delay_restart(3, Duration.of_seconds(10))
    assert fixed != rate
    with pytest.raises(TypeError, match="delay_between_attempts_interval"):
        RestartStrategies.fixed_delay_restart(3, "soon")  # type: ignore[arg-type]
