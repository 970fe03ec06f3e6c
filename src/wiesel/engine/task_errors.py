"""Internal. Errors on their way from a task to the program: picklable, with the user's frames first."""

from __future__ import annotations

import pickle
import traceback
from types import TracebackType

from wiesel.core.errors import JobExecutionError, UserFunctionError, WieselError
from wiesel.core.user_frames import is_library, user_frames
from wiesel.runtime.descriptor import TaskDescriptor


def _own_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback that belong neither to Wiesel nor to a library, nor to the archive of PySpark that Spark ships."""
    return [frame for frame in user_frames(trace) if not is_library(frame.filename) and "/pyspark" not in frame.filename]


def picklable_error(error: BaseException, descriptor: TaskDescriptor | None) -> BaseException:
    """Return the error in a form that survives the way to the driver.

    An error of Wiesel's own stays as it is. Anything else that passed through user code becomes a UserFunctionError with the user's
    frames; the rest is wrapped with its traceback as text.
    """
    if isinstance(error, WieselError):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - whatever is wrong with its details, the message must get through
            return type(error)(error.message, hint=error.hint)
        return error
    where = _task_name(descriptor)
    frames = _own_frames(error.__traceback__)
    text = "".join(traceback.format_list(frames))
    message = f"{type(error).__name__}: {error}"
    if frames:
        last = frames[-1]
        return UserFunctionError(
            f"{message}\n  in {last.name} at {last.filename}:{last.lineno}, {where}\n{text}".rstrip(), user_traceback=text
        )
    full = "".join(traceback.format_exception(error))
    return WieselError(f"{where} failed: {message}", traceback=full)


def broken_exchange(error: BaseException, descriptor: TaskDescriptor | None) -> JobExecutionError:
    """Return what to say where Spark cannot hand on what the tasks before have sent: no function of the user's has to do with it."""
    return JobExecutionError(
        f"the records of the tasks before {_task_name(descriptor)} broke off ({type(error).__name__}: {error})",
        hint="one of them has ended, or a stranger connected to a port of Spark's exchange, which are for Spark alone; "
        "-D env.java.opts.jobmanager=-Dwiesel.spark.log.level=warn shows Spark's log",
        another_task=True,
    )


def process_ended(task: str, host: str) -> JobExecutionError:
    """Return what to say of a task whose process has ended without a word."""
    return JobExecutionError(
        f"the process of {task} on {host} ended without a word",
        hint="it was killed (if memory was short, the system's log says so), the program called os._exit(), or native code crashed, "
        "for which its standard error shows the lines of Python",
        another_task=True,
    )


def is_about_another_task(error: BaseException) -> bool:
    """Return whether an error is what followed from the end of a task that it does not name."""
    return isinstance(error, WieselError) and bool(error.details.get("another_task"))


def task_name(name: str, subtask: int, parallelism: int) -> str:
    """Return how errors name a task of the vertex with this name."""
    return f"task {name} ({subtask + 1}/{parallelism})"


def _task_name(descriptor: TaskDescriptor | None) -> str:
    return "a task" if descriptor is None else task_name(descriptor.vertex.name, descriptor.subtask, descriptor.vertex.parallelism)
