"""Internal. Keys of Flink or of the user that Wiesel does not read."""

from __future__ import annotations

__all__ = ["NAMESPACES", "is_free", "is_ignored", "reason"]

NAMESPACES = frozenset(
    (
        "parallelism pipeline execution state restart-strategy taskmanager jobmanager heartbeat python metrics task slot env sql-client "
        "wiesel"
    ).split()
)
"""First parts of keys below which an unknown key is considered a mistake."""

_FREE_PREFIXES = ("user.", "spark.", "wiesel.spark.conf.", "s3.", "fs.", "table.", "containerized.", "metrics.reporter.", "env.hadoop.")
"""Prefixes under which any key is accepted silently."""

_IGNORED_PREFIXES = {
    "state.backend.rocksdb.": "only the sizes of RocksDB's caches and write buffers can be set",
    "state.backend.forst.": "state lives in hashmap, lmdb or rocksdb",
    "state.changelog.": "both backends write changelogs anyway",
    "state.backend.changelog.": "both backends write changelogs anyway",
    "state.latency-track.": "state access is not tracked",
    "state.backend.latency-track.": "state access is not tracked",
    "state.size-track.": "state access is not tracked",
    "cleanup-strategy.": "there is no such service",
    "kubernetes.": "Spark's Kubernetes settings apply (spark.kubernetes.*)",
    "yarn.": "Spark's YARN settings apply (spark.yarn.*)",
    "taskmanager.memory.": "executors get their memory from Spark (spark.executor.memory, spark.executor.pyspark.memory)",
    "taskmanager.network.": "the exchange is Spark's shuffle",
    "jobmanager.memory.": "the driver gets its memory from Spark (spark.driver.memory)",
    "jobmanager.adaptive-scheduler.": "a job that is rescaled takes a checkpoint for it",
    "jobmanager.adaptive-": "there is no such scheduler",
    "jobmanager.": "the JobMaster is the Spark driver",
    "taskmanager.": "task managers are Spark executors",
    "metrics.": "not part of Wiesel's metrics",
    "python.fn-execution.": "functions run in the task itself, with no bundles between processes",
    "python.map-state.": "state lives in the task itself",
    "python.state.": "state lives in the task itself",
    "execution.async-state.": "state lives in the task itself",
    "execution.batch.": "there is no such scheduler",
    "execution.checkpointing.file-merging.": "small state travels inside the checkpoint's metadata",
    "sql-client.display.": "the SQL client has one style",
    "sql-client.verbose": "errors always have their location and a hint",
}
_JVM = "there are no classes of the JVM in a job; connectors are Python packages"
_IGNORED_KEYS = {
    **dict.fromkeys(("pipeline.jars", "pipeline.classpaths"), _JVM),
    "jobmanager.execution.failover-strategy": "after a failure all regions of a job restart",
    **dict.fromkeys(
        (
            "pipeline.closure-cleaner-level pipeline.force-avro pipeline.force-kryo pipeline.force-kryo-avro pipeline.generic-types "
            "pipeline.serialization-config pipeline.default-kryo-serializers pipeline.registered-kryo-types pipeline.registered-pojo-types"
        ).split(),
        "it is about Java's serializers",
    ),
    **dict.fromkeys(
        (
            "execution.attached execution.target execution.job-listeners execution.job-status-changed-listeners "
            "execution.program-config.enabled execution.allow-client-job-configurations execution.program-config.wildcards "
            "execution.shutdown-on-application-finish execution.shutdown-on-attached-exit "
            "execution.submit-failed-job-on-application-error "
            "execution.terminate-application-on-any-job-terminated-exceptionally"
        ).split(),
        "it is about Flink's clients",
    ),
    **dict.fromkeys(
        (
            "execution.batch-shuffle-mode execution.batch-state-backend.enabled execution.sort-keyed-partition.memory "
            "execution.sort-partition.memory execution.sorted-inputs.enabled execution.sorted-inputs.memory"
        ).split(),
        "batch jobs use Spark's blocking shuffle",
    ),
    **dict.fromkeys(
        (
            "execution.checkpointing.cleaner.parallel-mode state.checkpoint.cleaner.parallel-mode execution.checkpointing.create-subdir "
            "state.checkpoints.create-subdir execution.checkpointing.during-recovery.enabled "
            "execution.checkpointing.unaligned.interruptible-timers.enabled "
            "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file "
            "execution.checkpointing.unaligned.recover-output-on-downstream.enabled execution.checkpointing.write-buffer-size "
            "state.storage.fs.write-buffer-size state.backend.fs.write-buffer-size "
            "execution.checkpointing.approximate-local-recovery "
            "execution.state-recovery.approximate-local-recovery execution.state-recovery.without-channel-state.checkpoint-id "
            "execution.checkpointing.recover-without-channel-state.checkpoint-id"
        ).split(),
        "checkpoints are implemented differently",
    ),
    **dict.fromkeys(
        (
            "pipeline.jobvertex-parallelism-overrides pipeline.operator-chaining.chain-operators-with-different-max-parallelism "
            "pipeline.sources.pause-until-first-checkpoint pipeline.vertex-description-mode "
            "pipeline.vertex-name-include-index-prefix pipeline.watermark-alignment.buffer-size"
        ).split(),
        "graphs are built differently",
    ),
    **dict.fromkeys(
        (
            "python.client.executable python.execution-mode python.internal.archives-key-map python.internal.files-key-map "
            "python.internal.requirements-file-key python.job-options python.logging.default.level python.logging.level.overrides "
            "python.loopback-server.address python.metric.enabled python.profile.enabled python.systemenv.enabled"
        ).split(),
        "there is no process between a task and its Python functions",
    ),
    **dict.fromkeys(
        "env.java.opts.client env.java.opts.historyserver env.java.opts.sql-gateway env.java.default-opts.all "
        "env.java.default-opts.jobmanager env.java.default-opts.taskmanager env.log.dir env.log.level env.log.max env.pid.dir "
        "env.ssh.opts env.yarn.conf.dir env.hadoop.conf.dir env.hbase.conf.dir env.stdout-err.redirect-to-file "
        "heartbeat.rpc-failure-threshold task.cancellation.timers.timeout slot.idle.timeout slot.request.max-interval".split(),
        "processes are started by Spark",
    ),
}


def is_free(key: str) -> bool:
    """Return whether a key belongs to the user or to Spark."""
    return key.startswith(_FREE_PREFIXES)


def is_ignored(key: str) -> bool:
    """Return whether a key of Flink has no effect here."""
    return key in _IGNORED_KEYS or (key.startswith(tuple(_IGNORED_PREFIXES)) and not is_free(key))


def reason(key: str) -> str:
    """Return why an ignored key has no effect."""
    if key in _IGNORED_KEYS:
        return _IGNORED_KEYS[key]
    return next(text for prefix, text in _IGNORED_PREFIXES.items() if key.startswith(prefix))
