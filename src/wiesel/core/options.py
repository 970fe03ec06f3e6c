"""Internal. All options: Flink's keys and defaults where Flink has the option, and Wiesel's own under ``wiesel.``.

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
    "where it is not set, the number of cores for jobs on this machine (local masters).",
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
    "How often watermark generators are asked for a watermark; 0 switches periodic watermarks off.",
)
OPERATOR_CHAINING: ConfigOption[bool] = _option(
    "pipeline.operator-chaining.enabled",
    "bool",
    True,
    "Whether operators that can be are put into one task, where records pass by function call.",
    "pipeline.operator-chaining",
)
OBJECT_REUSE: ConfigOption[bool] = _option(
    "pipeline.object-reuse",
    "bool",
    False,
    "Accepted for Flink programs. Chained operators always hand over the same object: a function must not change a record after "
    "it was emitted.",
)
AUTO_GENERATE_UIDS: ConfigOption[bool] = _option(
    "pipeline.auto-generate-uids", "bool", True, "If false, every stateful operator must have a uid(), or the job is refused."
)
GLOBAL_JOB_PARAMETERS: ConfigOption[dict[str, str] | None] = _option(
    "pipeline.global-job-parameters", "map", None, "Parameters of your own, to be read in functions and shown for the job."
)
CACHED_FILES: ConfigOption[list[str] | None] = _option(
    "pipeline.cached-files",
    "list",
    None,
    "Files, by paths or addresses, to bring to every worker, one entry 'name:n1,path:p1' each; functions find them by name.",
)
PYTHON_FILES: ConfigOption[str | None] = _option(
    "python.files", "str", None, "Modules, packages and archives for the workers' import path, with ',' between them."
)
PYTHON_ARCHIVES: ConfigOption[str | None] = _option(
    "python.archives", "str", None, "Archives to unpack beside each worker, with ',' between them; 'path#name' unpacks under a name."
)
PYTHON_REQUIREMENTS: ConfigOption[str | None] = _option(
    "python.requirements",
    "str",
    None,
    "A requirements.txt to install for the workers; 'file#cached_directory' takes packages from a directory.",
)
PYTHON_EXECUTABLE: ConfigOption[str | None] = _option(
    "python.executable", "str", None, "Interpreter of the workers; the interpreter that runs the program where not set."
)
PYTHONPATH: ConfigOption[str | None] = _option("python.pythonpath", "str", None, "Directories put in front of the workers' import path.")
PYTHON_OPERATOR_CHAINING: ConfigOption[bool] = _option(
    "python.operator-chaining.enabled", "bool", True, "As pipeline.operator-chaining.enabled; either one switches chaining off."
)

# --- How records flow --------------------------------------------------------------------------------------------------------

RUNTIME_MODE: ConfigOption[str] = _option(
    "execution.runtime-mode",
    "enum",
    "STREAMING",
    "STREAMING runs all operators at once; BATCH one stage after the other, for bounded inputs, with final results only; AUTOMATIC "
    "takes BATCH if all sources are bounded.",
    choices=("STREAMING", "BATCH", "AUTOMATIC"),
)
BUFFER_TIMEOUT: ConfigOption[Duration] = _option(
    "execution.buffer-timeout.interval",
    "duration",
    _ms(100),
    "How long a buffer that is not full waits before it is sent; 0 sends every record at once.",
    "execution.buffer-timeout",
)
BUFFER_TIMEOUT_ENABLED: ConfigOption[bool] = _option(
    "execution.buffer-timeout.enabled", "bool", True, "If false, buffers are sent only when they are full or before an event."
)
SEGMENT_SIZE: ConfigOption[MemorySize] = _option(
    "taskmanager.memory.segment-size",
    "memory",
    MemorySize(32 << 10),
    "Bytes of a full buffer, where it is set and wiesel.exchange.row-size is not. Records that come at one go are not divided.",
    minimum=256,
)
DEBLOAT: ConfigOption[bool] = _option(
    "taskmanager.network.memory.buffer-debloat.enabled",
    "bool",
    True,
    "Whether producers are kept from running further ahead of a slow task than it can process within the target, so that barriers do not "
    "wait behind more. If it is not set, jobs with iterations and the local engine are exempt; with unaligned checkpoints it is "
    "always on, on Spark.",
)
DEBLOAT_TARGET: ConfigOption[Duration] = _option(
    "taskmanager.network.memory.buffer-debloat.target",
    "duration",
    Duration.of_seconds(1),
    "In which time a task should be able to take what is on its way to it.",
    minimum=1,
)
DEBLOAT_PERIOD: ConfigOption[Duration] = _option(
    "taskmanager.network.memory.buffer-debloat.period", "duration", _ms(200), "How often that is worked out.", minimum=1
)
PARTITION_REQUEST_TIMEOUT: ConfigOption[Duration] = _option(
    "taskmanager.network.partition-request-timeout",
    "duration",
    _s(30),
    "How long tasks may take to connect to those that they read from, when all of them run. After it the attempt fails.",
    minimum=1,
)
MANAGED_MEMORY_SIZE: ConfigOption[MemorySize | None] = _option(
    "taskmanager.memory.managed.size",
    "memory",
    None,
    "What the batch algorithms of one executor (sorting, hash joins, data that wait) may take of memory before they go on in files; "
    "divided by the number of task slots it is the budget of each task. If it is not set, it follows from the fraction.",
    "taskmanager.memory.size",
)
MANAGED_MEMORY_FRACTION: ConfigOption[float] = _option(
    "taskmanager.memory.managed.fraction",
    "float",
    0.4,
    "The part of taskmanager.memory.flink.size that is managed memory, where its size is not set.",
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
    "Task slots (cores) of one executor on a cluster. Where it is not set the cluster manager decides.",
    minimum=1,
)
LATENCY_INTERVAL: ConfigOption[Duration] = _option(
    "metrics.latency.interval", "duration", _ms(0), "How often sources send latency markers; 0 sends none."
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
    "Bytes of a full buffer; slower channels have smaller ones (what they move in 8 ms), so that less is in flight. Records that come "
    "at one go are not divided.",
    minimum=1024,
)
SHARE_SLICES: ConfigOption[bool] = _option(
    "wiesel.windows.share-slices",
    "bool",
    False,
    "Whether sliding windows of time that aggregate share what they have in common: each record is added once, but functions must "
    "not depend on the order and grouping of records. share_slices() of a windowed stream says it for one.",
)
CHANGELOG_PER_RECORD: ConfigOption[bool] = _option(
    "wiesel.table.changelog-per-record",
    "bool",
    False,
    "Whether in streaming queries each row makes changes of its own, as in Flink without mini-batches, however rows fell into batches; "
    "else a group, a partition or a key changes once for the rows that come together. Aggregates have one phase then and do not wait for "
    "mini-batches.",
)
ITERATION_FEEDBACK_MEMORY: ConfigOption[MemorySize] = _option(
    "wiesel.iteration.feedback-memory",
    "memory",
    MemorySize(16 << 20),
    "How much of what is on its way back to the head of an iteration each subtask keeps in memory; the rest waits in temporary files.",
)

# --- Checkpoints -------------------------------------------------------------------------------------------------------------

_CP = "execution.checkpointing."
CHECKPOINT_INTERVAL: ConfigOption[Duration | None] = _option(
    _CP + "interval", "duration", None, "How often a checkpoint is started; without it there are none.", minimum=10
)
CHECKPOINT_MODE: ConfigOption[str] = _option(
    _CP + "mode", "enum", "EXACTLY_ONCE", "What state sees of each record after a failure.", choices=("EXACTLY_ONCE", "AT_LEAST_ONCE")
)
CHECKPOINT_TIMEOUT: ConfigOption[Duration] = _option(
    _CP + "timeout", "duration", Duration.of_minutes(10), "A checkpoint that takes longer is given up.", minimum=10
)
CHECKPOINT_MIN_PAUSE: ConfigOption[Duration] = _option(
    _CP + "min-pause", "duration", _ms(0), "Least time between the end of one checkpoint and the start of the next."
)
CHECKPOINT_MAX_CONCURRENT: ConfigOption[int] = _option(
    _CP + "max-concurrent-checkpoints", "int", 1, "Checkpoints that may be under way at once.", minimum=1
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
    "Directory of savepoints for which none is given.",
    "state.savepoints.dir",
    "savepoints.state.backend.fs.dir",
)
CHECKPOINT_STORAGE: ConfigOption[str | None] = _option(
    _CP + "storage",
    "str",
    None,
    "'filesystem' (needs a directory) or 'jobmanager' (kept by the job's driver); a directory is used with both, and without the option.",
    "state.checkpoint-storage",
)
CHECKPOINT_NUM_RETAINED: ConfigOption[int] = _option(
    _CP + "num-retained", "int", 1, "Complete checkpoints that are kept.", "state.checkpoints.num-retained", minimum=1
)
CHECKPOINT_RETENTION: ConfigOption[str] = _option(
    _CP + "externalized-checkpoint-retention",
    "enum",
    "NO_EXTERNALIZED_CHECKPOINTS",
    "Which checkpoints stay when the job has ended: those of a job that has failed for good (the first), of one that has failed or was "
    "cancelled (the second), none (the third). Those of a job that has finished never stay, those of one that lost its driver or JVM, or "
    "lacked slots, always do.",
    choices=("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS"),
)
CHECKPOINT_UNALIGNED: ConfigOption[bool] = _option(
    _CP + "unaligned.enabled",
    "bool",
    False,
    "Barriers overtake records, which become part of the checkpoint: fast under backpressure, larger.",
    _CP + "unaligned",
)
CHECKPOINT_UNALIGNED_FORCED: ConfigOption[bool] = _option(
    _CP + "unaligned.forced", "bool", False, "Use unaligned checkpoints also where the program has iterations or custom partitioners."
)
CHECKPOINT_ALIGNED_TIMEOUT: ConfigOption[Duration] = _option(
    _CP + "aligned-checkpoint-timeout",
    "duration",
    _ms(0),
    "With unaligned checkpoints: how long barriers are aligned before they overtake records; 0 overtakes at once.",
    _CP + "alignment-timeout",
)
SAVEPOINT_ALIGNED_TIMEOUT: ConfigOption[Duration | None] = _option(
    "wiesel.checkpointing.aligned-savepoint-timeout",
    "duration",
    None,
    "How long the barriers of a savepoint are aligned before they overtake records, which become part of the savepoint. Not set: "
    "savepoints are always aligned, as in Flink.",
    minimum=0,
)
CHECKPOINT_AFTER_FINISH: ConfigOption[bool] = _option(
    _CP + "checkpoints-after-tasks-finish",
    "bool",
    True,
    "Whether checkpoints go on when some tasks have finished.",
    _CP + "checkpoints-after-tasks-finish.enabled",
)
CHECKPOINT_INCREMENTAL: ConfigOption[bool] = _option(
    _CP + "incremental",
    "bool",
    True,
    "Whether a checkpoint holds only what changed. Flink's default is false because its default backend cannot; both of Wiesel's can.",
    "state.backend.incremental",
)
CHECKPOINT_COMPRESSION: ConfigOption[bool] = _option(_CP + "snapshot-compression", "bool", False, "Whether state files are compressed.")
CHECKPOINT_INTERVAL_BACKLOG: ConfigOption[Duration | None] = _option(
    _CP + "interval-during-backlog", "duration", None, "Interval while a source reports that it works off a backlog; 0 means none."
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
    "Whether tasks write large state files in local directories past the page cache: less work while the job runs, and memory stays with "
    "the others, but a restore reads them from the disk. auto: when the copies into the page cache take a twentieth of a core or more.",
    choices=("true", "false", "auto"),
)
LOCAL_BACKUP: ConfigOption[bool] = _option(
    _CP + "local-backup.enabled",
    "bool",
    False,
    "Whether tasks keep a second copy of the state files of their newest checkpoint on the disk of their host. Not set: if "
    "execution.state-recovery.from-local is.",
)
LOCAL_BACKUP_DIRS: ConfigOption[str | None] = _option(
    _CP + "local-backup.dirs",
    "str",
    None,
    "Where that copy is kept, with ',' between several directories; without it in the executor's working directory, with which it goes.",
    "taskmanager.state.local.root-dirs",
)
RECOVERY_FROM_LOCAL: ConfigOption[bool] = _option(
    "execution.state-recovery.from-local",
    "bool",
    False,
    "Whether a task takes state files from the copies on its host, if it starts where they are, instead of from the storage.",
    "state.backend.local-recovery",
)
RECOVERY_PATH: ConfigOption[str | None] = _option(
    "execution.state-recovery.path", "str", None, "Checkpoint or savepoint that the job starts from.", "execution.savepoint.path"
)
RECOVERY_IGNORE_UNCLAIMED: ConfigOption[bool] = _option(
    "execution.state-recovery.ignore-unclaimed-state",
    "bool",
    False,
    "Whether the job may start though the savepoint has state for operators that it does not have.",
    "execution.savepoint.ignore-unclaimed-state",
)
RECOVERY_CLAIM_MODE: ConfigOption[str] = _option(
    "execution.state-recovery.claim-mode",
    "enum",
    "NO_CLAIM",
    "Whether the job owns the snapshot it starts from and deletes it when it needs it no longer (CLAIM), or never touches it.",
    "execution.savepoint-restore-mode",
    choices=("CLAIM", "NO_CLAIM", "LEGACY"),
)
STATE_BACKEND: ConfigOption[str] = _option(
    "state.backend.type",
    "str",
    "hashmap",
    "'hashmap' keeps state as objects in memory; 'lmdb' and 'rocksdb' on disk with a cache in front, larger than memory. 'rocksdb' "
    "needs the extra of that name (pip install 'wiesel[rocksdb]'); 'forst' means lmdb here.",
    "state.backend",
)
LMDB_CACHE_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.state.lmdb.cache-size",
    "memory",
    MemorySize(64 << 20),
    "Memory for the objects that the lmdb backend of one stateful operator and subtask keeps in front of its disk.",
    minimum=1 << 10,
)
LMDB_RESIDENT_SIZE: ConfigOption[MemorySize] = _option(
    "wiesel.state.lmdb.resident-size",
    "memory",
    MemorySize(256 << 20),
    "How much of its files an lmdb backend may keep mapped into the process; what is beyond stays in the system's page cache only.",
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
    "Memory for the objects that the rocksdb backend of one stateful operator and subtask keeps in front of RocksDB.",
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
    "What RocksDB gathers in memory before it writes a file, per stateful operator and subtask.",
    minimum=1 << 16,
)
ROCKSDB_WRITE_BUFFER_COUNT: ConfigOption[int] = _option(
    "state.backend.rocksdb.writebuffer.count",
    "int",
    2,
    "How many such buffers there are at most, with those that are being written.",
    minimum=1,
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
    "After so long without failure the time starts again from the first.",
)
EXPONENTIAL_JITTER: ConfigOption[float] = _option(
    _RS + "exponential-delay.jitter-factor", "float", 0.1, "The time is changed at random by up to this part of it.", minimum=0, maximum=1
)
EXPONENTIAL_ATTEMPTS: ConfigOption[int] = _option(
    _RS + "exponential-delay.attempts-before-reset-backoff",
    "int",
    2**31 - 1,
    "Restarts without such a pause before the job fails.",
    minimum=0,
)
FAILURE_RATE_MAX: ConfigOption[int] = _option(
    _RS + "failure-rate.max-failures-per-interval",
    "int",
    1,
    "Failures within the interval that are still followed by a restart.",
    minimum=1,
)
FAILURE_RATE_INTERVAL: ConfigOption[Duration] = _option(
    _RS + "failure-rate.failure-rate-interval", "duration", _s(60), "The interval in which failures are counted.", minimum=1
)
FAILURE_RATE_DELAY: ConfigOption[Duration] = _option(_RS + "failure-rate.delay", "duration", _s(1), "Time between failure and restart.")
HEARTBEAT_INTERVAL: ConfigOption[Duration] = _option(
    "heartbeat.interval", "duration", _s(10), "How often tasks tell the JobMaster that they live.", minimum=10
)
HEARTBEAT_TIMEOUT: ConfigOption[Duration] = _option(
    "heartbeat.timeout", "duration", _s(50), "A task or JobMaster not heard of for so long counts as lost.", minimum=50
)
SLOT_REQUEST_TIMEOUT: ConfigOption[Duration] = _option(
    "slot.request.timeout",
    "duration",
    Duration.of_minutes(5),
    "How long an attempt waits for free slots: executors may be on their way, or be replaced. After it the job fails if it has never "
    "run, else the restart strategy decides.",
)
SCHEDULER: ConfigOption[str] = _option(
    "jobmanager.scheduler",
    "enum",
    "Default",
    "Adaptive: a streaming job also runs with fewer slots than it wants, at a lower parallelism, and is rescaled when more come.",
    choices=("Default", "Adaptive", "AdaptiveBatch"),
)
FAILOVER_STRATEGY: ConfigOption[str] = _option(
    "jobmanager.execution.failover-strategy",
    "str",
    "region",
    "What restarts when a task fails. region: the tasks that records connect it with; full: all tasks, which is always so with the "
    "adaptive scheduler.",
)
_AS = "jobmanager.adaptive-scheduler."
ADAPTIVE_WAIT: ConfigOption[Duration] = _option(
    _AS + "submission.resource-wait-timeout",
    "duration",
    Duration.of_minutes(5),
    "How long a job waits for the slots that it needs at least, with parallelism 1 where nothing else is required.",
    _AS + "resource-wait-timeout",
)
ADAPTIVE_STABLE_BEFORE_START: ConfigOption[Duration] = _option(
    _AS + "submission.resource-stabilization-timeout",
    "duration",
    _s(10),
    "How long an attempt that could start with fewer slots waits for those that it wants.",
    _AS + "resource-stabilization-timeout",
)
ADAPTIVE_STABLE_BEFORE_RESCALING: ConfigOption[Duration] = _option(
    _AS + "executing.resource-stabilization-timeout",
    "duration",
    _s(60),
    "How long there have to be more slots before a running job takes them; at once if there are all that it wants.",
)
ADAPTIVE_COOLDOWN: ConfigOption[Duration] = _option(
    _AS + "executing.cooldown-after-rescaling",
    "duration",
    _s(30),
    "How long an attempt runs at least before it takes more slots.",
    _AS + "scaling-interval.min",
)
CANCELLATION_TIMEOUT: ConfigOption[Duration] = _option(
    "task.cancellation.timeout",
    "duration",
    Duration.of_minutes(3),
    "A task that has not ended so long after it was cancelled is killed with its process; 0 waits for ever.",
)
CANCELLATION_INTERVAL: ConfigOption[Duration] = _option(
    "task.cancellation.interval", "duration", _s(30), "How often a task being cancelled is told again.", "task.cancellation-interval"
)
USER_ERROR_POLICY: ConfigOption[str] = _option(
    "wiesel.user-error-policy",
    "enum",
    "fail",
    "What an exception in a user's function does: fail the job; skip the record and count it; or send the record with the error "
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
    "Whether a running job has a REST endpoint of its own, by which the commands of `wiesel` reach it; on the local engine only if this "
    "is set.",
)
REST_ADDRESS: ConfigOption[str] = _option(
    "wiesel.rest.bind-address",
    "str",
    "127.0.0.1",
    "Address at which a job's REST endpoint listens: by default only this machine reaches it.",
)
REST_PORT: ConfigOption[int] = _option(
    "wiesel.rest.port", "int", 0, "Port of a job's REST endpoint; 0 takes one that is free.", minimum=0, maximum=65535
)
REGISTRY_DIR: ConfigOption[str | None] = _option(
    "wiesel.registry.dir",
    "str",
    None,
    "Directory of the files by which the commands of `wiesel` find running jobs; else that of the environment variable "
    "`WIESEL_REGISTRY_DIR`, or one of the user's own.",
)
SNAPSHOT_KEY_FILE: ConfigOption[str | None] = _option(
    "wiesel.snapshots.key-file",
    "str",
    None,
    "File, readable by its user only, with the key by which jobs sign the metadata of checkpoints and savepoints, and by which "
    "`wiesel state read` knows them; else one that the first job makes in the directory of running jobs.",
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
    "How `wiesel sql` in a terminal shows the result of a query: as the table that changes come to (TABLE), as the last changes "
    "(CHANGELOG), both on the whole screen, or line by line (TABLEAU).",
    choices=("TABLE", "CHANGELOG", "TABLEAU"),
)
SQL_MOST_ROWS: ConfigOption[int] = _option(
    "sql-client.execution.max-table-result.rows", "int", 1_000_000, "How many rows of a result are kept in mode TABLE.", minimum=1
)
LOCAL_SEED: ConfigOption[int] = _option("wiesel.local.seed", "int", 0, "Decides the order of events on the local engine.")
LOCAL_START_TIME: ConfigOption[int] = _option(
    "wiesel.local.start-time-ms", "int", 0, "Where the virtual clock of the local engine starts, in ms since the epoch."
)
SPARK_MASTER: ConfigOption[str | None] = _option(
    "wiesel.spark.master", "str", None, "Spark's master URL; without it a local master with as many slots as the job needs."
)
SPARK_CONF_PREFIX = "wiesel.spark.conf."
"""Settings under this prefix are handed to Spark without it; so are those that start with ``spark.``."""
