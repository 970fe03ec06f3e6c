"""Internal. The interface of the facades to the engines.

Engines depend on the facades, so they are looked up by name when a job starts: importing ``wiesel.datastream`` needs neither Spark nor
Java, and neither does creating a plan.
"""

from __future__ import annotations

import contextlib
import importlib
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any

from wiesel.core import hooks
from wiesel.core.config import Configuration
from wiesel.core.errors import WieselError
from wiesel.core.logs import get_logger
from wiesel.core.parallelism import default_parallelism_note
from wiesel.datastream._plan import execution_plan_json
from wiesel.graph.specs import StreamGraph

if TYPE_CHECKING:
    from wiesel.common.job_client import JobClient
    from wiesel.common.job_execution_result import JobExecutionResult

__all__ = ["cancel", "start", "wait"]

_ENGINES = "wiesel.engine.base"
_CANCEL_S = 30.0
_log = get_logger("wiesel.job")


def start(graph: StreamGraph, config: Configuration) -> JobClient:
    """Start the job on the engine set by ``wiesel.engine``.

    Raises:
        PlanReady: Instead, if only the plan is requested.
    """
    if hooks.plan_only():
        raise hooks.PlanReady(execution_plan_json(graph), graph)
    executor: Any = importlib.import_module(_ENGINES).get_executor(config)
    note = default_parallelism_note(config)
    if note:
        _log.info("%s", note)
    client: JobClient = executor.execute(graph, config)
    endless = any(node.is_source and not node.bounded for node in graph.nodes.values())
    hooks.job_started(_lines_of(str(client.get_job_id()), note, endless=endless), endless=endless)
    return client


def _lines_of(job_id: str, note: str, *, endless: bool) -> list[str]:
    """Return the lines for the terminal about a started job; the first line is Flink's."""
    lines = [f"Job has been submitted with JobID {job_id}"]
    if note:
        lines.append(f"  {note}")
    if endless:
        commands = ("info {}", "rescale {} PARALLELISM", "savepoint {} [DIRECTORY]", "stop {}")
        lines.append(f"  commands for another terminal: {', '.join('wiesel ' + command.format(job_id[:8]) for command in commands)}")
    return lines


def wait(client: JobClient) -> JobExecutionResult:
    """Wait for the end of a job; Ctrl-C cancels it and is re-raised afterwards.

    Raises:
        JobExecutionError: If the job failed.
    """
    future = client.get_job_execution_result()
    try:
        result: JobExecutionResult = future.result()
    except KeyboardInterrupt:
        cancel(client)
        raise
    return result


def cancel(client: JobClient) -> None:
    """Cancel a job and wait for its end; a second Ctrl-C ends the waiting too."""
    client.cancel()
    with contextlib.suppress(WieselError, FutureTimeoutError):
        client.get_job_execution_result().result(_CANCEL_S)
