"""Internal. Execution of a user's program as ``__main__`` in the command's process."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import click

from wiesel.core import hooks
from wiesel.core.errors import OutputClosedError
from wiesel.platform import pyflink_hook
from wiesel.platform.cli._report import describe, error_chain
from wiesel.platform.cli._warm_up import warm_up_in_background

__all__ = ["ProgramFailed", "Submission", "configuration_of", "first_job", "python_files", "run_program", "show_plan"]

PARALLELISM = "parallelism.default"
RESTORE_PATH = "execution.state-recovery.path"
IGNORE_UNCLAIMED = "execution.state-recovery.ignore-unclaimed-state"
CLAIM_MODE = "execution.state-recovery.claim-mode"
PYTHON_FILES = "python.files"

_VARIABLE = re.compile(r"\$\{env:([^}]*)}")

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
EXIT_OUTPUT_CLOSED = 141


@dataclass(frozen=True)
class Submission:
    """A program, its arguments, and its options.

    Attributes:
        program: The program's file.
        arguments: Arguments of the program (``sys.argv[1:]``).
        options: Configuration; options that the program sets take precedence.
        python_files: Absolute paths of further modules, archives and folders.
        full_traceback: Show errors with every frame.
    """

    program: Path
    arguments: tuple[str, ...]
    options: dict[str, str]
    python_files: tuple[str, ...] = ()
    full_traceback: bool = False

    @classmethod
    def parse(
        cls,
        *,
        program: Path,
        arguments: Sequence[str],
        parallelism: int | None,
        dynamic: Sequence[str],
        savepoint: str | None,
        allow_non_restored: bool,
        claim_mode: str | None,
        py_files: Sequence[str],
        full_traceback: bool,
    ) -> Submission:
        """Create a submission from the parameters of a command; an option of the command takes precedence over ``-D``.

        Raises:
            click.BadParameter: If a dynamic property is not ``key=value``, or a Python file does not exist.
        """
        options = configuration_of(dynamic, parallelism)
        files = python_files(py_files)
        if savepoint is not None:
            options[RESTORE_PATH] = savepoint
        if allow_non_restored:
            options[IGNORE_UNCLAIMED] = "true"
        if claim_mode is not None:
            options[CLAIM_MODE] = claim_mode.upper()
        if files:
            options[PYTHON_FILES] = ",".join(files)
        return cls(program, tuple(arguments), options, files, full_traceback)


def configuration_of(dynamic: Sequence[str], parallelism: int | None) -> dict[str, str]:
    """Return the options of a command line.

    Raises:
        click.BadParameter: If a dynamic property is not ``key=value``, or names a file or variable that does not exist.
    """
    options = dict(_property(text) for text in dynamic)
    if parallelism is not None:
        options[PARALLELISM] = str(parallelism)
    return options


def _property(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"{text!r} is not of the form key=value, as in -D parallelism.default=2")
    return key.strip(), _value(key.strip(), value)


def _value(key: str, text: str) -> str:
    """Return the value of a property. Secrets need not be on the command line, which all users of the machine can read.

    ``@PATH`` is the content of a file, ``@@...`` a value that begins with ``@``, and ``${env:NAME}`` a variable of the environment.
    """
    if text.startswith("@@"):
        return text[1:]
    if text.startswith("@"):
        try:
            return Path(text[1:]).expanduser().read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text"
            hint = "write @@ for a value that begins with @"
            raise click.BadParameter(f"{key}: the file {text[1:]!r} cannot be read: {why}; {hint}") from None

    def variable(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise click.BadParameter(f"{key}: the environment variable {found[1]!r} is not set; export it before the command")
        return os.environ[found[1]]

    return _VARIABLE.sub(variable, text)


def python_files(listed: Sequence[str]) -> tuple[str, ...]:
    """Return the absolute paths of files that are listed, separated by commas.

    Raises:
        click.BadParameter: One does not exist, or is no file of Python.
    """
    return tuple(_python_file(name) for names in listed for name in names.split(",") if name)


def _python_file(name: str) -> str:
    path = Path(name)
    if not path.exists():
        raise click.BadParameter(f"--py-files: there is no {name!r} (paths are separated by commas)")
    if path.is_file() and path.suffix not in {".py", ".zip", ".egg", ".whl"}:
        raise click.BadParameter(f"--py-files: {name!r} is neither a .py file, nor an archive, nor a folder")
    return str(path.resolve())


def run_program(submission: Submission) -> int:
    """Run a program to its end and return the exit code; print a failure on standard error."""
    try:
        _prepare(submission)
        code = _compile(submission.program.resolve())
        _start_engine(submission)
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _tell_of_termination)
        hooks.tell_of_jobs(_tell_of_job)
        _execute(submission, code)
        if hooks.waits_for_execute():
            click.echo("note: the program has ended, and what it has built did not run; env.execute() runs it", err=True)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever the program raises is told to its user
        if _output_is_closed(error):
            return EXIT_OUTPUT_CLOSED
        click.echo(describe(error, submission.program, full=submission.full_traceback), err=True)
        return EXIT_FAILED
    return 0


def _output_is_closed(error: BaseException) -> bool:
    """Return whether a program failed because its standard output is closed, which is no failure. Discard the rest of the output."""
    link = next((link for link in error_chain(error) if isinstance(link, OutputClosedError | BrokenPipeError)), None)
    if isinstance(link, OutputClosedError) or (link is not None and _nobody_reads(1)):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return True
    return False


def _nobody_reads(descriptor: int) -> bool:
    """Return whether a descriptor is a pipe whose other end is closed."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _tell_of_termination(number: int, frame: object) -> None:
    """Print a line and end the process. Retained checkpoints of the job stay, as after any end of the process."""
    os.write(2, b"terminated by SIGTERM; jobs that took checkpoints can be started again from the newest one\n")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)


def _tell_of_job(lines: Sequence[str]) -> None:
    # On standard error: the output is the program's.
    click.echo("\n".join(lines), err=True)


def show_plan(submission: Submission) -> int:
    """Run a program up to its first ``execute()`` and print the plan; redirect the program's output to standard error."""
    try:
        click.echo(_first_job(submission).plan)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except ProgramFailed as failed:
        click.echo(str(failed), err=True)
        return EXIT_FAILED
    return 0


def first_job(submission: Submission) -> Any:
    """Run a program up to its first ``execute()`` and return its ``StreamGraph``.

    Raises:
        ProgramFailed: If it failed, or built no job.
    """
    return _first_job(submission).graph


def _first_job(submission: Submission) -> hooks.PlanReady:
    try:
        _prepare(submission)
        with contextlib.redirect_stdout(sys.stderr), _plan_only():
            _execute(submission, _compile(submission.program.resolve()))
    except hooks.PlanReady as ready:
        return ready
    except Exception as error:
        raise ProgramFailed(describe(error, submission.program, full=submission.full_traceback)) from error
    raise ProgramFailed(f"{submission.program} built no job: it ended without a call of execute()")


class ProgramFailed(Exception):
    """Error: a program did not reach its first ``execute()``. The message is for its user."""


@contextlib.contextmanager
def _plan_only() -> Iterator[None]:
    hooks.set_plan_only(True)
    try:
        yield
    finally:
        hooks.set_plan_only(False)


def _prepare(submission: Submission) -> None:
    """Set up the process for the program: PyFlink's names here and in the workers, and defaults of the configuration."""
    from wiesel.core import config

    pyflink_hook.install()
    config.set_process_defaults(submission.options)


def _start_engine(submission: Submission) -> None:
    """Start the slow parts of the engine in the background while the program is imported."""
    from wiesel.core.config import Configuration
    from wiesel.engine.early_start import start_engine_early

    config = Configuration.from_dict(submission.options)
    start_engine_early(config)
    warm_up_in_background(config)


def _execute(submission: Submission, code: CodeType) -> None:
    """Run the program's file as ``__main__``, like ``python program.py arguments``.

    The module stays in ``sys.modules``, as threads of an asynchronously started job still need it.
    """
    path = submission.program.resolve()
    module = ModuleType("__main__")
    module.__file__ = str(path)
    module.__dict__["__builtins__"] = __builtins__
    folder = str(path.parent)
    # # A console script has its own folder first in sys.path; python program.py has the program's folder there.
    if sys.path and sys.path[0] == str(Path(sys.argv[0]).parent):
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)
    for file in submission.python_files:
        place = str(Path(file).parent) if file.endswith(".py") else file
        if place not in sys.path:
            sys.path.insert(1, place)
    sys.argv = [str(submission.program), *submission.arguments]
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _compile(path: Path) -> CodeType:
    # # Compile bytes, so that a coding line in the file is honoured, without this module's future flags.
    return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
