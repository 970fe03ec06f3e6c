"""Internal. Spark's settings of a session: those of the exchange, of Wiesel's options, and of the user."""

from __future__ import annotations

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.durations import to_millis
from wiesel.engine.spark.driver_jvm import driver_settings, given_settings, java_options
from wiesel.engine.spark.early_daemon import EARLY_DAEMON, early_daemon_socket
from wiesel.engine.spark.pipelined_settings import PIPELINED_SETTINGS
from wiesel.engine.spark.slots import in_this_process, local_cluster

__all__ = ["session_settings"]

_HEARTBEAT_MS = 10_000
"""Executors report at least as often as by Spark's default, as Spark rejects intervals above some of its timeouts."""


def session_settings(config: Configuration, master: str, java: str) -> dict[str, str]:
    """Return Spark's settings; those set by the user take precedence."""
    settings = {
        "spark.master": master,
        "spark.app.name": "wiesel",
        **PIPELINED_SETTINGS,
        **_executor_settings(config, master),
        "spark.python.daemon.module": "wiesel.engine.spark.daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.artifact.isolation.enabled": "false",
        **driver_settings(config, master, java),
    }
    if in_this_process(master):
        settings[f"spark.executorEnv.{EARLY_DAEMON}"] = early_daemon_socket()
        # Spark generates the secret. Without it, any process of the machine could read the code and the secrets of a job from its ports.
        settings["spark.authenticate"] = "true"
        # Otherwise one for each slot, and the threads are all started.
        settings["spark.rpc.netty.dispatcher.numThreads"] = "4"
    return {**settings, **given_settings(config)}


def _executor_settings(config: Configuration, master: str) -> dict[str, str]:
    """Return the settings of separate executors."""
    if in_this_process(master):
        return {}
    interval_ms, timeout_ms = to_millis(config.get(opt.HEARTBEAT_INTERVAL)), to_millis(config.get(opt.HEARTBEAT_TIMEOUT))
    settings = {
        "spark.executor.extraJavaOptions": java_options(config, opt.JAVA_OPTS_TASKMANAGER),
        "spark.executor.heartbeatInterval": f"{min(interval_ms, _HEARTBEAT_MS)}ms",
        # Spark's own limit for a silent executor is two minutes, checked once per minute.
        "spark.storage.blockManagerHeartbeatTimeoutMs": f"{timeout_ms}ms",
        "spark.network.timeoutInterval": f"{max(1, timeout_ms // 5)}ms",
    }
    if config.contains(opt.TASK_SLOTS):
        settings["spark.executor.cores"] = str(config.get(opt.TASK_SLOTS))
    cluster = local_cluster(master)
    if cluster is not None:
        # Spark's default may exceed its workers' resources, and then no executor ever starts.
        settings["spark.executor.memory"] = f"{cluster[2]}m"
    return settings
