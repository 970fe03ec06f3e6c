"""Internal. Calls of user functions over batches, and the handling of their exceptions.

The error policy of the operator determines the handling of an exception of a user's function:

* ``fail``: the job fails with :class:`~wiesel.core.errors.UserFunctionError`; results of earlier records have been emitted.
* ``skip``: the record is skipped and counted in ``numRecordsSkipped``.
* ``side-output``: as ``skip``, and a row about it goes to the side output :data:`ERRORS_TAG`.

Effects of the function before it raised remain: results that it had yielded, and state that it had changed. Errors that do not concern a
record (state used without a key, a failing backend) end the job whatever the policy.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import islice
from operator import index as as_index
from operator import length_hint
from types import FrameType
from typing import Any

from wiesel.core.errors import ProgramError, SerializationError, StateMigrationError, TypeMismatchError, UserFunctionError, WieselError
from wiesel.core.logs import get_logger
from wiesel.core.user_frames import error_location, is_engine, is_library, user_traceback
from wiesel.runtime.operator import OperatorContext, Output
from wiesel.spi.functions import Function, RuntimeContext
from wiesel.types.row import Row
from wiesel.wire.batch import Batch

__all__ = [
    "ERRORS_TAG",
    "FailedCall",
    "UserCode",
    "advice",
    "as_time",
    "caller_location",
    "declared_retryable",
    "locate",
    "map_all",
    "operator_place",
    "raise_failure",
    "user_failure",
]

ERRORS_TAG = "wiesel-errors"
"""Side output of records whose user function raised: rows of record, timestamp, error, operator, subtask and location."""

SKIPPED_COUNTER = "numRecordsSkipped"

_RECORD_CHARS_MAX = 300
_NO_COLLECTION = re.compile(r"'.*' object is not iterable")
_log = get_logger("wiesel.runtime.user_code")


def caller_location() -> str:
    """Return ``file:line in function`` of the user's code that is calling into the engine."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_engine(filename) and not is_library(filename):
            return f"{filename}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return "unknown place"


def as_time(value: Any, what: str) -> int:
    """Check a time in ms given by the user's code.

    Raises:
        TypeError: If it is no integer: a fraction (``time.time() * 1000``) would be used as the timestamp of results.
    """
    try:
        return as_index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int (milliseconds since 1970), got {value!r:.100} (a {type(value).__name__})") from None


class FailedCall(ABC):
    """Replaces the record if a function was called for another reason, such as a timer."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """Return the reason of the call, as the last line of a message."""


def operator_place(context: OperatorContext) -> str:
    """Return how errors name an operator: its name, its subtask, and the line of the program that created it."""
    made_at = f", created at {context.user_location}" if context.user_location else ""
    return f"operator {context.name!r} (subtask {context.subtask_index + 1}/{context.parallelism}{made_at})"


def locate(error: WieselError, where: str) -> None:
    """Add the operator or task and the user's line to an error, unless it has them."""
    if "where" in error.details:
        return
    place = None if error.details.get("location") else _place(error, libraries=False)
    error.message += (f"\n  at {place}" if place else "") + f"\n  in {where}"
    error.args = (error.message,)
    error.details.update(where=where)
    error.details.setdefault("location", place)


def _place(error: BaseException, *, libraries: bool = True) -> str | None:
    """Return the user's line where an error was raised, or that of one of its causes."""
    link: BaseException | None = error
    while link is not None:
        place = error_location(link, libraries=libraries)
        if place is not None:
            return place
        link = link.__cause__ if link.__cause__ is not error else None
    return None


def user_failure(error: BaseException, where: str | None, subject: str | None = None, *, hint: str = "correct the function") -> WieselError:
    """Return the failure for an exception of a user's function.

    Args:
        error: The exception; an error of Wiesel keeps its type and its hint. An attribute ``retryable`` of the exception is kept.
        where: The operator or task; None if :func:`locate` adds it later.
        subject: The reason of the call.
        hint: The remedy.
    """
    # A generator converts StopIteration to RuntimeError, and asynchronous calls convert exceptions that would end their loop.
    raised = error.__cause__ if isinstance(error.__cause__, StopIteration | SystemExit | GeneratorExit) else error
    place = _place(raised)
    own = isinstance(error, WieselError)
    lines = [error.message if isinstance(error, WieselError) else f"{type(raised).__name__}: {raised}".removesuffix(": ")]
    lines += [f"  at {place}"] if place else []
    lines += [f"  in {where}"] if where else []
    lines += [f"  {subject}"] if subject else []
    failure = (type(error) if isinstance(error, WieselError) else UserFunctionError)(
        "\n".join(lines),
        hint=(error.hint if isinstance(error, WieselError) else None) or hint,
        user_traceback="" if own else user_traceback(raised),
        location=place,
        domain=error.domain if isinstance(error, WieselError) else None,
        retryable=declared_retryable(raised),
    )
    if where is not None:
        failure.details["where"] = where
    return failure


def declared_retryable(error: BaseException) -> bool | None:
    """Return the attribute ``retryable`` of an exception: whether another attempt can cure it. None if it has none."""
    said = getattr(error, "retryable", None)
    return said if isinstance(said, bool) else None


def advice(error: BaseException, *, about_record: bool) -> str:
    """Return the hint for an exception of a function; ``about_record``: for a record, which the policy may skip."""
    raised = error.__cause__ if isinstance(error.__cause__, StopIteration | SystemExit | GeneratorExit) else error
    if isinstance(raised, StopIteration):
        return "give next() a default, as in next(iterator, None), or catch StopIteration: Python interprets it as the end of a loop"
    if isinstance(raised, GeneratorExit):
        return "raise another exception: Python itself raises GeneratorExit, to close generators"
    if isinstance(raised, SystemExit):
        return "raise an exception to fail the job: a function cannot end the program"
    if isinstance(error, TimeoutError) and not user_traceback(error):
        return "wait longer (the timeout of unordered_wait and ordered_wait), or override timeout() to return another result"
    if not about_record:
        return "correct the function"
    if not user_traceback(error) and _NO_COLLECTION.fullmatch(str(error)):
        return "yield the results, or return a list of them: the function returned no collection"
    return "correct the function, or set 'wiesel.user-error-policy' to 'skip' or 'side-output' to skip such records"


def map_all(function: Callable[..., Any], values: list[Any], *more: Iterable[Any]) -> list[Any]:
    """Return ``function(value, *one of each of more)`` for each value, at C speed, if no policy skips records.

    Raises:
        WieselError: If the function raises; names the record, and :func:`locate` adds the operator.
    """
    source = iter(values)
    try:
        results = list(map(function, source, *more))
        if len(results) == len(values):
            return results
        # list() interprets a StopIteration of the function as the end.
        error: Exception = _stop_iteration(function, len(results), values, more)
    except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about its record
        error = raised
    record = values[len(values) - length_hint(source) - 1]
    raise user_failure(error, None, f"with record {_shortened(record)}", hint=advice(error, about_record=False)) from error


def _stop_iteration(function: Callable[..., Any], index: int, values: list[Any], more: Iterable[Iterable[Any]]) -> StopIteration:
    """Return the StopIteration of a function inside of map(), which hides it; the function is called again for its line."""
    try:
        function(values[index], *(next(islice(iter(argument), index, None)) for argument in more))
    except StopIteration as error:
        return error
    except Exception:  # noqa: BLE001, S110 - something else this time: the first failure is what counts
        pass
    return StopIteration()


def raise_failure(failure: WieselError, error: BaseException) -> None:
    """Raise the result of :meth:`UserCode.failed`, with the user's exception as its cause."""
    if failure is error:
        raise failure
    raise failure from error


def _shortened(record: Any) -> str:
    try:
        text = repr(record)
    except Exception as error:  # noqa: BLE001 - a record whose repr raises must not hide the error that is being reported
        text = f"<{type(record).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= _RECORD_CHARS_MAX else f"{text[:_RECORD_CHARS_MAX]}... ({len(text)} characters)"


class UserCode:
    """The guard of one operator's user functions."""

    def __init__(self, context: OperatorContext, output: Output) -> None:
        self._context = context
        self._output = output
        self._skipped = 0

    def failed(self, error: Exception, record: Any, timestamp: int | None = None) -> WieselError | None:
        """Apply the policy to a record (or result) for which ``error`` was raised.

        Returns:
            The error to raise after earlier results have been emitted (see :func:`raise_failure`), or None to continue with the next
            record.
        """
        if isinstance(error, WieselError) and not isinstance(error, TypeMismatchError | SerializationError):
            return self._located(error)
        policy = self._context.error_policy
        if policy == "fail":
            return self._failure(error, record)
        self._skipped += 1
        self._context.metrics.counter(SKIPPED_COUNTER).inc()
        if self._skipped & (self._skipped - 1) == 0:  # the 1st, 2nd, 4th, 8th, ...: a note, not a flood
            _log.warning("%s (%d skipped so far)", self._failure(error, record).message, self._skipped)
        if policy == "side-output":
            self._send_aside(error, record, timestamp)
        return None

    def open(self, function: Any, runtime_context: RuntimeContext) -> None:
        """Open a user's function; plain callables have no ``open``.

        Raises:
            UserFunctionError: If its ``open`` raises (whatever the policy: without it no record can be processed).
        """
        if isinstance(function, Function):
            self.lifecycle(lambda: function.open(runtime_context), f"{type(function).__name__}.open")

    def close(self, function: Any) -> None:
        """Close a user's function.

        Raises:
            UserFunctionError: If its ``close`` raises.
        """
        if isinstance(function, Function):
            self.lifecycle(function.close, f"{type(function).__name__}.close")

    def lifecycle_failure(self, error: Exception, what: str) -> WieselError:
        """Return the failure for an exception of the user's code that does not concern a record (``what``: the method)."""
        return self._failure(error, None, what)

    def lifecycle(self, call: Callable[[], None], what: str) -> None:
        """Call a method of the user's code that does not concern a record.

        Args:
            call: The call.
            what: Names the method in an error.

        Raises:
            UserFunctionError: If it raises, whatever the policy.
        """
        try:
            call()
        except WieselError as error:
            raise_failure(self._located(error), error)
        except Exception as error:
            raise self.lifecycle_failure(error, what) from error

    def _located(self, error: WieselError) -> WieselError:
        """Add the user's line to an error that does not concern a record."""
        if isinstance(error, ProgramError | StateMigrationError):
            locate(error, operator_place(self._context))
        return error

    def _failure(self, error: Exception, record: Any, lifecycle: str | None = None) -> WieselError:
        failure = user_failure(
            error,
            operator_place(self._context),
            f"in {lifecycle}" if lifecycle else record.subject if isinstance(record, FailedCall) else f"with record {_shortened(record)}",
            hint=advice(error, about_record=lifecycle is None),
        )
        failure.details.update(operator=self._context.name, subtask=self._context.subtask_index, record=_shortened(record))
        return failure

    def _send_aside(self, error: Exception, record: Any, timestamp: int | None) -> None:
        row = Row(
            record=record,
            timestamp=timestamp,
            error=f"{type(error).__name__}: {error}",
            operator=self._context.name,
            subtask=self._context.subtask_index,
            location=error_location(error),
        )
        self._output.emit_side(ERRORS_TAG, Batch([row], None if timestamp is None else [timestamp]))

    def map_batch(
        self, function: Callable[..., Any], values: list[Any], timestamps: list[Any] | None, results: list[Any], *more: Iterable[Any]
    ) -> tuple[list[int], WieselError | None, Exception | None]:
        """Append ``function(value, *one of each of more)`` for each value to ``results``, at C speed.

        Returns:
            The indexes of the skipped values; the failure that ended the batch early, and the user's exception.
        """
        skipped: list[int] = []
        source = iter(values)
        arguments = [iter(m) for m in more]
        done = len(results)
        while True:
            error: Exception
            try:
                results.extend(map(function, source, *arguments))
            except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about its record
                error = raised
            else:
                if len(results) - done + len(skipped) == len(values):
                    return skipped, None, None
                # map() interprets a StopIteration of the function as its own end.
                index = len(values) - length_hint(source) - 1
                fails = self._context.error_policy == "fail"
                error = _stop_iteration(function, index, values, more) if fails else StopIteration()
            index = len(values) - length_hint(source) - 1
            failure = self.failed(error, values[index], None if timestamps is None else timestamps[index])
            if failure is not None:
                return skipped, failure, error
            skipped.append(index)


def without(values: list[Any], indexes: list[int]) -> list[Any]:
    """Return the list without the elements at ``indexes``."""
    gone = set(indexes)
    return [v for i, v in enumerate(values) if i not in gone]
