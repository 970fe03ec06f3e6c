"""Names what a package lacks of a recorded one, by the descriptions of ``describe.py``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from tests.unit.pyflink_names.describe import describe

_MISSING = object()


def gaps(recorded: list[dict[str, Any]], root: str) -> set[str]:
    """Return the names of all differences of ``root`` from what was recorded that a program could notice.

    ``module.Class`` and ``module.Class.method`` are missing; ``...method(p)``: the parameter ``p`` is not there, not at its place or not
    of its kind; ``...method(p=)``: its default differs; ``...method(+p)``: there is one more that must be given; ``Class[Base]``: it is no
    ``Base``; ``...name!``: it is something else, such as a property for a method.
    """
    return {gap for wanted in recorded for gap in _gaps_of(root, f"{wanted['module']}.{wanted['name']}", wanted)}


def _gaps_of(root: str, path: str, wanted: dict[str, Any]) -> Iterator[str]:
    found = _load(root, path)
    if found is _MISSING:
        yield path
    elif "same as" in wanted:
        if found is not _load(root, wanted["same as"]):
            yield f"{path}!"
    else:
        yield from _differences(path, wanted, describe(root, found), found)


def _load(root: str, path: str) -> Any:
    """The object of this name, or ``_MISSING``; nested classes are found in their module."""
    module, _, name = path.rpartition(".")
    while module:
        try:
            value: Any = importlib.import_module(f"{root}.{module}")
        except ModuleNotFoundError:
            module, _, outer = module.rpartition(".")
            name = f"{outer}.{name}"
            continue
        for part in name.split("."):
            try:
                value = getattr(value, part, _MISSING)
            except ImportError:
                return _MISSING
        return value
    return _MISSING


def _differences(path: str, wanted: dict[str, Any], found: dict[str, Any], value: Any = None) -> Iterator[str]:
    if not _same_kind(wanted["is"], found["is"]):
        yield f"{path}!"
        return
    yield from (f"{path}[{base}]" for base in wanted.get("bases", ()) if base not in found["bases"])
    yield from _parameter_gaps(path, wanted.get("parameters", []), found.get("parameters", []))
    yield from (f"{path}.{name}" for name, member in wanted.get("members", {}).items() if found["members"].get(name) != member)
    for name, member in wanted.get("methods", {}).items():
        if name in found["methods"]:
            yield from _differences(f"{path}.{name}", member, found["methods"][name], getattr(value, name, None))
        elif name == "__init__":
            yield from _parameter_gaps(f"{path}.__init__", member["parameters"], [])
        elif not (member["is"] == "operator" and _python_has_it(name, value)):
            yield f"{path}.{name}"


def _same_kind(wanted: str, found: str) -> bool:
    """Whether what is found is used as what is wanted; what is called on the class can also be called on an instance."""
    callable_as = {"attribute": ("constant",), "method": ("static", "function"), "static": ("function",)}
    return found == wanted or found in callable_as.get(wanted, ())


def _python_has_it(name: str, cls: Any) -> bool:
    """Whether the operator works all the same: a class of Python's own, of which this one is made, has it."""
    name = "__repr__" if name == "__str__" else name
    return getattr(cls, name, None) is not getattr(object, name, None)


def _parameter_gaps(path: str, wanted: list[list[str]], found: list[list[str]]) -> Iterator[str]:
    """The parameters that differ. A constructor that takes a Java object is one gap: ours takes something else."""
    for place, (name, kind, default) in enumerate(wanted):
        have = found[place] if place < len(found) else ["", "", ""]
        if have[:2] != [name, kind]:
            yield f"{path}({name})"
            if name.startswith("j_"):
                return
        elif have[2] != default and (default or not have[2]):
            yield f"{path}({name}=)"
    for name, kind, default in found[len(wanted) :]:
        if not default and not kind.startswith("VAR_"):
            yield f"{path}(+{name})"
