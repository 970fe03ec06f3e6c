"""Internal. Errors sent from a task to the program: picklable, with the user's frames first."""

from __future__ import annotations

import errno
import pickle
import socket
import traceback
from collections.abc import Iterator
from types import TracebackType

from wiesel.core.errors import ConnectorError, ErrorDomain, JobExecutionError, WieselError
from wiesel.core.user_frames import is_installed, is_library, user_frames
from wiesel.runtime.descriptor import TaskDescriptor
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.operators.sink import SinkOperator
from wiesel.runtime.operators.source import SourceOperator
from wiesel.runtime.record_writer import EdgeWriter
from wiesel.runtime.user_code import advice, declared_retryable, locate, operator_place, user_failure


def picklable_error(error: BaseException, descriptor: TaskDescriptor | None) -> BaseException:
    """Return the error in a picklable form, with the operator and the user's line.

    An error of Wiesel is unchanged. Any other that passed through user code becomes a UserFunctionError with the user's frames, one raised
    by a client library a ConnectorError; others are wrapped with their traceback as text.
    """
    operator, is_connector = _operator_of(error, descriptor)
    where = operator or _task_name(descriptor)
    if isinstance(error, WieselError):
        if operator is not None:
            locate(error, operator)
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - whatever is wrong with its details, the message must get through
            return type(error)(error.message, hint=error.hint, domain=error.domain, retryable=error.retryable)
        return error
    if any(not is_library(frame.filename) for frame in user_frames(error.__traceback__)):
        return user_failure(error, where, hint=advice(error, about_record=False))
    if isinstance(error, OSError) and error.filename is not None:
        return _file_error(error, where)
    if is_connector and _is_of_client(error):
        return _client_error(error, where)
    return WieselError(
        f"{where} failed: {type(error).__name__}: {error}",
        hint="if none of your functions is to blame, this is a bug in Wiesel: please report it with the program that shows it",
        traceback="".join(traceback.format_exception(error)),
    )


_ADVICE = {
    errno.EACCES: "give the user of the job the right to it, or choose another path",
    errno.EPERM: "give the user of the job the right to it, or choose another path",
    errno.EROFS: "choose another path: this file system can only be read",
    errno.ENOENT: "check the path; the user of the job may have no right to write where it is to be made",
    errno.ENOTDIR: "choose another path: a part of it is a file where a directory is needed",
    errno.EEXIST: "choose another path: there is a file where a directory is needed",
    errno.EISDIR: "choose another path: it is a directory",
    errno.ENOSPC: "free some space there, or choose another path",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}


def _file_error(error: OSError, where: str) -> ConnectorError:
    """Return the error of a source or sink for a file that it could not read or write."""
    failure = ConnectorError(
        f"{error.strerror}: {error.filename!r}",
        hint=_ADVICE.get(error.errno or 0, "check the path and the rights to it"),
        traceback="".join(traceback.format_exception(error)),
    )
    locate(failure, where)
    return failure


def _is_of_client(error: BaseException) -> bool:
    """Return whether an error was raised by the network, or by an installed library called by a connector."""
    if isinstance(error, ConnectionError | TimeoutError | socket.gaierror):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and is_installed(frames[-1].filename)


def _client_error(error: BaseException, where: str) -> ConnectorError:
    failure = ConnectorError(
        f"{type(error).__name__}: {error}".removesuffix(": "),
        hint="see whether the other system can be reached from the workers and what its log says of the request",
        retryable=declared_retryable(error),
        traceback="".join(traceback.format_exception(error)),
    )
    locate(failure, where)
    return failure


def _operator_of(error: BaseException, descriptor: TaskDescriptor | None) -> tuple[str | None, bool]:
    """Return the name of the innermost operator of the traceback in errors, None without one, and whether it is a source or sink."""
    found, is_connector = None, False
    for owner in _owners(error.__traceback__):
        if isinstance(owner, StreamOperator) and hasattr(owner, "context"):
            found, is_connector = operator_place(owner.context), isinstance(owner, SourceOperator | SinkOperator)
        elif isinstance(owner, EdgeWriter) and descriptor is not None:
            found, is_connector = _writing_operator(owner.edge, descriptor) or found, False
    return found, is_connector


def _owners(trace: TracebackType | None) -> Iterator[object]:
    """Yield the objects whose methods are in a traceback, outermost first."""
    while trace is not None:
        yield trace.tb_frame.f_locals.get("self")
        trace = trace.tb_next


def _writing_operator(edge: int, descriptor: TaskDescriptor) -> str | None:
    """Return how errors name the producer of an edge's records, which may be sent long after it was running."""
    sources = {output.edge: output.source_node for output in descriptor.outputs}
    for operator in descriptor.vertex.operators:
        if operator.node_id == sources.get(edge):
            made_at = f", created at {operator.user_location}" if operator.user_location else ""
            return f"operator {operator.name!r} (subtask {descriptor.subtask + 1}/{descriptor.vertex.parallelism}{made_at})"
    return None


def broken_exchange(error: BaseException, descriptor: TaskDescriptor | None) -> JobExecutionError:
    """Return the error for lost data of the tasks before in Spark's exchange, which no user function has caused."""
    return JobExecutionError(
        f"the records of the tasks before {_task_name(descriptor)} broke off ({type(error).__name__}: {error})",
        hint="one of them has ended, or an unauthenticated peer connected to a port of Spark's exchange, which are for Spark alone; "
        "-D env.java.opts.jobmanager=-Dwiesel.spark.log.level=warn shows Spark's log",
        another_task=True,
    )


def process_ended(task: str, host: str) -> JobExecutionError:
    """Return the message for a task whose process has ended silently."""
    return JobExecutionError(
        f"the process of {task} on {host} ended without reporting an error",
        hint="it was killed (if memory was short, the system's log says so), the program called os._exit(), or native code crashed, "
        "for which its standard error shows the lines of Python",
        domain=ErrorDomain.EXTERNAL,
        another_task=True,
    )


def is_about_another_task(error: BaseException) -> bool:
    """Return whether an error is a consequence of the end of an unnamed other task."""
    return isinstance(error, WieselError) and bool(error.details.get("another_task"))


def task_name(name: str, subtask: int, parallelism: int) -> str:
    """Return how errors name a task of the vertex with this name."""
    return f"task {name} ({subtask + 1}/{parallelism})"


def _task_name(descriptor: TaskDescriptor | None) -> str:
    return "a task" if descriptor is None else task_name(descriptor.vertex.name, descriptor.subtask, descriptor.vertex.parallelism)
