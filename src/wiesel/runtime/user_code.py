"""Internal. Calling users' functions over batches, and what happens when one raises.

The policy of the operator says what an exception of a user's function means:

* ``fail``: the job fails with :class:`~wiesel.core.errors.UserFunctionError`; what came before the record has been handed on.
* ``skip``: the record is left out and counted in ``numRecordsSkipped``.
* ``side-output``: as ``skip``, and a row about it goes to the side output :data:`ERRORS_TAG`.

What the function did before it raised stands: results that it had yielded, and state that it had changed. Errors that are not
about a record (state used without a key, a backend that fails) end the job whatever the policy.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable
from operator import length_hint
from types import FrameType
from typing import Any

from wiesel.core.errors import (
    SerializationError,
    StateAccessError,
    StateMigrationError,
    TypeMismatchError,
    UserFunctionError,
    WieselError,
)
from wiesel.core.user_frames import error_location, is_engine, is_library, user_traceback
from wiesel.runtime.operator import OperatorContext, Output
from wiesel.spi.functions import Function, RuntimeContext
from wiesel.types.row import Row
from wiesel.wire.batch import Batch

__all__ = ["ERRORS_TAG", "UserCode", "caller_location", "raise_failure"]

ERRORS_TAG = "wiesel-errors"
"""Side output of records for which a user's function raised: rows of record, timestamp, error, operator, subtask and location."""

SKIPPED_COUNTER = "numRecordsSkipped"

_RECORD_CHARS_MAX = 300
_NO_COLLECTION = re.compile(r"'.*' object is not iterable")
_log = logging.getLogger("wiesel.runtime.user_code")


def caller_location() -> str:
    """Return ``file:line in function`` of the user's code that is calling into the engine now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_engine(filename) and not is_library(filename):
            return f"{filename}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return "unknown place"


def raise_failure(failure: WieselError, error: BaseException) -> None:
    """Raise what :meth:`UserCode.failed` returned, with the user's exception as its cause."""
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
            What is to be raised after the results so far have been handed on (see :func:`raise_failure`), or None to go on with
            the next record.
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
        """Open a user's function; callables have nothing to open.

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
        """Return the failure for an exception of the user's code that is about no record (``what``: the method)."""
        return self._failure(error, None, what)

    def lifecycle(self, call: Callable[[], None], what: str) -> None:
        """Call a method of the user's that is about no record.

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
        """Return an error that is not about a record with the user's line, which is where it has to be corrected."""
        place = error_location(error)
        if not isinstance(error, StateAccessError | StateMigrationError) or "location" in error.details or place is None:
            return error
        return type(error)(
            f"{error.message}\n  at {place}\n  in {self._where()}", hint=error.hint, **{**error.details, "location": place}
        )

    def _where(self) -> str:
        c = self._context
        return f"operator {c.name!r} (subtask {c.subtask_index + 1}/{c.parallelism}" + (
            f", made at {c.user_location})" if c.user_location else ")"
        )

    def _failure(self, error: Exception, record: Any, lifecycle: str | None = None) -> WieselError:
        place = error_location(error) or ("the declared output type" if isinstance(error, TypeMismatchError | SerializationError) else None)
        shown = _shortened(record)
        trace = user_traceback(error)
        summary = f"{type(error).__name__}: {error.message if isinstance(error, WieselError) else error}"
        subject = f"in {lifecycle}" if lifecycle else f"with record {shown}"
        message = (
            f"{summary}\n" + (f"  at {place}\n" if place else "") + f"  in {self._where()}\n  {subject}\n"
            f"Traceback of the user's code (innermost call last):\n{trace.rstrip()}"
        )
        kind = type(error) if isinstance(error, WieselError) else UserFunctionError
        hint = error.hint if isinstance(error, WieselError) else None
        return kind(
            message,
            hint=hint
            or (
                "correct the function"
                if lifecycle
                else "yield the results, or return a list of them: what the function returned is no collection"
                if place is None and _NO_COLLECTION.fullmatch(str(error))
                else "correct the function, or set 'wiesel.user-error-policy' to 'skip' or 'side-output' to go on without such records"
            ),
            operator=self._context.name,
            subtask=self._context.subtask_index,
            record=shown,
            user_traceback=trace,
            location=place,
        )

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
            The indexes of the values that were skipped; the failure that ended the batch early, and the user's exception.
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
                # map() takes a StopIteration that the function raises for its own end.
                error = RuntimeError("the function raised StopIteration")
            index = len(values) - length_hint(source) - 1
            failure = self.failed(error, values[index], None if timestamps is None else timestamps[index])
            if failure is not None:
                return skipped, failure, error
            skipped.append(index)


def without(values: list[Any], indexes: list[int]) -> list[Any]:
    """Return the list without the elements at ``indexes``."""
    gone = set(indexes)
    return [v for i, v in enumerate(values) if i not in gone]
