"""Modules of functions: the names of ``pyflink.table.module``."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["HiveModule", "Module", "ModuleEntry"]


class Module:
    """A module: a named provider of functions.

    Args:
        kind: What it is: ``core`` or ``hive``.
        options: What it is told.
    """

    def __init__(self, kind: str, options: dict[str, str] | None = None) -> None:
        self._kind = kind
        self._options = dict(options or {})


class HiveModule(Module):
    """The functions of Hive that Flink has not.

    Args:
        hive_version: Makes no difference here.
    """

    def __init__(self, hive_version: str | None = None) -> None:
        super().__init__("hive", {} if hive_version is None else {"hive-version": hive_version})


@functools.total_ordering
class ModuleEntry:
    """The name of a module, and whether it is used."""

    def __init__(self, name: str, used: bool) -> None:
        self._name = name
        self._used = used

    def name(self) -> str:
        """Return the name."""
        return self._name

    def used(self) -> bool:
        """Return whether the module is used."""
        return self._used

    def __repr__(self) -> str:
        return f"ModuleEntry{{name='{self._name}', used={str(self._used).lower()}}}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleEntry) and (self._name, self._used) == (other._name, other._used)

    def __hash__(self) -> int:
        return hash((self._name, self._used))

    def __lt__(self, other: Any) -> bool:
        return self._name < other._name if isinstance(other, ModuleEntry) else NotImplemented
