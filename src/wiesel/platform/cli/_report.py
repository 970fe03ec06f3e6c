"""Internal. Tells a user about an error: their own line first, what happened, what to do; Wiesel's and the JVM's frames folded away."""

from __future__ import annotations

import difflib
import re
import sys
import traceback
from pathlib import Path

import wiesel
from wiesel.core.errors import WieselError
from wiesel.core.user_frames import is_engine, is_library

__all__ = ["describe", "fold_jvm"]

_IMPORTED = re.compile(r"cannot import name '(\w+)'")
_LAUNCHER = str(Path("platform", "cli", "_program.py"))


def describe(error: BaseException, program: Path, *, full: bool = False) -> str:
    """The text about an error that ended a program.

    Args:
        error: What the program raised.
        program: The program's file; it counts as the user's wherever it lies.
        full: Append Python's whole traceback.

    Returns:
        Text of several lines, with no newline at its end.
    """
    chain = _chain(error)
    shipped = next((link for link in chain if _shipped_traceback(link)), None)
    lines: list[str] = []
    if shipped is not None:
        # It happened in a worker: that side has already put the user's frames in order.
        lines += [_shipped_traceback(shipped).rstrip(), *_title(shipped)]
    else:
        root = chain[-1]
        told = root if _user_frames(root, program) else next((link for link in chain if _user_frames(link, program)), root)
        lines += _frame_lines(told, program)
        lines += _title(root)
    said = shipped or chain[-1]
    for link in reversed([link for link in chain if link is not said]):
        lines += ["so:", *("  " + line for line in _title(link, already=fold_jvm(str(said))))]
    lines += _name_hint(chain[-1])
    if full:
        lines += ["", "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()]
    elif shipped is not None or any(_folds(link, program) for link in chain):
        lines.append("(frames inside libraries and the JVM are folded away; --traceback shows them)")
    return "\n".join(lines)


def fold_jvm(text: str) -> str:
    """Cut the stack frames of the JVM out of a message, keeping what each exception says."""
    kept: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        frame = stripped.startswith("at ") and "(" in stripped
        if frame or (stripped.startswith("... ") and stripped.endswith("more")) or stripped == "Driver stacktrace:":
            continue
        kept.append(line)
    return "\n".join(kept).strip()


def _chain(error: BaseException) -> list[BaseException]:
    """The error and its causes, the root last."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return chain


def _shipped_traceback(error: BaseException) -> str:
    return str(error.details.get("user_traceback") or "") if isinstance(error, WieselError) else ""


def _user_frames(error: BaseException, program: Path) -> list[traceback.FrameSummary]:
    """The frames of the user's own files, the innermost first."""
    return [frame for frame in reversed(traceback.extract_tb(error.__traceback__)) if _is_users(frame.filename, program)]


def _folds(error: BaseException, program: Path) -> bool:
    """Whether an error came through frames that are not shown; the frames that started the program do not count."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(not _is_users(frame.filename, program) and not frame.filename.endswith(_LAUNCHER) for frame in frames)


def _is_users(filename: str, program: Path) -> bool:
    return filename == str(program.resolve()) or not _of_a_library(filename)


def _of_a_library(filename: str) -> bool:
    if filename.startswith("<"):
        return True
    resolved = str(Path(filename).resolve())
    return is_engine(resolved) or is_library(resolved)


def _frame_lines(error: BaseException, program: Path) -> list[str]:
    lines: list[str] = []
    for i, frame in enumerate(_user_frames(error, program)):
        lines.append(f"{'' if i == 0 else 'called from '}{_shown(frame.filename)}:{frame.lineno}, in {frame.name}")
        if frame.line:
            lines.append(f"    {frame.line}")
    return lines


def _shown(filename: str) -> str:
    """A path as short as it can be and still be opened from where the user stands."""
    try:
        return str(Path(filename).relative_to(Path.cwd()))
    except ValueError:
        return filename


def _title(error: BaseException, already: str = "") -> list[str]:
    """What kind of error, and what it says; without what was said already, which wrapping errors like to repeat."""
    if isinstance(error, SyntaxError):
        return [line.rstrip() for line in traceback.format_exception_only(type(error), error)]
    text = fold_jvm(str(error))
    if already and already in text:
        text = text.replace(f": {already}", "").replace(already, "").strip().rstrip(":").rstrip()
    notes = [str(note) for note in getattr(error, "__notes__", [])]
    return [*(f"{type(error).__name__}: {text}" if text else type(error).__name__).splitlines(), *notes]


def _name_hint(error: BaseException) -> list[str]:
    """Say which name was probably meant where a program uses one that is not there.

    One that PyFlink has and Wiesel lacks fails as an import from ``wiesel...``; say that this is what happened.
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
