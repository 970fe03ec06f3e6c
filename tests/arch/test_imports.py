"""Rules for imports that the contracts in pyproject.toml cannot state: cycles, imports in functions, imports by name, private modules."""

from __future__ import annotations

import ast
import re
from importlib import import_module

from tests.arch.imports import Import, cycles, graph, imports, sources
from tests.arch.repository import read

# Upper bounds, to be lowered with each improvement and never raised. The aims are 5 and 39.
TYPE_CYCLES_MAX = 7
FUNCTION_IMPORTS_MAX = 106

# Imports by name of a package above the importer's own: where a lower layer starts what a higher one implements. An entry that is no
# longer needed fails the test.
UPWARD_BY_NAME = {
    ("wiesel.datastream.job_execution", "wiesel.engine.base"),
    ("wiesel.runtime.registry", "wiesel.cep.table_match"),
    ("wiesel.spi.file_formats", "wiesel.formats.text"),
    ("wiesel.sql.catalog.factories", "wiesel.engine.spark.catalog"),
}

# Private modules that another package imports. An entry that is no longer needed fails the test.
PRIVATE_USED_OUTSIDE: set[str] = set()


def test_no_modules_import_each_other_when_they_are_imported() -> None:
    assert not cycles(graph("module"))


def test_modules_that_import_each_other_for_types_get_no_more() -> None:
    found = cycles(graph("module", "typing"))
    assert len(found) <= TYPE_CYCLES_MAX, found


def test_imports_in_functions_get_no_more() -> None:
    found = {(each.importer, each.line) for each in imports() if each.kind == "function"}
    assert len(found) <= FUNCTION_IMPORTS_MAX, found


def test_imports_by_name_find_what_they_name() -> None:
    named = [each for each in imports() if each.kind == "dynamic"]
    assert len(named) > 100
    missing = [str(each) for each in named if each.imported not in sources()]
    missing += [
        f"{each}:{each.attribute}"
        for each in named
        if each.attribute and each.imported in sources() and each.attribute not in _defined_names(sources()[each.imported])
    ]
    assert not missing


def _defined_names(tree: ast.Module) -> set[str]:
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_imports_by_name_keep_the_contract_of_the_layers() -> None:
    found = {(each.importer, each.imported) for each in imports() if each.kind == "dynamic" and _is_upward(each)}
    assert found == UPWARD_BY_NAME


def _is_upward(each: Import) -> bool:
    levels = _levels()
    importer, imported = (name.split(".")[1] if "." in name else "" for name in (each.importer, each.imported))
    return importer in levels and imported in levels and levels[importer] < levels[imported]


def _levels() -> dict[str, int]:
    """Package -> its height in the contract; packages beside each other have the same."""
    contract = read("pyproject.toml").split('id = "layers"')[1].split("layers = [")[1].split("\n]")[0]
    layers = [re.findall(r"\w+", line) for line in contract.splitlines() if line.strip()]
    levels = {package: -height for height, packages in enumerate(layers) for package in packages}
    assert levels["core"] < levels["runtime"] < levels["sql"] < levels["platform"]
    return levels


def test_private_modules_are_used_by_their_package_alone() -> None:
    assert {private for each in imports() if (private := _private_part(each))} == PRIVATE_USED_OUTSIDE


def _private_part(each: Import) -> str | None:
    """Return the first module on the imported name's path that is private to a package of which the importer is no part."""
    parts = each.imported.split(".")
    for i, part in enumerate(parts):
        package = ".".join(parts[:i])
        if part.startswith("_") and parts[0] == "wiesel" and not f"{each.importer}.".startswith(f"{package}."):
            return f"{package}.{part}"
    return None


def test_what_is_looked_for_is_found() -> None:
    assert cycles({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["d"]}) == [["a", "b", "c"]]
    assert _is_upward(Import("wiesel.core.x", 1, "wiesel.sql.y", "dynamic"))
    assert not _is_upward(Import("wiesel.sql.x", 1, "wiesel.core.y", "dynamic"))
    assert _private_part(Import("wiesel.table.x", 1, "wiesel.datastream._y", "module")) == "wiesel.datastream._y"
    assert _private_part(Import("wiesel.table.x", 1, "wiesel.table._y", "module")) is None
    assert import_module("wiesel.core.config").__name__ in sources()
