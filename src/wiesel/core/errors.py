"""The exception hierarchy of Wiesel.

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

Each has a code, the domain that is to blame and whether another attempt can cure it (:attr:`WieselError.code`, ``domain``,
``retryable``), which the restart of jobs goes by.

Errors of the API also derive from the standard exceptions that PyFlink raises for the same call, so that ``except`` clauses written
for PyFlink work: PyFlink raises TypeError where it checks the class of an argument, AssertionError where it asserts it, and
AttributeError where it uses an argument unchecked.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from wiesel.core.secrets import without_secrets

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "CheckpointError",
    "CheckpointStorageError",
    "ConfigurationError",
    "ConnectorError",
    "CorruptCheckpointError",
    "ErrorDomain",
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
    "failure_labels",
    "invariant",
    "is_retryable",
]


class ErrorDomain(enum.Enum):
    """The party that is to blame for an error."""

    USER = "USER"
    """The program, its configuration or its data."""
    EXTERNAL = "EXTERNAL"
    """Another system, the machine or the cluster."""
    INTERNAL = "INTERNAL"
    """Wiesel itself."""


class WieselError(Exception):
    """Base of all errors raised by Wiesel.

    Args:
        message: The problem and its location.
        hint: The remedy; shown on a separate line.
        domain: The responsible party; None for that of the class.
        retryable: True if another attempt of the job may succeed; None for that of the class.
        details: Named values (operator, subtask, checkpoint, ...) for logs and tests.

    Attributes:
        code: The name of this kind of error, which stays the same over versions; classes without one have that of their base.
    """

    code: ClassVar[str] = "UNKNOWN"
    domain: ErrorDomain = ErrorDomain.INTERNAL
    retryable: bool = True

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        domain: ErrorDomain | None = None,
        retryable: bool | None = None,
        **details: Any,
    ) -> None:
        message = without_secrets(message)
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details
        if domain is not None:
            self.domain = domain
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        trace = str(self.details.get("user_traceback") or "").rstrip()
        shown = f"\nTraceback of the user's code (innermost call last):\n{trace}" if trace else ""
        return self.message + shown + (f"\n  what to do: {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross from the workers to the driver, so keyword-only parts must survive pickling.
        return _rebuild, (type(self), self.message, self.hint, {**self.details, "domain": self.domain, "retryable": self.retryable})


def _rebuild(cls: type[WieselError], message: str, hint: str | None, details: dict[str, Any]) -> WieselError:
    return cls(message, hint=hint, **details)


class ConfigurationError(WieselError):
    """An option is unknown, malformed or contradicts another one."""

    code = "CONFIGURATION"
    domain = ErrorDomain.USER
    retryable = False


class ProgramError(WieselError):
    """The program cannot be executed; detected before the job starts."""

    code = "PROGRAM"
    domain = ErrorDomain.USER
    retryable = False


class ArgumentTypeError(ProgramError, TypeError, AttributeError, AssertionError):
    """An argument has a class that the method does not accept."""

    code = "ARGUMENT_TYPE"


class ArgumentValueError(ProgramError, ValueError, AssertionError):
    """An argument is of the right class, but its value is not allowed."""

    code = "ARGUMENT_VALUE"


class UnknownNameError(ArgumentValueError, KeyError):
    """No object has the given name."""

    code = "UNKNOWN_NAME"


class TypeMismatchError(ProgramError, TypeError, ValueError):
    """A value does not have the type that was declared for it."""

    code = "TYPE_MISMATCH"


class SerializationError(ProgramError):
    """A function or value cannot be shipped between processes."""

    code = "SERIALIZATION"


class SqlParseError(ProgramError):
    """A SQL statement cannot be parsed. ``details`` holds ``line`` and ``column``, both from 1."""

    code = "SQL_PARSE"


class StateAccessError(ProgramError):
    """Keyed state or timers were used without a current key."""

    code = "STATE_ACCESS"


class UserFunctionError(WieselError):
    """A user's function raised.

    ``details`` holds ``operator``, ``subtask``, ``record`` (repr, shortened) and ``user_traceback`` (the user's frames, the
    innermost last, as Python prints them).
    """

    code = "USER_FUNCTION"
    domain = ErrorDomain.USER


class ExpressionError(UserFunctionError):
    """An expression of SQL has no value for a row. The message has the expression and its operands' values."""

    code = "EXPRESSION"


class JobExecutionError(WieselError):
    """The job ended in state FAILED. ``__cause__`` is the failure of the last attempt."""

    code = "JOB_EXECUTION"


class JobCancelledError(WieselError):
    """The job ended in state CANCELED."""

    code = "JOB_CANCELLED"
    domain = ErrorDomain.USER
    retryable = False


class ResourceError(WieselError):
    """The machine or cluster lacks a resource that the job needs."""

    code = "RESOURCE"
    domain = ErrorDomain.EXTERNAL
    retryable = False


class NoResourceAvailableError(ResourceError):
    """The slots requested by a job were not free within the timeout; they may become free later."""

    code = "NO_RESOURCE_AVAILABLE"
    retryable = True


class ConnectorError(WieselError):
    """An external system of a source or sink failed."""

    code = "CONNECTOR"
    domain = ErrorDomain.EXTERNAL


class CheckpointError(WieselError):
    """A checkpoint could not be taken."""

    code = "CHECKPOINT"
    domain = ErrorDomain.EXTERNAL


class CheckpointStorageError(CheckpointError):
    """The checkpoint storage refused or failed an operation."""

    code = "CHECKPOINT_STORAGE"


class StateTooLargeError(CheckpointStorageError):
    """State exceeds the limit of the JobManager's memory."""

    code = "STATE_TOO_LARGE"


class CorruptCheckpointError(CheckpointError):
    """A file of a checkpoint is missing, incomplete or altered."""

    code = "CORRUPT_CHECKPOINT"


class UntrustedSnapshotError(CheckpointError):
    """A snapshot cannot be attributed to a trusted author, whose code may be run."""

    code = "UNTRUSTED_SNAPSHOT"
    domain = ErrorDomain.USER
    retryable = False


class StateMigrationError(WieselError):
    """Restored state does not fit the program."""

    code = "STATE_MIGRATION"
    domain = ErrorDomain.USER
    retryable = False


class UnknownOutcomeError(WieselError):
    """The outcome of a write is unknown; nothing that it may reference may be deleted."""

    code = "UNKNOWN_OUTCOME"
    domain = ErrorDomain.EXTERNAL


class FencedError(WieselError):
    """A process that belongs to an older attempt tried to act."""

    code = "FENCED"
    retryable = False


class OutputClosedError(WieselError):
    """The standard output of the program was closed, as by ``wiesel run ... | head``."""

    code = "OUTPUT_CLOSED"
    domain = ErrorDomain.EXTERNAL
    retryable = False


class InvariantError(WieselError):
    """An invariant of Wiesel is violated: a bug of Wiesel."""

    code = "INVARIANT"


def is_retryable(error: BaseException) -> bool:
    """Return whether another attempt of the job can cure a failure; errors of classes that are not Wiesel's are taken to be transient."""
    return error.retryable if isinstance(error, WieselError) else True


def failure_labels(error: BaseException) -> dict[str, str]:
    """Return the code, the domain and the retryability of a failure, for reports."""
    code = error.code if isinstance(error, WieselError) else WieselError.code
    domain = error.domain if isinstance(error, WieselError) else WieselError.domain
    return {"code": code, "domain": domain.value, "retryable": str(is_retryable(error)).lower()}


def invariant(condition: object, message: str) -> None:
    """Raise :class:`InvariantError` unless ``condition`` holds (also under ``python -O``, unlike ``assert``)."""
    if not condition:
        raise InvariantError(message, hint="this is a bug in Wiesel, please report it with the program that shows it")
