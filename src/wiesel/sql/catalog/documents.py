"""Internal. Tables, views and models as JSON, for catalogs that outlive their environment. Everything stands in it by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogModel, CatalogPartition, CatalogTable, CatalogView
from wiesel.spi.table.schema import Column, ComputedColumn, MetadataColumn, PhysicalColumn, PrimaryKey, ResolvedSchema, WatermarkSpec
from wiesel.spi.table.statistics import ColumnStatistics, TableStatistics
from wiesel.sql.catalog.catalogs import CatalogEntry, PlanView
from wiesel.types.logical import DataType
from wiesel.types.logical_parser import parse_data_type

__all__ = ["entry_of", "model_of", "text_of", "text_of_model"]

_VERSION = 1
_OF_FILES = ("files", "size", "raw_size", "properties")


def text_of(entry: CatalogEntry) -> str:
    """Return the text of a table or view.

    Raises:
        ProgramError: If it is a view of a program, or has a column whose type has no text.
    """
    if isinstance(entry, PlanView):
        raise ProgramError("a view that a program made has no text, so it cannot be kept", hint="write CREATE VIEW, or make it temporary")
    document: dict[str, Any] = {"version": _VERSION, "schema": _schema(entry.schema), "comment": entry.comment}
    if isinstance(entry, CatalogView):
        document |= {"query": entry.query, "catalog": entry.current[0], "database": entry.current[1], "options": dict(entry.options)}
        if entry.expanded is not None:
            document["expanded"] = entry.expanded
    else:
        document |= {"options": dict(entry.options), "partition_keys": list(entry.partition_keys)}
        if entry.statistics:
            document["statistics"] = [_statistics(partition, found) for partition, found in entry.statistics.items()]
        if entry.partitions:
            document["partitions"] = [{"partition": list(values), **asdict(found)} for values, found in entry.partitions.items()]
    return json.dumps(document, ensure_ascii=False, sort_keys=True)


def entry_of(text: str) -> CatalogTable | CatalogView:
    """Return the table or view of a text.

    Raises:
        ProgramError: If a later version has written it.
    """
    document = _document(text)
    schema = _schema_of(document["schema"])
    if "query" in document:
        current, options = (document["catalog"], document["database"]), document.get("options", {})
        return CatalogView(
            document["query"], current, schema, document["comment"], options=options, expanded=document.get("expanded")
        )
    return CatalogTable(
        schema,
        document["options"],
        tuple(document["partition_keys"]),
        document["comment"],
        statistics=dict(map(_statistics_of, document.get("statistics", ()))),
        partitions={tuple(each.pop("partition")): CatalogPartition(**each) for each in document.get("partitions", ())},
    )


def text_of_model(model: CatalogModel) -> str:
    """Return the text of a model.

    Raises:
        ProgramError: If an input or output has a type without text.
    """
    schemas = {"inputs": _schema(model.inputs), "outputs": _schema(model.outputs)}
    return json.dumps({"version": _VERSION, **schemas, "options": dict(model.options), "comment": model.comment}, ensure_ascii=False)


def model_of(text: str) -> CatalogModel:
    """Return the model of a text.

    Raises:
        ProgramError: If a later version has written it.
    """
    document = _document(text)
    return CatalogModel(_schema_of(document["inputs"]), _schema_of(document["outputs"]), document["options"], document["comment"])


def _document(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    if document["version"] != _VERSION:
        raise ProgramError("the catalog was written by a later version of Wiesel", hint="use that version, or a catalog of your own")
    return document


def _statistics(partition: tuple[str | None, ...], found: TableStatistics) -> dict[str, Any]:
    columns = {name: {key: value for key, value in asdict(of).items() if value is not None} for name, of in found.columns.items()}
    others = {key: value for key in _OF_FILES if (value := getattr(found, key)) not in (None, {})}
    return {"partition": list(partition), "rows": found.rows, "columns": columns, **others}


def _statistics_of(document: Mapping[str, Any]) -> tuple[tuple[str | None, ...], TableStatistics]:
    columns = {name: ColumnStatistics(**values) for name, values in document["columns"].items()}
    others = {key: document[key] for key in _OF_FILES if key in document}
    return tuple(document["partition"]), TableStatistics(document["rows"], columns, **others)


def _schema(schema: ResolvedSchema) -> dict[str, Any]:
    found: dict[str, Any] = {"columns": [_column(column) for column in schema.columns]}
    if schema.primary_key is not None:
        found["primary_key"] = {"name": schema.primary_key.name, "columns": list(schema.primary_key.columns)}
    if schema.watermark is not None:
        found["watermark"] = {"column": schema.watermark.column, "expression": schema.watermark.expression}
    return found


def _column(column: Column) -> dict[str, Any]:
    assert isinstance(column.data_type, DataType)  # noqa: S101 - schemas of catalogs are resolved
    text = column.data_type.as_summary_string()
    if parse_data_type(text) != column.data_type:
        raise ProgramError(f"a column of type {text} cannot be kept", hint="use another type, or a temporary table")
    found: dict[str, Any] = {"name": column.name, "type": text, "comment": column.comment}
    if isinstance(column, ComputedColumn):
        found["expression"] = column.expression
    elif isinstance(column, MetadataColumn):
        found["metadata"] = {"key": column.key, "virtual": column.is_virtual}
    return found


def _schema_of(document: dict[str, Any]) -> ResolvedSchema:
    key, watermark = document.get("primary_key"), document.get("watermark")
    return ResolvedSchema(
        tuple(_column_of(column) for column in document["columns"]),
        None if key is None else PrimaryKey(key["name"], tuple(key["columns"])),
        None if watermark is None else WatermarkSpec(watermark["column"], watermark["expression"]),
    )


def _column_of(document: dict[str, Any]) -> Column:
    name, data_type, comment = document["name"], parse_data_type(document["type"]), document["comment"]
    if "expression" in document:
        return ComputedColumn(name, data_type, document["expression"], comment)
    if "metadata" in document:
        return MetadataColumn(name, data_type, document["metadata"]["key"], document["metadata"]["virtual"], comment)
    return PhysicalColumn(name, data_type, comment)
