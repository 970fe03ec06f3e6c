"""Internal. Error reports for users: their line first, then error and advice. Frames of Wiesel and the JVM are left out."""

from __future__ import annotations

import difflib
import re
import sys
import traceback
from pathlib import Path

import wiesel
from wiesel.core.errors import JobExecutionError, UserFunctionError, WieselError
from wiesel.core.user_frames import is_engine, is_library

__all__ = ["describe", "error_chain", "fold_jvm"]

_IMPORTED = re.compile(r"cannot import name '(\w+)'")
_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$')
_LAUNCHER = str(Path("platform", "cli", "_program.py"))
_EXPLAINED = (AttributeError, FileNotFoundError, LookupError, TypeError, ValueError)
"""Errors of Python that a ``WieselError`` caused by them describes completely."""
_FOLDED = "(frames inside libraries and the JVM are folded away; --traceback shows them)"


def describe(error: BaseException, program: Path, *, full: bool = False) -> str:
    """Return the description of an error that ended a program.

    The error of the chain that names an operator or has advice comes first. Then follow its causes, unless it repeats them, and then the
    errors that it caused.

    Args:
        error: Error raised by the program.
        program: The program's file; its frames count as the user's at any path.
        full: Append Python's whole traceback.

    Returns:
        Text of several lines without a newline at its end.
    """
    chain = error_chain(error)
    main = _most_telling(chain)
    at = chain.index(main)
    lines = [*_places(main, chain[at:], program), *_title(main)]
    for cause in chain[at + 1 :]:
        if not _located(main) and not _says(lines, cause) and not (main is not chain[-1] and isinstance(cause, _EXPLAINED)):
            lines += ["because of:", *("  " + line for line in _title(cause))]
    for link in reversed(chain[:at]):
        title = _title(link, already=_message(main))
        own = [] if isinstance(link, WieselError) else _frame_lines(_user_frames(link, program))
        lines += ["so:", *("  " + line for line in (*own, *title))]
    lines += _name_hint(chain[-1])
    if full:
        lines += ["", "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()]
    elif "user_traceback" in getattr(main, "details", {}) or any(_folds(link, program) for link in chain):
        lines.append(_FOLDED)
    return "\n".join(lines)


def _located(error: BaseException) -> bool:
    """Return whether an error was raised in a task and names the operator."""
    return isinstance(error, WieselError) and "where" in error.details


def _most_telling(chain: list[BaseException]) -> BaseException:
    """Return the main error of a chain: one that names an operator, else the innermost one with advice, else the root."""
    located = next(filter(_located, reversed(chain)), None)
    if located is not None:
        return located
    advising = [link for link in chain if isinstance(link, WieselError) and link.hint]
    if not advising:
        return chain[-1]
    main = advising[-1]
    for outer in reversed(advising[:-1]):
        # # Prefer an error that repeats it and adds context, such as the key of an option.
        if not isinstance(outer, JobExecutionError) and _message(main) in _message(outer):
            main = outer
    return main


def fold_jvm(text: str) -> str:
    """Remove the stack frames of the JVM from a message, and keep the messages of exceptions."""
    kept: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        frame = stripped.startswith("at ") and "(" in stripped
        if frame or (stripped.startswith("... ") and stripped.endswith("more")) or stripped == "Driver stacktrace:":
            continue
        kept.append(line)
    return "\n".join(kept).strip()


def error_chain(error: BaseException) -> list[BaseException]:
    """Return the error and its causes, the root last."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return chain


def _places(main: BaseException, raised_for: list[BaseException], program: Path) -> list[str]:
    """Return the user's lines in the stack of an error: those reported by a task, else those of the traceback."""
    if isinstance(main, WieselError):
        reported = _reported_frames(str(main.details.get("user_traceback") or ""))
        if reported:
            return _frame_lines(reported)
        if _located(main):
            return []  # it was raised in a task, and names the line itself
    return next((lines for link in raised_for if (lines := _frame_lines(_user_frames(link, program)))), [])


def _reported_frames(text: str) -> list[traceback.FrameSummary]:
    """Return the frames in a traceback's text, the innermost first, without those of libraries if there are others."""
    frames: list[traceback.FrameSummary] = []
    for line in text.splitlines():
        found = _FRAME.match(line)
        if found:
            frames.append(traceback.FrameSummary(found[1], int(found[2]), found[3], line=""))
        elif frames and not frames[-1].line:
            frames[-1] = traceback.FrameSummary(frames[-1].filename, frames[-1].lineno, frames[-1].name, line=line.strip())
    own = [frame for frame in frames if not _of_a_library(frame.filename)] or frames
    return own[::-1]


def _user_frames(error: BaseException, program: Path) -> list[traceback.FrameSummary]:
    """Return the frames of the user's own files, the innermost first."""
    return [frame for frame in reversed(traceback.extract_tb(error.__traceback__)) if _is_users(frame.filename, program)]


def _folds(error: BaseException, program: Path) -> bool:
    """Return whether the stack has frames that are not shown; the frames that started the program do not count."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(not _is_users(frame.filename, program) and not frame.filename.endswith(_LAUNCHER) for frame in frames)


def _is_users(filename: str, program: Path) -> bool:
    return filename == str(program.resolve()) or not _of_a_library(filename)


def _of_a_library(filename: str) -> bool:
    if filename.startswith("<"):
        return True
    resolved = str(Path(filename).resolve())
    return is_engine(resolved) or is_library(resolved)


def _frame_lines(frames: list[traceback.FrameSummary]) -> list[str]:
    lines: list[str] = []
    for i, frame in enumerate(frames):
        if i and (frame.filename, frame.lineno) == (frames[i - 1].filename, frames[i - 1].lineno):
            continue  # a function that calls itself
        lines.append(f"{'' if i == 0 else 'called from '}{_shown(frame.filename)}:{frame.lineno}, in {frame.name}")
        if frame.line:
            lines.append(f"    {frame.line}")
    return lines


def _shown(filename: str) -> str:
    """Return the shortest path of a file that can be opened from the working directory."""
    try:
        return str(Path(filename).relative_to(Path.cwd()))
    except ValueError:
        return filename


def _message(error: BaseException) -> str:
    """Return an error's message without its traceback and advice."""
    text = fold_jvm(error.message if isinstance(error, WieselError) else str(error))
    return text.replace(f"{Path.cwd()}/", "")


def _says(lines: list[str], error: BaseException) -> bool:
    """Return whether ``lines`` already contain an error's message."""
    text = " ".join(_message(error).split())
    shown = " ".join(" ".join(lines).split())
    return text in shown and (bool(text) or type(error).__name__ in shown)


def _title(error: BaseException, already: str = "") -> list[str]:
    """Return class, message and advice of an error, without the text in ``already``, which wrapping errors often repeat."""
    if isinstance(error, SyntaxError):
        lines = [line.rstrip() for line in traceback.format_exception_only(type(error), error)]
        return [f"{_shown(error.filename)}:{error.lineno}", *lines[1:]] if error.filename is not None else lines
    text = _message(error)
    if isinstance(error, ImportError) and error.path:
        text = text.replace(f" ({error.path})", "")
    hint = error.hint if isinstance(error, WieselError) else None
    if already and already in text:
        text = text.replace(f": {already}", "").replace(already, "").strip().rstrip(":").rstrip()
        hint = None
    # # A user function's error begins with the type of the function's exception.
    lines = (text if type(error) is UserFunctionError else f"{type(error).__name__}: {text}".removesuffix(": ")).splitlines()
    location = str(error.details.get("location") or "") if isinstance(error, WieselError) and error.details.get("user_traceback") else ""
    if location:
        lines = [line for line in lines if line.strip() != f"at {location}".replace(f"{Path.cwd()}/", "")]
    if hint:
        lines.append(f"  what to do: {hint}")
    return [*lines, *(str(note) for note in getattr(error, "__notes__", []))]


def _name_hint(error: BaseException) -> list[str]:
    """Return a suggestion for an unknown name in a program.

    A name that PyFlink has and Wiesel lacks fails as an import from ``wiesel...``; explain this in the hint.
    """
    if isinstance(error, AttributeError) and error.name is not None:
        kind = error.obj if isinstance(error.obj, type) else type(error.obj)
        return _meant(error.name, dir(error.obj)) if kind.__module__.partition(".")[0] == "wiesel" else []
    if isinstance(error, ModuleNotFoundError) or not isinstance(error, ImportError):
        return []
    module = error.name or ""
    if module != "wiesel" and not module.startswith("wiesel."):
        return []
    wanted = _IMPORTED.search(error.msg)
    near = _meant(wanted[1], dir(sys.modules.get(module))) if wanted else []
    if near:
        return near
    return [f"  what to do: {module} lacks this name in Wiesel {wiesel.__version__}; docs/coverage.md of the project lists what is there."]


def _meant(name: str, names: list[str]) -> list[str]:
    near = difflib.get_close_matches(name, [each for each in names if not each.startswith("_")], n=1)
    return [f"  what to do: did you mean {near[0]}?"] if near else []
