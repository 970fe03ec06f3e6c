"""Internal. Import of Python modules with functions and models for scripts of ``wiesel sql``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from wiesel.platform import pyflink_hook

__all__ = ["find_modules"]

_PYTHON_FILES = "python.files"


def find_modules(scripts: Iterable[str], options: Mapping[str, str] | None = None) -> None:
    """Add the folders of the scripts and ``python.files`` to the import path, like ``wiesel run`` for programs.

    Modules may import PyFlink's names, as there.

    Args:
        scripts: Paths of scripts; for the standard input, or without scripts, the working directory is added.
        options: The options of the command line.
    """
    pyflink_hook.install()
    folders = dict.fromkeys(Path.cwd() if path == "-" else Path(path).resolve().parent for path in scripts)
    listed = [Path(file).resolve() for file in (options or {}).get(_PYTHON_FILES, "").split(",") if file]
    places = [*(folders or {Path.cwd(): None}), *(file.parent if file.suffix == ".py" else file for file in listed)]
    for place in reversed(places):
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
