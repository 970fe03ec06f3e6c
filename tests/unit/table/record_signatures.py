"""Records the signatures of PyFlink's Table API in ``pyflink_signatures.json``; run it with the Python of a PyFlink installation.

Only names, parameters and defaults are recorded: they are what programs written for PyFlink rely on.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pathlib

CLASSES = {
    "environment_settings": ["EnvironmentSettings", "EnvironmentSettings.Builder"],
    "schema": ["Schema", "Schema.Builder"],
    "statement_set": ["StatementSet"],
    "table": ["Table"],
    "table_config": ["TableConfig"],
    "table_descriptor": ["FormatDescriptor", "FormatDescriptor.Builder", "TableDescriptor", "TableDescriptor.Builder"],
    "table_environment": ["StreamTableEnvironment", "TableEnvironment"],
    "table_pipeline": ["TablePipeline"],
    "table_result": ["TableResult"],
    "types": [
        "ArrayType", "BigIntType", "BinaryType", "BooleanType", "CharType", "DataTypes", "DateType", "DayTimeIntervalType", "DecimalType",
        "DoubleType", "FloatType", "IntType", "ListViewType", "LocalZonedTimestampType", "MapType", "MapViewType", "MultisetType",
        "NullType", "Resolution", "RowField", "RowType", "SmallIntType", "TimeType", "TimestampType", "TinyIntType", "VarBinaryType",
        "VarCharType", "YearMonthIntervalType", "ZonedTimestampType",
    ],
}  # fmt: skip


def parameters(function: object) -> list[list[str]]:
    """Return name, kind and default of each parameter but ``self``."""
    found = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in found if p.name not in ("self", "cls")]


def methods(cls: type) -> dict[str, list[list[str]]]:
    """Return the public methods of a class and of those it inherits from."""
    result = {}
    for name in sorted(dir(cls)):
        function = inspect.getattr_static(cls, name)
        if isinstance(function, staticmethod | classmethod):
            function = function.__func__
        if not name.startswith("_") and inspect.isfunction(function):
            result[name] = parameters(function)
    return result


def main() -> None:
    """Write the file."""
    recorded: dict[str, object] = {"exports": sorted(importlib.import_module("pyflink.table").__all__), "classes": {}}
    for module, names in CLASSES.items():
        for name in names:
            cls = importlib.import_module(f"pyflink.table.{module}")
            for part in name.split("."):
                cls = getattr(cls, part)
            recorded["classes"][f"{module}.{name}"] = methods(cls)  # type: ignore[index]
    target = pathlib.Path(__file__).with_name("pyflink_signatures.json")
    target.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
