"""Internal. Opens catalogs by their type."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.sql.catalog.catalogs import Catalog, MemoryCatalog
from wiesel.types.logical import quoted

__all__ = ["open_catalog", "unknown_options"]

_TYPES = {
    "generic_in_memory": "",
    "spark": "wiesel.engine.spark.catalog:SparkCatalog",
    "sqlite": "wiesel.sql.catalog.sqlite_catalog:SqliteCatalog",
}


_GROUP = "wiesel.catalogs"
"""The group of entry points by which other packages announce their catalogs; the entry's name is the type."""

OfUsers = Callable[[str, Any], Catalog]
"""Returns the catalog of a name whose contents an object of the user knows."""


def open_catalog(name: str, options: Mapping[str, str], comment: str | None, of_users: OfUsers | None = None) -> Catalog:
    """Return the catalog described by options.

    Args:
        name: Its name.
        options: Its options, ``type`` among them.
        comment: What it is about.
        of_users: Makes a catalog of what an announced class or function returns for name and options.

    Raises:
        ProgramError: If they name no type that there is, or the catalog cannot be opened.
    """
    kind = options.get("type")
    announced = {} if kind in _TYPES else {entry.name: entry for entry in entry_points(group=_GROUP)}
    if kind in announced and of_users is not None:
        made = of_users(name, announced[kind].load()(name, {key: value for key, value in options.items() if key != "type"}))
        made.options, made.comment, made.is_described = dict(options), comment, True
        return made
    if kind not in _TYPES:
        known = sorted({*_TYPES, *announced})
        near = difflib.get_close_matches(kind or "", known, n=1)
        problem = "the option 'type' is missing" if kind is None else f"there is no type of catalog {kind!r}"
        hint = f"did you mean {near[0]!r}?" if near else f"types are: {', '.join(known)}"
        raise ProgramError(f"catalog {quoted(name)}: {problem}", hint=hint)
    try:
        if kind == "generic_in_memory":
            unknown_options(options, {"default-database", "property-version"})
            return MemoryCatalog(options.get("default-database", "default"), options, comment)
        module, _, attribute = _TYPES[kind].partition(":")
        opened = getattr(importlib.import_module(module), attribute)(options, comment)
    except (ProgramError, ConfigurationError) as error:
        raise type(error)(f"catalog {quoted(name)}: {error.message}", hint=error.hint, **error.details) from error
    assert isinstance(opened, Catalog)  # noqa: S101 - all types above are
    return opened


def unknown_options(options: Mapping[str, str], known: set[str]) -> None:
    """Refuse options that a type does not have.

    Raises:
        ProgramError: If there are any.
    """
    unknown = sorted(set(options) - known - {"type"})
    if unknown:
        raise ProgramError(f"unknown options {unknown}", hint=f"it takes {', '.join(map(repr, sorted(known)))}")
