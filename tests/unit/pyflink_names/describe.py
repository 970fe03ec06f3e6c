"""Describes what the modules of a package offer to programs: names, classes, members, parameters and defaults.

It needs the standard library alone: ``record.py`` runs it over PyFlink, the tests run it over Wiesel.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import pkgutil
import re
import textwrap
import types
import typing
from collections.abc import Iterator
from typing import Any, TypeGuard

PACKAGES = ("common", "datastream", "metrics", "table")

# What every class has, or what only Python's own machinery calls.
_NOT_TOLD = {
    "__abstractmethods__", "__annotations__", "__class_getitem__", "__dataclass_fields__", "__dataclass_params__", "__dict__", "__doc__",
    "__firstlineno__", "__getstate__", "__init_subclass__", "__match_args__", "__module__", "__ne__", "__new__", "__orig_bases__",
    "__parameters__", "__setstate__", "__slots__", "__static_attributes__", "__subclasshook__", "__weakref__",
}  # fmt: skip


def modules(root: str) -> list[str]:
    """Return the names of all public modules below the packages of ``root``, without it."""
    found = []
    for package in PACKAGES:
        place = importlib.import_module(f"{root}.{package}").__path__
        found.append(package)
        found.extend(
            m.name[len(root) + 1 :]
            for m in pkgutil.walk_packages(place, f"{root}.{package}.")
            if not any(part.startswith("_") or part == "tests" for part in m.name.split("."))
        )
    return sorted(found)


def exports(root: str, name: str) -> dict[str, Any]:
    """Return what a program can import from the module: its ``__all__``, what it defines and, of a package, what it hands on."""
    module = importlib.import_module(f"{root}.{name}")
    told = set(getattr(module, "__all__", ()))
    return {
        key: getattr(module, key)
        for key in sorted(told | {k for k in vars(module) if not k.startswith("_")})
        if key in told or _belongs(root, module, getattr(module, key))
    }


def _belongs(root: str, module: types.ModuleType, value: Any) -> bool:
    """Whether a name that ``__all__`` does not tell is meant for programs all the same."""
    if isinstance(value, types.ModuleType | typing.TypeVar | bool):
        return False
    home = getattr(value, "__module__", None)
    if not inspect.isclass(value) and not inspect.isroutine(value):
        return not isinstance(value, types.GenericAlias) and home not in ("typing", "__future__") and home != "collections.abc"
    return home == module.__name__ or (hasattr(module, "__path__") and _is_public(root, str(home)))


def _is_public(root: str, module: str) -> bool:
    return module.startswith(tuple(f"{root}.{package}" for package in PACKAGES))


def describe_module(root: str, name: str) -> dict[str, Any]:
    """Return each export of the module: where it is at home, or what it is when this is its home."""
    told: dict[str, Any] = {}
    for key, value in exports(root, name).items():
        home = str(getattr(value, "__module__", ""))
        if inspect.isclass(value) and home != f"{root}.{name}" and home[len(root) + 1 :] in modules(root):
            told[key] = {"same as": f"{home[len(root) + 1 :]}.{value.__qualname__}"}
        else:
            told[key] = describe(root, value)
    return told


def describe(root: str, value: Any) -> dict[str, Any]:
    """Return a class with its members, a function with its parameters, or the kind of a constant."""
    if inspect.isclass(value):
        if issubclass(value, enum.Enum):
            return {"is": "enum", "members": {m.name: _text(root, m.value) for m in value}, "methods": _members(root, value)}
        return {"is": "class", "bases": _bases(root, value), "methods": _members(root, value)}
    if inspect.isroutine(value):
        return {"is": "function", "parameters": parameters(root, value)}
    return {"is": "constant"}


def _bases(root: str, cls: type) -> list[str]:
    """Names of the package's public classes that an instance is, the class itself left out."""
    return sorted(b.__qualname__ for b in cls.__mro__[1:] if b.__module__.startswith(root + ".") and not b.__name__.startswith("_"))


def _members(root: str, cls: type) -> dict[str, Any]:
    """Members of a class and of its bases of the same package; those of Python's own classes go without saying."""
    told: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        if not owner.__module__.startswith(root + ".") or (issubclass(cls, enum.Enum) and not issubclass(owner, enum.Enum)):
            continue
        for attribute in _instance_attributes(owner):
            told.setdefault(attribute, {"is": "attribute"})
        for name, value in vars(owner).items():
            if _is_told(name, cls) and not (value is None and name == "__hash__"):
                told[name] = _member(root, name, value)
    return dict(sorted(told.items()))


def _is_told(name: str, cls: type) -> bool:
    if issubclass(cls, enum.Enum):
        return not name.startswith("_") and name not in cls.__members__
    if name.startswith("__") and name.endswith("__"):
        return name not in _NOT_TOLD
    return not name.startswith("_")


def _member(root: str, name: str, value: Any) -> dict[str, Any]:
    if name.startswith("__") and name not in ("__init__", "__call__"):
        return {"is": "operator"}
    if isinstance(value, staticmethod | classmethod):
        return {"is": "static", "parameters": parameters(root, value.__func__, drop_first=isinstance(value, classmethod))}
    if isinstance(value, property):
        return {"is": "attribute"}
    if inspect.isclass(value):
        return describe(root, value)
    if inspect.isroutine(value) or isinstance(value, types.FunctionType):
        return {"is": "method", "parameters": parameters(root, value, drop_first=True)}
    return {"is": "attribute"}


def _instance_attributes(cls: type) -> set[str]:
    """Public attributes that methods of the class put on ``self``, its slots and its annotated fields."""
    slots = cls.__dict__.get("__slots__", ())
    found = {slots} if isinstance(slots, str) else set(slots)
    found |= set(inspect.get_annotations(cls))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):
        tree = ast.Module([], [])
    methods = [part for cls_node in tree.body for part in getattr(cls_node, "body", ()) if isinstance(part, ast.FunctionDef)]
    found |= {node.attr for method in methods for node in _outside_of_classes(method) if _is_set_on_self(node)}
    return {name for name in found if not name.startswith("_")}


def _outside_of_classes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ClassDef):
            yield child
            yield from _outside_of_classes(child)


def _is_set_on_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return (
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self"
    )


def parameters(root: str, function: Any, drop_first: bool = False) -> list[list[str]]:
    """Return name, kind and default of each parameter but ``self``."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return []
    return [[p.name, p.kind.name, "" if p.default is p.empty else _text(root, p.default)] for p in found[1 if drop_first else 0 :]]


def _text(root: str, value: Any) -> str:
    """The value as text that does not depend on the run."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(value.__qualname__)
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value)).replace(f"{root}.", "")
    return re.sub(r"<(?:[\w.]+\.)?(\w+) object>", r"<\1>", text)
