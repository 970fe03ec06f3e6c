"""Internal. Lookup of classes by name: built-in ones, and entry points of other packages."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from wiesel.core.errors import ConfigurationError

__all__ = ["load_plugin"]


def load_plugin(what: str, group: str, built_in: Mapping[str, str], name: str) -> Any:
    """Return the object built in or registered under a name. Installed packages are searched only for names that are not built in.

    Args:
        what: The kind of object in messages: ``connector``.
        group: The entry point group of other packages; the entry's name is the name.
        built_in: Name -> ``module:attribute``.
        name: The name.

    Raises:
        ConfigurationError: If the name is unknown.
    """
    if name in built_in:
        module, _, attribute = built_in[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    announced = {entry.name: entry for entry in entry_points(group=group)}
    if name in announced:
        return announced[name].load()
    known = sorted({*built_in, *announced})
    near = difflib.get_close_matches(name, known, n=1)
    raise ConfigurationError(
        f"there is no {what} {name!r}; {what}s are: {', '.join(known)}",
        hint=f"did you mean {near[0]!r}?" if near else f"check the name, or install the package that brings the {what}",
    )
