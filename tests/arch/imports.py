"""The import graph of the package, as its syntax trees show it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tests.arch.repository import read, tracked

Kind = Literal["module", "typing", "function", "dynamic"]

DYNAMIC_NAME = re.compile(r"(wiesel(?:\.\w+)+):(\w+)")


@dataclass(frozen=True)
class Import:
    """An import of a module of Wiesel or of another package.

    Attributes:
        importer: The module with the import.
        line: Its line.
        imported: Full name of the module.
        kind: ``module`` (runs when the module is imported), ``typing`` (only for type checkers), ``function`` (runs when a function is
            called) or ``dynamic`` (a name in a string).
        attribute: What a dynamic import takes from the module, if it says so.
    """

    importer: str
    line: int
    imported: str
    kind: Kind
    attribute: str | None = None

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} -> {self.imported}"


@cache
def sources() -> dict[str, ast.Module]:
    """Module name -> its syntax tree, for all modules of the package."""
    found = {}
    for path in tracked(".py", "src"):
        parts = path.with_suffix("").parts[1:]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(read(path))
    return found


@cache
def imports() -> tuple[Import, ...]:
    return tuple(each for name, tree in sources().items() for each in _imports_of(name, tree))


def _imports_of(importer: str, tree: ast.Module) -> Iterator[Import]:
    for kind, node in _nodes(tree, "module"):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for imported in sorted(_imported_modules(node)):
                yield Import(importer, node.lineno, imported, kind)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if found := DYNAMIC_NAME.fullmatch(node.value):
                yield Import(importer, node.lineno, found[1], "dynamic", found[2])
            elif node.value in sources() and node.value.count(".") > 1:  # shorter ones are names of loggers and options
                yield Import(importer, node.lineno, node.value, "dynamic")
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            # f"wiesel.package.{module}": any module of the package.
            package = str(node.values[0].value).removesuffix(".")
            if package in sources() and package != "wiesel":
                yield Import(importer, node.lineno, package, "dynamic")
        elif isinstance(node, ast.Call) and "import_module" in (getattr(node.func, "attr", None), getattr(node.func, "id", None)):
            name = node.args[0]
            if isinstance(name, ast.Constant) and str(name.value).startswith("wiesel."):
                yield Import(importer, node.lineno, str(name.value), "dynamic")


def _nodes(node: ast.AST, kind: Kind) -> Iterator[tuple[Kind, ast.AST]]:
    """Return the nodes below this one, with the kind that an import there has."""
    typing_only: set[ast.stmt] = set()
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        typing_only = set(node.body)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        kind = "function"
    for child in ast.iter_child_nodes(node):
        of_child: Kind = "typing" if child in typing_only else kind
        yield of_child, child
        yield from _nodes(child, of_child)


def _imported_modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    assert node.level == 0 and node.module, "imports are absolute"
    full_names = [f"{node.module}.{alias.name}" for alias in node.names]
    return {name if name in sources() else node.module for name in full_names}


def graph(*kinds: Kind) -> dict[str, set[str]]:
    """Module -> the modules of the package that it imports, by imports of these kinds."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in imports():
        if each.kind in kinds and each.imported in sources():
            found[each.importer].add(each.imported)
    return found


def cycles(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of two or more modules that import each other, directly or by others (Tarjan's algorithm)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in edges.get(name, ()):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            start = stack.index(name)
            if len(stack) > start + 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    for name in list(edges):
        if name not in order:
            visit(name)
    return found
