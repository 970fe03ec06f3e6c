"""Internal. Former names of modules, which pickles in savepoints and checkpoints have for the classes of their values.

Importing a former name gives the module that has its contents now: the same module object, so classes are the same too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "FormerNames"]

MOVED: dict[str, str] = {
}
"""Former name -> present name of a module, both without the package's own."""


class FormerNames:
    """Finder and loader of modules by their former names, for the end of ``sys.meta_path``: a module that exists has precedence."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to load a module that has moved; None for all others."""
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "wiesel" and name in MOVED else None  # type: ignore[arg-type]  # a base class would load importlib.abc

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system to create a module, which :meth:`exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the present name in the place of the one that was created."""
        sys.modules[module.__name__] = import_module(f"wiesel.{MOVED[module.__name__.partition('.')[2]]}")
