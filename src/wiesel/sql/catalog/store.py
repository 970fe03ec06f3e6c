"""Internal. Catalog store: a file for each catalog, like Flink's file store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

import yaml

from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.types.logical import quoted

__all__ = ["CatalogStore", "catalog_store"]

KIND = "table.catalog-store.kind"
PATH = "table.catalog-store.file.path"
_SUFFIX = ".yaml"


def catalog_store(options: Mapping[str, str]) -> CatalogStore | None:
    """Return the store that options name; None if catalogs are kept for as long as their environment lives.

    Raises:
        ConfigurationError: If there is no such store, or it has no path.
    """
    kind = options.get(KIND) or "generic_in_memory"
    if kind == "generic_in_memory":
        return None
    if kind != "file":
        raise ConfigurationError(f"option {KIND} is {kind!r}", hint="write 'generic_in_memory' or 'file'", key=KIND)
    if not options.get(PATH):
        raise ConfigurationError(f"{KIND} is 'file', but {PATH} is not set", hint="set it to a folder", key=PATH)
    parsed = urlparse(options[PATH])
    if parsed.scheme not in ("", "file"):
        raise ConfigurationError(f"option {PATH} is {options[PATH]!r}", hint="name a folder of this machine", key=PATH)
    return CatalogStore(Path(unquote(parsed.path) if parsed.scheme else options[PATH]))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[a-z][\w.-]*", key) else json.dumps(key, ensure_ascii=False)


class CatalogStore:
    """A folder with the options of each catalog.

    Args:
        folder: The folder; made when a catalog is added.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of the catalogs that are kept, in order."""
        return sorted(path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"*{_SUFFIX}"))

    def options_of(self, name: str) -> dict[str, str]:
        """Return what a catalog was created with.

        Raises:
            ProgramError: If its file cannot be read.
        """
        path = self._file(name)
        try:
            found = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ProgramError(f"catalog {quoted(name)}: {path} cannot be read: {error}", hint="correct the file, or remove it") from error
        if not isinstance(found, dict):
            raise ProgramError(f"catalog {quoted(name)}: {path} has no options", hint="correct the file, or remove it")
        return {str(key): str(value) for key, value in found.items()}

    def put(self, name: str, options: Mapping[str, str]) -> None:
        """Keep a catalog.

        Raises:
            ProgramError: If its name can be none of a file, or the file cannot be written.
        """
        if not name or "/" in name or name.startswith("."):
            raise ProgramError(f"catalog {quoted(name)} cannot be kept in files", hint="choose a name without '/' and leading dots")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{_key(key)}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in sorted(options.items()))
            unfinished = self._folder / f".{name}{_SUFFIX}.{os.getpid()}"
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(self._file(name))
        except OSError as error:
            raise ProgramError(f"catalog {quoted(name)} cannot be kept: {error}", hint=f"check {PATH}") from error

    def remove(self, name: str) -> None:
        """Forget a catalog."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"
