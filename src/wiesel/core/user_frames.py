"""Internal. Selection of the user's lines in tracebacks."""

from __future__ import annotations

import inspect
import os
import sysconfig
import traceback
from collections.abc import Callable, Iterable
from types import CodeType, TracebackType
from typing import Any

import wiesel

__all__ = ["error_location", "function_location", "is_engine", "is_installed", "is_library", "user_frames", "user_traceback"]



def _with_real_paths(folders: Iterable[str]) -> tuple[str, ...]:
    """Return folders with and without symbolic links resolved, each with a trailing separator."""
    return tuple({os.path.join(path, "") for folder in folders for path in (folder, os.path.realpath(folder))})


_PACKAGE_FOLDERS = _with_real_paths(wiesel.__path__)
_LIBRARY_PARTS = tuple(os.path.join(os.sep, *parts, "") for parts in (("site-packages",), ("dist-packages",), ("pyspark.zip", "pyspark")))
"""Package folders of other installations, which path files and Spark add to the search path."""
_INSTALLED_FOLDERS = _with_real_paths(sysconfig.get_path(name) for name in ("purelib", "platlib"))
_LIBRARY_FOLDERS = _with_real_paths(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def is_engine(filename: str) -> bool:
    """Return whether a file is Wiesel's."""
    return filename.startswith(_PACKAGE_FOLDERS)


def is_library(filename: str) -> bool:
    """Return whether a file belongs to Python or to an installed package."""
    return filename.startswith((*_LIBRARY_FOLDERS, "<frozen")) or any(part in filename for part in _LIBRARY_PARTS)


def is_installed(filename: str) -> bool:
    """Return whether a file belongs to an installed package other than Wiesel and PySpark."""
    in_packages = filename.startswith(_INSTALLED_FOLDERS) or any(part in filename for part in _LIBRARY_PARTS)
    return in_packages and not is_engine(filename) and f"{os.sep}pyspark{os.sep}" not in filename


def user_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback except the engine's, outermost first."""
    return [frame for frame in traceback.extract_tb(trace) if not is_engine(frame.filename)]


def user_traceback(error: BaseException) -> str:
    """Return the formatted frames of an error, innermost last, except the engine's and those before the user's."""
    frames = user_frames(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if not is_library(frame.filename)), 0)
    return "".join(traceback.format_list(frames[first:]))


def error_location(error: BaseException, *, libraries: bool = True) -> str | None:
    """Return ``file:line in function`` of the innermost frame of the user, or with ``libraries`` of a library if there is none."""
    frames = user_frames(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename)] or (frames if libraries else [])
    return f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}" if own else None


def function_location(function: Callable[..., Any]) -> str | None:
    """Return ``file:line`` of a function of the user; None if it is not a Python function, or not the user's."""
    code = getattr(getattr(inspect.unwrap(function), "__func__", function), "__code__", None)
    if not isinstance(code, CodeType) or is_engine(code.co_filename):
        return None
    return f"{code.co_filename}:{code.co_firstlineno}"
