"""Internal. Interface of the engines to the facades: lookup, and the settings of a job as plain values."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, Protocol

from wiesel.checkpoint.coordinator import CheckpointSettings
from wiesel.checkpoint.local_copies import LocalBackup
from wiesel.checkpoint.state_files import absolute
from wiesel.common.job_client import JobClient
from wiesel.core import options as opt
from wiesel.core.config import ConfigOption, Configuration
from wiesel.core.durations import to_millis
from wiesel.core.errors import ConfigurationError
from wiesel.core.managed_memory import managed_memory_bytes
from wiesel.engine.sink_commits import CommitSettings
from wiesel.engine.unaligned import overtaking_savepoints, takes_unaligned
from wiesel.graph.job_graph import JobGraph
from wiesel.graph.specs import ITERATION_HEAD, ITERATION_TAIL, StreamGraph
from wiesel.graph.stage_plan import has_relays
from wiesel.runtime.task_services import DEBLOAT, HOLDS_PRODUCERS
from wiesel.state.factory import check_backend

_HANDED_ON = ("state.backend.", "wiesel.state.", opt.CHECKPOINT_INCREMENTAL.key, "table.", "wiesel.table.", "user.")
_ENGINES = {"spark": "wiesel.engine.spark.executor:SparkExecutor", "local": "wiesel.engine.local.executor:LocalExecutor"}


class Executor(Protocol):
    """Starts jobs."""

    def execute(self, graph: StreamGraph, config: Configuration) -> JobClient:
        """Start the job and return immediately.

        Raises:
            ProgramError: If the graph cannot be planned.
            ResourceError: If a required resource is missing.
        """
        ...


def get_executor(config: Configuration) -> Executor:
    """Return the engine that ``wiesel.engine`` names."""
    name = str(config.get(opt.ENGINE))
    target = _ENGINES.get(name)
    if target is None:
        raise ConfigurationError(f"there is no engine {name!r}", hint=f"set wiesel.engine to one of {', '.join(sorted(_ENGINES))}")
    module, _, cls = target.partition(":")
    executor: Executor = getattr(importlib.import_module(module), cls)()
    return executor


def duration_ms(config: Configuration, option: ConfigOption[Any]) -> int:
    """Return a duration option in ms."""
    return to_millis(config.get(option))


@dataclass(frozen=True)
class AdaptiveSettings:
    """Timeouts of the adaptive scheduler, in ms.

    Attributes:
        wait_ms: Time that an attempt waits for its minimal number of slots.
        stable_before_start_ms: Time that it then waits for the desired ones.
        stable_before_rescaling_ms: Time for which more slots must be available before a running job is rescaled, unless all are.
        cooldown_ms: Minimal time between the start of an attempt and rescaling.
    """

    wait_ms: int
    stable_before_start_ms: int
    stable_before_rescaling_ms: int
    cooldown_ms: int


@dataclass(frozen=True)
class JobSettings:
    """Options of a job for the engines, resolved once."""

    checkpoints: CheckpointSettings
    checkpoint_dir: str | None
    local_backup: LocalBackup
    savepoint_dir: str | None
    savepoint_overtake_after_ms: int | None
    restore_path: str | None
    claim_mode: str
    allow_non_restored: bool
    retain_on_cancellation: bool
    retain_on_failure: bool
    heartbeat_interval_ms: int
    heartbeat_timeout_ms: int
    slot_request_timeout_ms: int
    partition_request_timeout_ms: int
    cancellation_timeout_ms: int
    adaptive: AdaptiveSettings | None
    failover_strategy: str
    commits: CommitSettings
    task: dict[str, Any]
    snapshot_key: bytes | None = field(default=None, repr=False)
    """Signs the metadata of checkpoints and savepoints; None: they are not signed."""


def _check_storage(config: Configuration) -> None:
    """Check that the checkpoint storage is supported and consistent with the directory.

    Raises:
        ConfigurationError: If it is none of Flink's, or has no directory.
    """
    key = opt.CHECKPOINT_STORAGE.key
    kind = config.get(opt.CHECKPOINT_STORAGE)
    if kind is None:
        return
    if kind.lower() not in ("filesystem", "jobmanager"):
        raise ConfigurationError(f"option {key}: there is no storage {kind!r}", hint="write filesystem or jobmanager", key=key)
    if kind.lower() == "filesystem" and not config.get(opt.CHECKPOINT_DIR):
        hint = f"set {opt.CHECKPOINT_DIR.key} as well, or write jobmanager"
        raise ConfigurationError(f"option {key}: 'filesystem' needs a directory, and there is none", hint=hint, key=key)


def job_settings(config: Configuration, job: JobGraph | None = None) -> JobSettings:
    """Resolve the options of a job; one over bounded data takes no checkpoints, whatever its options."""
    interval = None if job is not None and job.of_bounded_data else config.get(opt.CHECKPOINT_INTERVAL)
    # As in Flink, an interval that is not set, or not positive, means no periodic checkpoints.
    interval_ms = None if interval is None or to_millis(interval) <= 0 else to_millis(interval)
    retention = str(config.get(opt.CHECKPOINT_RETENTION))
    _check_heartbeats(config)
    _check_storage(config)
    check_backend(str(config.get(opt.STATE_BACKEND)))
    return JobSettings(
        checkpoints=CheckpointSettings(
            interval_ms=interval_ms,
            timeout_ms=duration_ms(config, opt.CHECKPOINT_TIMEOUT),
            min_pause_ms=duration_ms(config, opt.CHECKPOINT_MIN_PAUSE),
            tolerable_failures=config.get(opt.CHECKPOINT_TOLERABLE_FAILURES),
            num_retained=config.get(opt.CHECKPOINT_NUM_RETAINED),
            overtake_after_ms=duration_ms(config, opt.CHECKPOINT_ALIGNED_TIMEOUT) if takes_unaligned(config) else None,
        ),
        checkpoint_dir=config.get(opt.CHECKPOINT_DIR),
        local_backup=_local_backup(config),
        savepoint_dir=config.get(opt.SAVEPOINT_DIR),
        savepoint_overtake_after_ms=duration_ms(config, opt.SAVEPOINT_ALIGNED_TIMEOUT) if overtaking_savepoints(config) else None,
        restore_path=config.get(opt.RECOVERY_PATH),
        claim_mode=str(config.get(opt.RECOVERY_CLAIM_MODE)),
        allow_non_restored=config.get(opt.RECOVERY_IGNORE_UNCLAIMED),
        retain_on_cancellation=retention == "RETAIN_ON_CANCELLATION",
        retain_on_failure=retention != "NO_EXTERNALIZED_CHECKPOINTS",
        heartbeat_interval_ms=duration_ms(config, opt.HEARTBEAT_INTERVAL),
        heartbeat_timeout_ms=duration_ms(config, opt.HEARTBEAT_TIMEOUT),
        slot_request_timeout_ms=duration_ms(config, opt.SLOT_REQUEST_TIMEOUT),
        partition_request_timeout_ms=duration_ms(config, opt.PARTITION_REQUEST_TIMEOUT),
        cancellation_timeout_ms=duration_ms(config, opt.CANCELLATION_TIMEOUT),
        adaptive=_adaptive_settings(config),
        failover_strategy=_failover_strategy(config),
        commits=CommitSettings(
            retries=config.get(opt.COMMITTER_RETRIES),
            first_backoff_ms=duration_ms(config, opt.COMMITTER_FIRST_BACKOFF),
            longest_backoff_ms=duration_ms(config, opt.COMMITTER_LONGEST_BACKOFF),
        ),
        task={
            **_task_config(config),
            "execution.checkpointing.enabled": interval_ms is not None,
            DEBLOAT: _debloat(config, job),
            HOLDS_PRODUCERS: _holds_producers(job),
        },
    )


def _holds_producers(job: JobGraph | None) -> bool:
    """Return whether an alignment may block the producers of the channels that it holds back.

    A blocked producer consumes nothing from its loop, and nothing to be relayed when its queue is full; the alignment may wait for that.
    """
    if job is None or has_relays(job):
        return False
    return not _has_loops(job)


def _has_loops(job: JobGraph) -> bool:
    return any(o.node.operator.kind in (ITERATION_HEAD, ITERATION_TAIL) for vertex in job.vertices for o in vertex.operators)


def _local_backup(config: Configuration) -> LocalBackup:
    """Return the settings of local copies of state: as in Flink, enabling reads enables writes."""
    read = config.get(opt.RECOVERY_FROM_LOCAL)
    write = config.get(opt.LOCAL_BACKUP) if config.contains(opt.LOCAL_BACKUP) else read
    directories = (directory.strip() for directory in (config.get(opt.LOCAL_BACKUP_DIRS) or "").split(","))
    return LocalBackup(tuple(absolute(directory) for directory in directories if directory), write, read)


def _adaptive_settings(config: Configuration) -> AdaptiveSettings | None:
    if config.get(opt.SCHEDULER) != "Adaptive":
        return None
    return AdaptiveSettings(
        duration_ms(config, opt.ADAPTIVE_WAIT),
        duration_ms(config, opt.ADAPTIVE_STABLE_BEFORE_START),
        duration_ms(config, opt.ADAPTIVE_STABLE_BEFORE_RESCALING),
        duration_ms(config, opt.ADAPTIVE_COOLDOWN),
    )


def _failover_strategy(config: Configuration) -> str:
    strategy = str(config.get(opt.FAILOVER_STRATEGY)).lower()
    if strategy not in ("region", "full"):
        raise ConfigurationError(f"{opt.FAILOVER_STRATEGY.key} is {strategy!r}", hint="use region or full")
    return strategy


def _check_heartbeats(config: Configuration) -> None:
    interval_ms, timeout_ms = duration_ms(config, opt.HEARTBEAT_INTERVAL), duration_ms(config, opt.HEARTBEAT_TIMEOUT)
    if interval_ms > timeout_ms:
        raise ConfigurationError(
            f"{opt.HEARTBEAT_TIMEOUT.key} ({timeout_ms} ms) is shorter than {opt.HEARTBEAT_INTERVAL.key} ({interval_ms} ms)",
            hint="every task would count as lost: make the interval a fraction of the timeout",
        )


def _debloat(config: Configuration, job: JobGraph | None) -> tuple[int, int] | None:
    """Return target and period in ms, or None without limits.

    By default limits bound the data that a barrier waits behind: not in BATCH mode, where consumers start when the producers have finished,
    not in loops, whose producers wait for themselves, and not on the local engine, which queues few rows per exchange.
    """
    if job is not None and job.of_bounded_data:
        return None
    on_spark = config.get(opt.ENGINE) != "local"
    wanted = config.get(opt.DEBLOAT) if config.contains(opt.DEBLOAT) else on_spark and job is not None and not _has_loops(job)
    # The records in flight in an unaligned checkpoint must be bounded too.
    if not wanted and not (on_spark and takes_unaligned(config)):
        return None
    return duration_ms(config, opt.DEBLOAT_TARGET), duration_ms(config, opt.DEBLOAT_PERIOD)


def _buffer_bytes(config: Configuration) -> int:
    """Return the size of a full buffer; Flink's option is used if it is set and ours is not."""
    flinks = config.contains(opt.SEGMENT_SIZE) and not config.contains(opt.EXCHANGE_ROW_SIZE)
    return int(config.get(opt.SEGMENT_SIZE if flinks else opt.EXCHANGE_ROW_SIZE))


def _task_config(config: Configuration) -> dict[str, Any]:
    """Return the configuration for tasks, as plain values: durations in ms, sizes in bytes."""
    return {
        "execution.runtime-mode": str(config.get(opt.RUNTIME_MODE)),
        "pipeline.object-reuse": bool(config.get(opt.OBJECT_REUSE)),
        "pipeline.auto-watermark-interval": duration_ms(config, opt.AUTO_WATERMARK_INTERVAL),
        opt.ALIGNMENT_ALLOW_UNALIGNED_SPLITS.key: config.get(opt.ALIGNMENT_ALLOW_UNALIGNED_SPLITS),
        "pipeline.global-job-parameters": config.get(opt.GLOBAL_JOB_PARAMETERS) or {},
        "execution.checkpointing.mode": str(config.get(opt.CHECKPOINT_MODE)),
        "state.backend.type": str(config.get(opt.STATE_BACKEND)),
        "wiesel.user-error-policy": str(config.get(opt.USER_ERROR_POLICY)),
        "wiesel.exchange.row-size": _buffer_bytes(config),
        "wiesel.iteration.feedback-memory": int(config.get(opt.ITERATION_FEEDBACK_MEMORY)),
        "heartbeat.interval": duration_ms(config, opt.HEARTBEAT_INTERVAL),
        opt.MANAGED_MEMORY_SIZE.key: managed_memory_bytes(config),
        opt.CHECKPOINT_INLINE_THRESHOLD.key: config.get(opt.CHECKPOINT_INLINE_THRESHOLD).bytes,
        opt.CHECKPOINT_DIRECT_IO.key: config.get(opt.CHECKPOINT_DIRECT_IO),
        **{k: v for k, v in config.to_dict().items() if k.startswith(_HANDED_ON)},
    }
