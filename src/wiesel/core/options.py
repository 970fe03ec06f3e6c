"""Internal. All options: Flink's keys and defaults if Flink has the option, and Wiesel's own under ``wiesel.``.

``docs/configuration.md`` is generated from this module (``python -m wiesel.core.option_docs``).
"""

from __future__ import annotations

from typing import Any

from wiesel.core.config import ConfigOption, declare
from wiesel.core.durations import Duration
from wiesel.core.memory_size import MemorySize

_ms = Duration.of_millis
_s = Duration.of_seconds


def _option(key: str, type: Any, default: Any, description: str, *deprecated_keys: str, **bounds: Any) -> ConfigOption[Any]:
    return declare(ConfigOption(key, type, default, description, tuple(deprecated_keys), **bounds))


# --- The job and its parallelism ---------------------------------------------------------------------------------------------

PARALLELISM_DEFAULT: ConfigOption[int] = _option(
    "parallelism.default",
    "int",
    1,
    "Parallelism of operators for which the program sets none; "
    "if it is not set, the number of cores for jobs on this machine (local masters).",
    minimum=1,
)
MAX_PARALLELISM: ConfigOption[int] = _option(
    "pipeline.max-parallelism",
    "int",
    -1,
    "Number of key groups, and so the largest parallelism that keyed state can be rescaled to; -1 takes the smallest power of two "
    "that is at least 1.5 times the parallelism, and at least 128.",
    minimum=-1,
    maximum=32768,
)
PIPELINE_NAME: ConfigOption[str | None] = _option("pipeline.name", "str", None, "Name of the job where execute() gives none.")
AUTO_WATERMARK_INTERVAL: ConfigOption[Duration] = _option(
    "pipeline.auto-watermark-interval",
    "duration",
    _ms(200),
    "Interval at which watermark generators emit periodic watermarks; 0 switches periodic watermarks off.",
)
OPERATOR_CHAINING: ConfigOption[bool] = _option(
    "pipeline.operator-chaining.enabled",
    "bool",
    True,
    "Whether operators are chained into one task where possible, in which records pass by function call.",
    "pipeline.operator-chaining",
)
OBJECT_REUSE: ConfigOption[bool] = _option(
    "pipeline.object-reuse",
    "bool",
    False,
    "Accepted for Flink programs. Chained operators always pass the same object: a function must not change a record after "
    "emitting it.",
)
AUTO_GENERATE_UIDS: ConfigOption[bool] = _option(
    "pipeline.auto-generate-uids", "bool", True, "If false, every stateful operator must have a uid(), or the job is refused."
)
GLOBAL_JOB_PARAMETERS: ConfigOption[dict[str, str] | None] = _option(
    "pipeline.global-job-parameters", "map", None, "User parameters, readable in functions and shown for the job."
)
CACHED_FILES: ConfigOption[list[str] | None] = _option(
    "pipeline.cached-files",
    "list",
    None,
    "Files, by paths or URIs, to distribute to every worker, one entry 'name:n1,path:p1' each; functions access them by name.",
)
PYTHON_FILES: ConfigOption[str | None] = _option(
    "python.files", "str", None, "Modules, packages and archives for the workers' import path, separated by ','."
)
PYTHON_ARCHIVES: ConfigOption[str | None] = _option(
    "python.archives", "str", None, "Archives to unpack for each worker, separated by ','; 'path#name' unpacks under a name."
)
PYTHON_REQUIREMENTS: ConfigOption[str | None] = _option(
    "python.requirements",
    "str",
    None,
    "A requirements.txt to install for the workers; 'file#cached_directory' installs packages from a directory.",
)
PYTHON_EXECUTABLE: ConfigOption[str | None] = _option(
    "python.executable", "str", None, "Interpreter of the workers; the interpreter that runs the program if not set."
)
PYTHONPATH: ConfigOption[str | None] = _option("python.pythonpath", "str", None, "Directories prepended to the workers' import path.")
PYTHON_OPERATOR_CHAINING: ConfigOption[bool] = _option(
    "python.operator-chaining.enabled", "bool", True, "As pipeline.operator-chaining.enabled; either one switches chaining off."
)

# --- How records flow --------------------------------------------------------------------------------------------------------

RUNTIME_MODE: ConfigOption[str] = _option(
    "execution.runtime-mode",
    "enum",
    "STREAMING",
    "STREAMING runs all operators at once; BATCH one stage after the other, for bounded inputs, with final results only; AUTOMATIC "
    "chooses BATCH if all sources are bounded.",
    choices=("STREAMING", "BATCH", "AUTOMATIC"),
)
BUFFER_TIMEOUT: ConfigOption[Duration] = _option(
    "execution.buffer-timeout.interval",
    "duration",
    _ms(100),
    "Maximal delay before a partially filled buffer is sent; 0 sends every record at once.",
    "execution.buffer-timeout",
)
BUFFER_TIMEOUT_ENABLED: ConfigOption[bool] = _option(
    "execution.buffer-timeout.enabled", "bool", True, "If false, buffers are sent only when they are full or before an event."
)
SEGMENT_SIZE: ConfigOption[MemorySize] = _option(
    "taskmanager.memory.segment-size",
    "memory",
    MemorySize(32 << 10),
    "Size of a full buffer, if it is set and wiesel.exchange.row-size is not. Records emitted in one batch are not split.",
    minimum=256,
)
DEBLOAT: ConfigOption[bool] = _option(
    "taskmanager.network.memory.buffer-debloat.enabled",
    "bool",
    True,
    "Whether the data in flight to a slow task is limited to what it can process within the target, so that barriers do not "
    "wait behind more data. If it is not set, jobs with iterations and the local engine are exempt; with unaligned checkpoints it is "
    "always on, on Spark.",
)
DEBLOAT_TARGET: ConfigOption[Duration] = _option(
    "taskmanager.network.memory.buffer-debloat.target",
    "duration",
    Duration.of_seconds(1),
    "Target time in which a task should be able to consume the data in flight to it.",
    minimum=1,
)
DEBLOAT_PERIOD: ConfigOption[Duration] = _option(
    "taskmanager.network.memory.buffer-debloat.period", "duration", _ms(200), "Interval at which the limits are recomputed.", minimum=1
)
PARTITION_REQUEST_TIMEOUT: ConfigOption[Duration] = _option(
    "taskmanager.network.partition-request-timeout",
    "duration",
    _s(30),
    "Timeout of tasks for connecting to their producers, once all of them run. After it the attempt fails.",
    minimum=1,
)
MANAGED_MEMORY_SIZE: ConfigOption[MemorySize | None] = _option(
    "taskmanager.memory.managed.size",
    "memory",
    None,
    "Memory limit of the batch algorithms of one executor (sorting, hash joins, buffered data) before they spill to files; "
    "divided by the number of task slots this is the budget of each task. If it is not set, it follows from the fraction.",
    "taskmanager.memory.size",
)
MANAGED_MEMORY_FRACTION: ConfigOption[float] = _option(
    "taskmanager.memory.managed.fraction",
    "float",
    0.4,
    "Fraction of taskmanager.memory.flink.size that is managed memory, if its size is not set.",
    minimum=0.0,
    maximum=1.0,
)
FLINK_MEMORY_SIZE: ConfigOption[MemorySize | None] = _option(
    "taskmanager.memory.flink.size",
    "memory",
    None,
    "The memory of one executor's Python processes, of which managed memory is a fraction; 1280 MB if it is not set. Nothing is reserved.",
)
TASK_SLOTS: ConfigOption[int] = _option(
    "taskmanager.numberOfTaskSlots",
    "int",
    1,
    "Task slots (cores) of one executor on a cluster. If it is not set, the cluster manager decides.",
    minimum=1,
)
LATENCY_INTERVAL: ConfigOption[Duration] = _option(
    "metrics.latency.interval", "duration", _ms(0), "Interval at which sources send latency markers; 0 disables them."
)
ALIGNMENT_ALLOW_UNALIGNED_SPLITS: ConfigOption[bool] = _option(
    "pipeline.watermark-alignment.allow-unaligned-source-splits",
    "bool",
    False,
    "Whether watermark alignment may be used with sources that cannot pause single splits.",
)
EXCHANGE_ROW_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.exchange.row-size",
    "memory",
    MemorySize(64 << 10),
    "Size of a full buffer; slower channels use smaller ones (the data of 8 ms), so that less is in flight. Records emitted "
    "in one batch are not split.",
    minimum=1024,
)
SHARE_SLICES: ConfigOption[bool] = _option(
    "wiesel.windows.share-slices",
    "bool",
    False,
    "Whether sliding time windows that aggregate share slices: each record is added once, but functions must "
    "not depend on the order and grouping of records. share_slices() of a windowed stream enables it for one.",
)
CHANGELOG_PER_RECORD: ConfigOption[bool] = _option(
    "wiesel.table.changelog-per-record",
    "bool",
    False,
    "Whether in streaming queries each row emits separate changes, as in Flink without mini-batches, independent of batches; "
    "else a group, a partition or a key changes once for the rows of a batch. Aggregates have one phase then and do not wait for "
    "mini-batches.",
)
ITERATION_FEEDBACK_MEMORY: ConfigOption[MemorySize] = _option(
    "wiesel.iteration.feedback-memory",
    "memory",
    MemorySize(16 << 20),
    "Memory of each subtask for feedback records of an iteration; more of them are spilled to temporary files.",
)

# --- Checkpoints -------------------------------------------------------------------------------------------------------------

_CP = "execution.checkpointing."
CHECKPOINT_INTERVAL: ConfigOption[Duration | None] = _option(
    _CP + "interval", "duration", None, "Interval of checkpoints; without it there are none.", minimum=10
)
CHECKPOINT_MODE: ConfigOption[str] = _option(
    _CP + "mode", "enum", "EXACTLY_ONCE", "Guarantee for state after a failure.", choices=("EXACTLY_ONCE", "AT_LEAST_ONCE")
)
CHECKPOINT_TIMEOUT: ConfigOption[Duration] = _option(
    _CP + "timeout", "duration", Duration.of_minutes(10), "A checkpoint that takes longer is aborted.", minimum=10
)
CHECKPOINT_MIN_PAUSE: ConfigOption[Duration] = _option(
    _CP + "min-pause", "duration", _ms(0), "Minimal time between the end of one checkpoint and the start of the next."
)
CHECKPOINT_MAX_CONCURRENT: ConfigOption[int] = _option(
    _CP + "max-concurrent-checkpoints", "int", 1, "Maximal number of concurrent checkpoints.", minimum=1
)
CHECKPOINT_TOLERABLE_FAILURES: ConfigOption[int] = _option(
    _CP + "tolerable-failed-checkpoints", "int", 0, "Failed checkpoints in a row before the job fails.", minimum=0
)
CHECKPOINT_DIR: ConfigOption[str | None] = _option(
    _CP + "dir", "str", None, "Directory of the checkpoints.", "state.checkpoints.dir", "state.backend.fs.checkpointdir"
)
SAVEPOINT_DIR: ConfigOption[str | None] = _option(
    _CP + "savepoint-dir",
    "str",
    None,
    "Default directory of savepoints.",
    "state.savepoints.dir",
    "savepoints.state.backend.fs.dir",
)
CHECKPOINT_STORAGE: ConfigOption[str | None] = _option(
    _CP + "storage",
    "str",
    None,
    "'filesystem' (needs a directory) or 'jobmanager' (stored by the job's driver); a directory is used with both, and without the option.",
    "state.checkpoint-storage",
)
CHECKPOINT_NUM_RETAINED: ConfigOption[int] = _option(
    _CP + "num-retained", "int", 1, "Number of complete checkpoints to retain.", "state.checkpoints.num-retained", minimum=1
)
CHECKPOINT_RETENTION: ConfigOption[str] = _option(
    _CP + "externalized-checkpoint-retention",
    "enum",
    "NO_EXTERNALIZED_CHECKPOINTS",
    "Checkpoints retained after the job has ended: those of a job that has failed for good (the first), of one that has failed or was "
    "cancelled (the second), none (the third). Those of a finished job are never retained, those of one that lost its driver or JVM, or "
    "lacked slots, always do.",
    choices=("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS"),
)
CHECKPOINT_UNALIGNED: ConfigOption[bool] = _option(
    _CP + "unaligned.enabled",
    "bool",
    False,
    "Use unaligned checkpoints: records in flight become part of the checkpoint, which is fast under backpressure, but larger.",
    _CP + "unaligned",
)
CHECKPOINT_UNALIGNED_FORCED: ConfigOption[bool] = _option(
    _CP + "unaligned.forced", "bool", False, "Use unaligned checkpoints also where the program has iterations or custom partitioners."
)
CHECKPOINT_ALIGNED_TIMEOUT: ConfigOption[Duration] = _option(
    _CP + "aligned-checkpoint-timeout",
    "duration",
    _ms(0),
    "With unaligned checkpoints: time for aligning barriers before the checkpoint becomes unaligned; 0 for unaligned from the start.",
    _CP + "alignment-timeout",
)
SAVEPOINT_ALIGNED_TIMEOUT: ConfigOption[Duration | None] = _option(
    "wiesel.checkpointing.aligned-savepoint-timeout",
    "duration",
    None,
    "Time for aligning the barriers of a savepoint before it becomes unaligned, with records in flight as part of it. Not set: "
    "savepoints are always aligned, as in Flink.",
    minimum=0,
)
CHECKPOINT_AFTER_FINISH: ConfigOption[bool] = _option(
    _CP + "checkpoints-after-tasks-finish",
    "bool",
    True,
    "Whether checkpoints continue after some tasks have finished.",
    _CP + "checkpoints-after-tasks-finish.enabled",
)
CHECKPOINT_INCREMENTAL: ConfigOption[bool] = _option(
    _CP + "incremental",
    "bool",
    True,
    "Whether a checkpoint only contains changes. Flink's default is false because its default backend cannot; both of Wiesel's can.",
    "state.backend.incremental",
)
CHECKPOINT_COMPRESSION: ConfigOption[bool] = _option(_CP + "snapshot-compression", "bool", False, "Whether state files are compressed.")
CHECKPOINT_INTERVAL_BACKLOG: ConfigOption[Duration | None] = _option(
    _CP + "interval-during-backlog", "duration", None, "Interval while a source reports that it processes a backlog; 0 means none."
)
CHECKPOINT_INLINE_THRESHOLD: ConfigOption[MemorySize] = _option(
    _CP + "data-inline-threshold",
    "memory",
    MemorySize(20 << 10),
    "State files smaller than this travel inside the checkpoint's metadata.",
    "state.storage.fs.memory-threshold",
    "state.backend.fs.memory-threshold",
    maximum=1 << 20,
)
CHECKPOINT_DIRECT_IO: ConfigOption[str] = _option(
    "wiesel.checkpoint.direct-io",
    "enum",
    "auto",
    "Whether tasks write large state files in local directories with direct I/O: less work while the job runs, and no page cache is used, "
    "but a restore reads them from the disk. auto: when copying into the page cache takes a twentieth of a core or more.",
    choices=("true", "false", "auto"),
)
LOCAL_BACKUP: ConfigOption[bool] = _option(
    _CP + "local-backup.enabled",
    "bool",
    False,
    "Whether tasks store a second copy of the state files of their newest checkpoint on the disk of their host. Not set: if "
    "execution.state-recovery.from-local is set.",
)
LOCAL_BACKUP_DIRS: ConfigOption[str | None] = _option(
    _CP + "local-backup.dirs",
    "str",
    None,
    "Directories of the copies, separated by ','; by default the executor's working directory, with which they are deleted.",
    "taskmanager.state.local.root-dirs",
)
RECOVERY_FROM_LOCAL: ConfigOption[bool] = _option(
    "execution.state-recovery.from-local",
    "bool",
    False,
    "Whether a task restores state files from copies on its host, if there are any, instead of the storage.",
    "state.backend.local-recovery",
)
RECOVERY_PATH: ConfigOption[str | None] = _option(
    "execution.state-recovery.path", "str", None, "Checkpoint or savepoint that the job starts from.", "execution.savepoint.path"
)
RECOVERY_IGNORE_UNCLAIMED: ConfigOption[bool] = _option(
    "execution.state-recovery.ignore-unclaimed-state",
    "bool",
    False,
    "Whether the job may start if the savepoint has state of operators that the job does not have.",
    "execution.savepoint.ignore-unclaimed-state",
)
RECOVERY_CLAIM_MODE: ConfigOption[str] = _option(
    "execution.state-recovery.claim-mode",
    "enum",
    "NO_CLAIM",
    "Whether the job owns the snapshot it starts from and deletes it when it is no longer needed (CLAIM), or never modifies it.",
    "execution.savepoint-restore-mode",
    choices=("CLAIM", "NO_CLAIM", "LEGACY"),
)
STATE_BACKEND: ConfigOption[str] = _option(
    "state.backend.type",
    "str",
    "hashmap",
    "'hashmap' stores state as objects in memory; 'lmdb' and 'rocksdb' on disk with a cache in front, larger than memory. 'rocksdb' "
    "needs the extra of that name (pip install 'wiesel[rocksdb]'); 'forst' means lmdb here.",
    "state.backend",
)
LMDB_CACHE_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.state.lmdb.cache-size",
    "memory",
    MemorySize(64 << 20),
    "Object cache of the lmdb backend, per stateful operator and subtask.",
    minimum=1 << 10,
)
LMDB_RESIDENT_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.state.lmdb.resident-size",
    "memory",
    MemorySize(256 << 20),
    "Maximal size of the memory-mapped files of an lmdb backend; the rest is in the system's page cache only.",
)
LMDB_MAP_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.state.lmdb.map-size",
    "memory",
    MemorySize(16 << 30),
    "Address space (not memory, not disk) set aside at first for the state of one operator and subtask. It is enlarged when needed.",
    minimum=1 << 15,
)
ROCKSDB_CACHE_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.state.rocksdb.cache-size",
    "memory",
    MemorySize(64 << 20),
    "Object cache of the rocksdb backend, per stateful operator and subtask.",
    minimum=1 << 10,
)
ROCKSDB_BLOCK_CACHE_SIZE: ConfigOption[MemorySize] = _option(
    "state.backend.rocksdb.block.cache-size",
    "memory",
    MemorySize(64 << 20),
    "Memory for blocks, indexes and filters of RocksDB's files, per stateful operator and subtask.",
    minimum=1 << 10,
)
ROCKSDB_WRITE_BUFFER_SIZE: ConfigOption[MemorySize] = _option(
    "state.backend.rocksdb.writebuffer.size",
    "memory",
    MemorySize(64 << 20),
    "Size of RocksDB's write buffer, per stateful operator and subtask.",
    minimum=1 << 16,
)
ROCKSDB_WRITE_BUFFER_COUNT: ConfigOption[int] = _option(
    "state.backend.rocksdb.writebuffer.count",
    "int",
    2,
    "Maximal number of write buffers, including those being flushed.",
    minimum=1,
)

# --- Commits of sinks --------------------------------------------------------------------------------------------------------

COMMITTER_RETRIES: ConfigOption[int] = _option(
    "sink.committer.retries",
    "int",
    10,
    "How often what a committer wants to commit later is tried again before the job fails, and restarts.",
    minimum=0,
)
COMMITTER_FIRST_BACKOFF: ConfigOption[Duration] = _option(
    "wiesel.sink.committer.first-backoff",
    "duration",
    _ms(100),
    "Time before the first such retry; twice as long before each further one.",
    minimum=1,
)
COMMITTER_LONGEST_BACKOFF: ConfigOption[Duration] = _option(
    "wiesel.sink.committer.longest-backoff", "duration", _s(10), "Longest time before such a retry.", minimum=1
)

# --- Failures ----------------------------------------------------------------------------------------------------------------

_RS = "restart-strategy."
RESTART_STRATEGY: ConfigOption[str | None] = _option(
    _RS + "type",
    "str",
    None,
    "none (off, disable), fixed-delay (fixeddelay), exponential-delay (exponentialdelay) or failure-rate (failurerate). Without it: "
    "exponential-delay if checkpoints are on, else none.",
    "restart-strategy",
)
FIXED_DELAY_ATTEMPTS: ConfigOption[int] = _option(_RS + "fixed-delay.attempts", "int", 1, "Restarts before the job fails.", minimum=0)
FIXED_DELAY_DELAY: ConfigOption[Duration] = _option(_RS + "fixed-delay.delay", "duration", _s(1), "Time between failure and restart.")
EXPONENTIAL_INITIAL: ConfigOption[Duration] = _option(
    _RS + "exponential-delay.initial-backoff", "duration", _s(1), "Time before the first restart.", minimum=1
)
EXPONENTIAL_MAX: ConfigOption[Duration] = _option(
    _RS + "exponential-delay.max-backoff", "duration", _s(60), "Longest time before a restart.", minimum=1
)
EXPONENTIAL_MULTIPLIER: ConfigOption[float] = _option(
    _RS + "exponential-delay.backoff-multiplier", "float", 1.5, "Each time before a restart is this many times the last.", minimum=1
)
EXPONENTIAL_RESET: ConfigOption[Duration] = _option(
    _RS + "exponential-delay.reset-backoff-threshold",
    "duration",
    Duration.of_hours(1),
    "Time without failure after which the delay is reset to its initial value.",
)
EXPONENTIAL_JITTER: ConfigOption[float] = _option(
    _RS + "exponential-delay.jitter-factor", "float", 0.1, "Maximal random change of the delay, as a fraction of it.", minimum=0, maximum=1
)
EXPONENTIAL_ATTEMPTS: ConfigOption[int] = _option(
    _RS + "exponential-delay.attempts-before-reset-backoff",
    "int",
    2**31 - 1,
    "Number of restarts without such a period before the job fails.",
    minimum=0,
)
FAILURE_RATE_MAX: ConfigOption[int] = _option(
    _RS + "failure-rate.max-failures-per-interval",
    "int",
    1,
    "Maximal number of failures within the interval that lead to a restart.",
    minimum=1,
)
FAILURE_RATE_INTERVAL: ConfigOption[Duration] = _option(
    _RS + "failure-rate.failure-rate-interval", "duration", _s(60), "Interval in which failures are counted.", minimum=1
)
FAILURE_RATE_DELAY: ConfigOption[Duration] = _option(_RS + "failure-rate.delay", "duration", _s(1), "Time between failure and restart.")
HEARTBEAT_INTERVAL: ConfigOption[Duration] = _option(
    "heartbeat.interval", "duration", _s(10), "Interval of heartbeats from tasks to the JobMaster.", minimum=10
)
HEARTBEAT_TIMEOUT: ConfigOption[Duration] = _option(
    "heartbeat.timeout", "duration", _s(50), "Time without heartbeats after which a task or JobMaster is considered lost.", minimum=50
)
SLOT_REQUEST_TIMEOUT: ConfigOption[Duration] = _option(
    "slot.request.timeout",
    "duration",
    Duration.of_minutes(5),
    "Time that an attempt waits for free slots: executors may be starting, or be replaced. After it the job fails if it has never "
    "run, else the restart strategy decides.",
)
SCHEDULER: ConfigOption[str] = _option(
    "jobmanager.scheduler",
    "enum",
    "Default",
    "Adaptive: a streaming job also runs with fewer slots than desired, at a lower parallelism, and is rescaled when there are more.",
    choices=("Default", "Adaptive", "AdaptiveBatch"),
)
FAILOVER_STRATEGY: ConfigOption[str] = _option(
    "jobmanager.execution.failover-strategy",
    "str",
    "region",
    "Tasks that restart when a task fails. region: the tasks connected to it by edges; full: all tasks, as always with the "
    "adaptive scheduler.",
)
_AS = "jobmanager.adaptive-scheduler."
ADAPTIVE_WAIT: ConfigOption[Duration] = _option(
    _AS + "submission.resource-wait-timeout",
    "duration",
    Duration.of_minutes(5),
    "Time that a job waits for its minimal number of slots, which is that for parallelism 1 unless configured.",
    _AS + "resource-wait-timeout",
)
ADAPTIVE_STABLE_BEFORE_START: ConfigOption[Duration] = _option(
    _AS + "submission.resource-stabilization-timeout",
    "duration",
    _s(10),
    "Time that an attempt with sufficient slots waits for the desired ones.",
    _AS + "resource-stabilization-timeout",
)
ADAPTIVE_STABLE_BEFORE_RESCALING: ConfigOption[Duration] = _option(
    _AS + "executing.resource-stabilization-timeout",
    "duration",
    _s(60),
    "Time for which more slots must be available before a running job uses them; immediately if all desired ones are.",
)
ADAPTIVE_COOLDOWN: ConfigOption[Duration] = _option(
    _AS + "executing.cooldown-after-rescaling",
    "duration",
    _s(30),
    "Minimal run time of an attempt before it uses more slots.",
    _AS + "scaling-interval.min",
)
CANCELLATION_TIMEOUT: ConfigOption[Duration] = _option(
    "task.cancellation.timeout",
    "duration",
    Duration.of_minutes(3),
    "Time after cancellation at which a running task is killed with its process; 0 waits forever.",
)
CANCELLATION_INTERVAL: ConfigOption[Duration] = _option(
    "task.cancellation.interval", "duration", _s(30), "Interval of repeated cancellation.", "task.cancellation-interval"
)
USER_ERROR_POLICY: ConfigOption[str] = _option(
    "wiesel.user-error-policy",
    "enum",
    "fail",
    "Handling of an exception in a user's function: fail the job; skip the record and count it; or send the record with the error "
    "to the dead-letter side output.",
    choices=("fail", "skip", "side-output"),
)

# --- Processes ---------------------------------------------------------------------------------------------------------------

JAVA_HOME: ConfigOption[str | None] = _option("env.java.home", "str", None, "Java installation to run Spark with.")
JAVA_OPTS: ConfigOption[str] = _option("env.java.opts.all", "str", "", "Options for all JVMs.", "env.java.opts")
JAVA_OPTS_JOBMANAGER: ConfigOption[str] = _option("env.java.opts.jobmanager", "str", "", "Options for the driver's JVM.")
JAVA_OPTS_TASKMANAGER: ConfigOption[str] = _option("env.java.opts.taskmanager", "str", "", "Options for the executors' JVMs.")
REST_ENABLED: ConfigOption[bool] = _option(
    "wiesel.rest.enabled",
    "bool",
    True,
    "Whether a running job has a REST endpoint, which the commands of `wiesel` use; on the local engine only if this "
    "option is set.",
)
REST_ADDRESS: ConfigOption[str] = _option(
    "wiesel.rest.bind-address",
    "str",
    "127.0.0.1",
    "Address at which a job's REST endpoint listens: by default only this machine reaches it.",
)
REST_PORT: ConfigOption[int] = _option(
    "wiesel.rest.port", "int", 0, "Port of a job's REST endpoint; 0 chooses a free one.", minimum=0, maximum=65535
)
REGISTRY_DIR: ConfigOption[str | None] = _option(
    "wiesel.registry.dir",
    "str",
    None,
    "Directory of the registry of running jobs, used by the commands of `wiesel`; by default that of the environment variable "
    "`WIESEL_REGISTRY_DIR`, or a directory of the user.",
)
SNAPSHOT_KEY_FILE: ConfigOption[str | None] = _option(
    "wiesel.snapshots.key-file",
    "str",
    None,
    "File, readable by its user only, with the key that jobs sign the metadata of checkpoints and savepoints with and that "
    "`wiesel state read` checks; by default one that the first job creates in the directory of running jobs.",
)
ENGINE: ConfigOption[str] = _option(
    "wiesel.engine",
    "enum",
    "spark",
    "Where jobs run: on Spark, or in one process with a virtual clock for tests.",
    choices=("spark", "local"),
)
WARM_UP: ConfigOption[bool] = _option(
    "wiesel.spark.warm-up",
    "bool",
    True,
    "Whether the first job that a command of `wiesel` starts on an installation makes the archive of Java classes in a background "
    "process of low priority, as `wiesel warm-up` does. The environment variable `WIESEL_WARM_UP=off` turns it off, too.",
)
SQL_RESULT_MODE: ConfigOption[str] = _option(
    "sql-client.execution.result-mode",
    "enum",
    "TABLE",
    "How `wiesel sql` in a terminal shows the result of a query: as the resulting table (TABLE), as the latest changes "
    "(CHANGELOG), both on the whole screen, or line by line (TABLEAU).",
    choices=("TABLE", "CHANGELOG", "TABLEAU"),
)
SQL_MOST_ROWS: ConfigOption[int] = _option(
    "sql-client.execution.max-table-result.rows", "int", 1_000_000, "Maximal number of rows of a result in mode TABLE.", minimum=1
)
LOCAL_SEED: ConfigOption[int] = _option("wiesel.local.seed", "int", 0, "Decides the order of events on the local engine.")
LOCAL_START_TIME: ConfigOption[int] = _option(
    "wiesel.local.start-time-ms", "int", 0, "Start of the virtual clock of the local engine, in ms since the epoch."
)
SPARK_MASTER: ConfigOption[str | None] = _option(
    "wiesel.spark.master", "str", None, "Spark's master URL; without it a local master with as many slots as the job needs."
)
SPARK_CONF_PREFIX = "wiesel.spark.conf."
"""Settings under this prefix are passed to Spark without it; so are those that start with ``spark.``."""
