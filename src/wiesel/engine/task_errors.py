"""Internal. Errors on their way from a task to the program: picklable, with the user's frames first."""

from __future__ import annotations

import pickle
import sysconfig
import traceback
from pathlib import Path
from types import TracebackType

from wiesel.core.errors import UserFunctionError, WieselError
from wiesel.runtime.descriptor import TaskDescriptor

_OURS = str(Path(__file__).resolve().parents[1])
_LIBRARIES = tuple(str(Path(sysconfig.get_path(k)).resolve()) for k in ("stdlib", "platlib", "purelib"))


def user_frames(tb: TracebackType | None) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback that belong neither to Wiesel nor to a library."""
    frames = traceback.extract_tb(tb)
    return [f for f in frames if not f.filename.startswith((_OURS, *_LIBRARIES, "<frozen")) and "/pyspark" not in f.filename]


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
    where = f"task {descriptor.vertex.name} ({descriptor.subtask + 1}/{descriptor.vertex.parallelism})" if descriptor else "a task"
    frames = user_frames(error.__traceback__)
    text = "".join(traceback.format_list(frames))
    message = f"{type(error).__name__}: {error}"
    if frames:
        last = frames[-1]
        return UserFunctionError(
            f"{message}\n  in {last.name} at {last.filename}:{last.lineno}, {where}\n{text}".rstrip(), user_traceback=text
        )
    full = "".join(traceback.format_exception(error))
    return WieselError(f"{where} failed: {message}", traceback=full)
