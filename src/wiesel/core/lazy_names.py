"""Internal. Names that load their module when they are asked for, so that importing one connector does not load all."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    module: str, targets: Mapping[str, str], absent: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a module; ``import *`` finds the names by ``__all__`` alone.

    Args:
        module: Name of the module.
        targets: The module that defines it, for each name.
        absent: What takes the place of names that PyFlink's module has besides.
    """

    def get(name: str) -> Any:
        if name == "__all__":  # asked for by `from module import *`
            return sorted(targets)
        target = targets.get(name)
        if absent is not None and name in absent:
            raise ImportError(f"{module} has no {name}\n  what to do: {absent[name]}", name=module)
        if target is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        try:
            return getattr(importlib.import_module(target), name)
        except ModuleNotFoundError as error:
            if error.name is None or not target.startswith(error.name):
                raise
            # Not an AttributeError: `from module import name` would hide what it says.
            raise ImportError(f"{name} is not part of this version of Wiesel (there is no module {target})", name=module) from error

    return get, lambda: sorted(targets), sorted(targets)
