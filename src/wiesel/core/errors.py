"""The tree of Wiesel's errors.

::

    WieselError
    ├── ConfigurationError          an option is unknown, malformed or contradicts another
    ├── ProgramError                the program builds something that cannot run (found before the start)
    │   ├── ArgumentTypeError       an argument is of a wrong class; also a TypeError, AttributeError and AssertionError
    │   ├── ArgumentValueError      an argument has a value that is not allowed; also a ValueError and AssertionError
    │   │   └── UnknownNameError    there is nothing of the given name; also a KeyError
    │   ├── TypeMismatchError       a value does not have its declared type; also a TypeError and ValueError
    │   ├── SerializationError      a function or value cannot be shipped to the workers
    │   ├── SqlParseError           a statement of SQL cannot be read; tells line and column
    │   └── StateAccessError        keyed state or timers used outside a keyed context
    ├── UserFunctionError           a user's function raised while it processed a record
    │   └── ExpressionError         an expression of SQL has no value for a row: a division by zero, a cast that fails
    ├── JobExecutionError           the job ended in FAILED; carries the cause
    ├── JobCancelledError           the job ended in CANCELED
    ├── ResourceError               too few slots, no Java, no memory
    ├── ConnectorError              a source or sink failed against the outside world
    ├── CheckpointError             a checkpoint could not be taken, declined or expired
    │   ├── CheckpointStorageError  the storage refused, failed or lost a file
    │   └── CorruptCheckpointError  a file of a checkpoint is missing, torn or altered
    ├── StateMigrationError         restored state does not fit the program
    ├── UnknownOutcomeError         a write whose result is not known: nothing may be deleted after it
    ├── FencedError                 a process of an older attempt tried to act
    ├── OutputClosedError           nobody reads what the program prints any more
    └── InvariantError              a bug of Wiesel itself

Errors of the API also derive from the standard exceptions that PyFlink raises for the same call, so that ``except`` clauses written
for PyFlink work: PyFlink raises TypeError where it checks the class of an argument, AssertionError where it asserts it, and
AttributeError where it uses an argument unchecked.
"""

from __future__ import annotations

from typing import Any

from wiesel.core.secrets import without_secrets

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "CheckpointError",
    "CheckpointStorageError",
    "ConfigurationError",
    "ConnectorError",
    "CorruptCheckpointError",
    "ExpressionError",
    "FencedError",
    "InvariantError",
    "JobCancelledError",
    "JobExecutionError",
    "NoResourceAvailableError",
    "OutputClosedError",
    "ProgramError",
    "ResourceError",
    "SerializationError",
    "SqlParseError",
    "StateAccessError",
    "StateMigrationError",
    "TypeMismatchError",
    "UnknownNameError",
    "UnknownOutcomeError",
    "UserFunctionError",
    "WieselError",
    "invariant",
]


class WieselError(Exception):
    """Base of all errors raised by Wiesel.

    Args:
        message: What happened and where.
        hint: What to do about it; shown on a line of its own.
        details: Named facts (operator, subtask, checkpoint, ...) for logs and tests.
    """

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        message = without_secrets(message)
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        trace = str(self.details.get("user_traceback") or "").rstrip()
        shown = f"\nTraceback of the user's code (innermost call last):\n{trace}" if trace else ""
        return self.message + shown + (f"\n  what to do: {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross from the workers to the driver, so keyword-only parts must survive pickling.
        return _rebuild, (type(self), self.message, self.hint, self.details)


def _rebuild(cls: type[WieselError], message: str, hint: str | None, details: dict[str, Any]) -> WieselError:
    return cls(message, hint=hint, **details)


class ConfigurationError(WieselError):
    """An option is unknown, malformed or contradicts another one."""


class ProgramError(WieselError):
    """The program describes something that cannot run; found before the job starts."""


class ArgumentTypeError(ProgramError, TypeError, AttributeError, AssertionError):
    """An argument is of a class that the method does not take."""


class ArgumentValueError(ProgramError, ValueError, AssertionError):
    """An argument is of the right class, but its value is not allowed."""


class UnknownNameError(ArgumentValueError, KeyError):
    """There is nothing of the name that was given."""


class TypeMismatchError(ProgramError, TypeError, ValueError):
    """A value does not have the type that was declared for it."""


class SerializationError(ProgramError):
    """A function or value cannot be shipped between processes."""


class SqlParseError(ProgramError):
    """A statement of SQL cannot be read. ``details`` holds ``line`` and ``column``, both from 1 on."""


class StateAccessError(ProgramError):
    """Keyed state or timers were used where there is no current key."""


class UserFunctionError(WieselError):
    """A user's function raised.

    ``details`` holds ``operator``, ``subtask``, ``record`` (repr, shortened) and ``user_traceback`` (the user's frames, the
    innermost last, as Python prints them).
    """


class ExpressionError(UserFunctionError):
    """An expression of SQL has no value for a row. The message shows the expression and the values that it was computed from."""


class JobExecutionError(WieselError):
    """The job ended in state FAILED. ``__cause__`` is the failure of the last attempt."""


class JobCancelledError(WieselError):
    """The job ended in state CANCELED."""


class ResourceError(WieselError):
    """The machine or cluster lacks something that the job needs."""


class NoResourceAvailableError(ResourceError):
    """The slots that a job asked for were not free in time; they may be later."""


class ConnectorError(WieselError):
    """A source or sink failed against the outside world."""


class CheckpointError(WieselError):
    """A checkpoint could not be taken."""


class CheckpointStorageError(CheckpointError):
    """The checkpoint storage refused or failed an operation."""


class StateTooLargeError(CheckpointStorageError):
    """State is larger than what the JobManager's memory is meant for."""


class CorruptCheckpointError(CheckpointError):
    """A file that a checkpoint names is missing, torn or altered."""


class UntrustedSnapshotError(CheckpointError):
    """A snapshot is not known to be written by somebody whose code may be run."""


class StateMigrationError(WieselError):
    """Restored state does not fit the program."""


class UnknownOutcomeError(WieselError):
    """A write was sent and its result is not known; nothing that it may have referred to may be deleted."""


class FencedError(WieselError):
    """A process that belongs to an older attempt tried to act."""


class OutputClosedError(WieselError):
    """Nobody reads what the program prints any more, as behind ``wiesel run ... | head``."""


class InvariantError(WieselError):
    """Something that Wiesel itself guarantees does not hold: a bug of Wiesel."""


def invariant(condition: object, message: str) -> None:
    """Raise :class:`InvariantError` unless ``condition`` holds (unlike ``assert`` also under ``python -O``)."""
    if not condition:
        raise InvariantError(message, hint="this is a bug in Wiesel, please report it with the program that shows it")
