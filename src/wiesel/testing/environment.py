"""The environment of tests, whose jobs run in this process under the control of the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wiesel.common.job_client import JobClient
from wiesel.core import options as opt
from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.config import Configuration
from wiesel.core.user_location import program_error
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.testing._inputs import checked_timestamp
from wiesel.testing.collected import CollectedStream, CollectingSink
from wiesel.testing.job import PipelineJob
from wiesel.testing.snapshots import JobSnapshot, read_checkpoint
from wiesel.testing.source import manual_sources

__all__ = ["LocalEnvironment", "local_environment"]


class LocalEnvironment(StreamExecutionEnvironment):
    """An environment for tests; created by :func:`local_environment`.

    It accepts any program. ``execute()`` runs a bounded job to its end; :meth:`start` returns a job controlled by the test.
    """

    def collect(self, stream: DataStream) -> CollectedStream:
        """Collect the records of a stream, to be read while the job runs and afterwards."""
        require_instance(stream, DataStream, "the argument of collect()", "give a stream of this environment")
        if stream.get_execution_environment() is not self:
            raise program_error("the stream was made in another environment", "collect it with the environment that made it")
        sink = CollectingSink(f"collected-{self._new_collect_number()}")
        # One writer, so that records keep their order.
        stream._add_sink(sink, "Collected", "Sink: {}").set_parallelism(1)
        return CollectedStream(sink.receiver)

    def start(self, job_name: str | None = None, *, restore_from: JobSnapshot | str | None = None) -> PipelineJob:
        """Start the program and return the job, which only proceeds when the test lets it.

        Args:
            job_name: The name of the job.
            restore_from: A checkpoint to restore: the result of ``PipelineJob.checkpoint``, possibly of a job with another parallelism or
                an older version of the program; or the path of a checkpoint of a real job, which is only read.

        Raises:
            ProgramError: If the program is empty or invalid.
            StateMigrationError: If the checkpoint does not fit the program.
        """
        require_instance(restore_from, (JobSnapshot, str, type(None)), "restore_from", "give what checkpoint() returned, or a path")
        snapshot = read_checkpoint(restore_from) if isinstance(restore_from, str) else restore_from
        graph = self._generate_stream_graph(clear_transformations=True, job_name=job_name)
        return PipelineJob(graph, Configuration(self._config), snapshot)

    def _start(self, job_name: str | None) -> JobClient:
        for name, source in manual_sources(self._generate_stream_graph()).items():
            if not source.ended:
                raise program_error(
                    f"the source {name!r} has not ended, so the job would wait for ever",
                    "call end() on it before, or use start() and write to it while the job runs",
                )
        return super()._start(job_name)


def local_environment(
    *,
    parallelism: int = 1,
    seed: int = 0,
    start_time: int = 0,
    state_backend: str = "hashmap",
    config: Mapping[str, Any] | None = None,
) -> LocalEnvironment:
    """Return an environment whose jobs run in this process, without Spark and Java.

    Jobs are planned, run, checkpointed and recovered by the same code as on Spark, but in one thread, with a manual clock and a seeded
    order of events: runs of the same program with the same seed are equal.

    Two settings differ from the defaults, so that a test sees results immediately: records do not wait in buffers
    (``execution.buffer-timeout.interval`` is 0), and a job whose code fails is not restarted (``restart-strategy.type`` is ``none``; the
    job always recovers from injected failures). Checkpoints stay in memory, whatever directory is set.

    Args:
        parallelism: Default parallelism of operators.
        seed: Determines the order of concurrent events. See :func:`for_seeds`.
        start_time: Processing time at the start, in ms since the epoch.
        state_backend: ``hashmap``, ``lmdb`` or ``rocksdb``.
        config: Further options, by key; they override those above.
    """
    settings = {
        opt.ENGINE.key: "local",
        opt.LOCAL_SEED.key: require_count(seed, "seed", minimum=0),
        opt.LOCAL_START_TIME.key: checked_timestamp(start_time, "start_time"),
        opt.PARALLELISM_DEFAULT.key: require_count(parallelism, "parallelism"),
        opt.STATE_BACKEND.key: state_backend,
        opt.BUFFER_TIMEOUT.key: "0 ms",
        opt.RESTART_STRATEGY.key: "none",
        **(config or {}),
    }
    return LocalEnvironment(Configuration.from_dict(settings))
