"""Internal. Results of ``SHOW`` and ``DESCRIBE``: rows of strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wiesel.columnar.functions.registry import function_names
from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.schema import Column, ComputedColumn, MetadataColumn, ResolvedSchema
from wiesel.sql.catalog.catalogs import PlanView
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.catalog.modules import hive_functions
from wiesel.sql.catalog.named_models import CatalogModels
from wiesel.sql.ddl.canonical_expressions import canonical_expression
from wiesel.sql.language import statements as s
from wiesel.types.logical import BooleanType, DataType, RowField, RowType, VarCharType, quoted

__all__ = ["Information", "declared_times", "describe", "named_functions", "show", "strings"]

_TEXT = VarCharType(2**31 - 1)


@dataclass(frozen=True)
class Information:
    """Rows with their columns."""

    columns: RowType
    rows: list[tuple[object, ...]]


def strings(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Information:
    """Return rows of strings; a column is BOOLEAN where its first value is one."""
    first = rows[0] if rows else ("",) * len(names)
    types: list[DataType] = [BooleanType() if isinstance(value, bool) else _TEXT for value in first]
    return Information(RowType([RowField(name, kind) for name, kind in zip(names, types, strict=True)]), list(rows))


def show(catalogs: CatalogManager, statement: s.Show, times: Mapping[str, str]) -> Information:
    """Return what SHOW shows; ``times`` are the columns with time attributes, ``ROWTIME`` and ``PROCTIME``, where it shows columns.

    Raises:
        ProgramError: If what it asks for is not there, or not supported.
    """
    if statement.what == "COLUMNS":
        return _columns(catalogs, statement, times)
    handler = _SHOWN.get(statement.what)
    if handler is None:
        raise ProgramError(f"SHOW {statement.what} is not supported in this version", hint="leave the statement out")
    return handler(catalogs, statement)


def _liked(names: Sequence[str], statement: s.Show) -> list[str]:
    if statement.pattern is None:
        return list(names)
    wild = {"%": ".*", "_": "."}
    pattern = "".join(wild.get(letter, re.escape(letter)) for letter in statement.pattern)
    matches = re.compile(pattern, re.DOTALL | (re.IGNORECASE if statement.ignore_case else 0)).fullmatch
    return [name for name in names if bool(matches(name)) != statement.negated]


def _names(title: str, names: Sequence[str]) -> Information:
    return strings([title], [(name,) for name in names])


def _database(catalogs: CatalogManager, path: s.Path) -> tuple[str, str]:
    if not path:
        return catalogs.current
    catalog, name = catalogs.qualify_database(path)
    catalogs.database(catalog, name)
    return catalog, name


def _tables(catalogs: CatalogManager, statement: s.Show) -> Information:
    return _names("table name", _liked(catalogs.names(*_database(catalogs, statement.of)), statement))


def _views(catalogs: CatalogManager, statement: s.Show) -> Information:
    return _names("view name", _liked(catalogs.names(*_database(catalogs, statement.of), views_only=True), statement))


def _databases(catalogs: CatalogManager, statement: s.Show) -> Information:
    catalog = catalogs.catalog(statement.of[-1] if statement.of else catalogs.current[0])
    return _names("database name", _liked(sorted(catalog.databases), statement))


def _columns(catalogs: CatalogManager, statement: s.Show, times: Mapping[str, str]) -> Information:
    described = _described(catalogs.find(statement.of)[1].schema, times)
    names = set(_liked([str(row[0]) for row in described.rows], statement))
    return Information(described.columns, [row for row in described.rows if row[0] in names])


def _create_table(catalogs: CatalogManager, statement: s.Show) -> Information:
    identifier, entry = catalogs.find(statement.of)
    if not isinstance(entry, CatalogTable):
        raise ProgramError(f"{identifier.sql} is a view, not a table", hint="write SHOW CREATE VIEW")
    found = catalogs.get(identifier)
    return _names("result", [_table_text(identifier, entry, temporary=bool(found and found[1]))])


def _table_text(identifier: ObjectIdentifier, table: CatalogTable, *, temporary: bool) -> str:
    schema = table.schema
    lines = [_column_text(column) for column in schema.columns]
    if schema.watermark is not None:
        expression = canonical_expression(schema.watermark.expression, {column.name for column in schema.columns})
        lines.append(f"WATERMARK FOR {quoted(schema.watermark.column)} AS {expression}")
    if schema.primary_key is not None:
        lines.append(str(schema.primary_key))
    text = f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {identifier.sql} (\n" + ",\n".join(f"  {line}" for line in lines) + "\n)\n"
    if table.comment:
        text += f"COMMENT {_literal(table.comment)}\n"
    if table.partition_keys:
        text += f"PARTITIONED BY ({', '.join(map(quoted, table.partition_keys))})\n"
    return text + f"WITH (\n{_options_text(table.options)}\n)\n"


def _options_text(options: object) -> str:
    return ",\n".join(f"  {_literal(key)} = {_literal(value)}" for key, value in sorted(dict(options).items()))  # type: ignore[call-overload]


def _column_text(column: Column) -> str:
    comment = f" COMMENT {_literal(column.comment)}" if column.comment else ""
    if isinstance(column, ComputedColumn):
        return f"{quoted(column.name)} AS {column.expression}{comment}"
    kind = _type_text(column.data_type)
    if isinstance(column, MetadataColumn):
        key = "" if column.key is None else f" FROM {_literal(column.key)}"
        return f"{quoted(column.name)} {kind} METADATA{key}{' VIRTUAL' if column.is_virtual else ''}{comment}"
    return f"{quoted(column.name)} {kind}{comment}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _type_text(data_type: DataType | str | None) -> str:
    """A type as SQL writes it: a text of any length is VARCHAR(2147483647) there."""
    text = data_type.as_summary_string() if isinstance(data_type, DataType) else str(data_type)
    text = re.sub(r"\bTIMESTAMP_LTZ\((\d)\)", r"TIMESTAMP(\1) WITH LOCAL TIME ZONE", text)
    return re.sub(r"\bSTRING\b", "VARCHAR(2147483647)", re.sub(r"\bBYTES\b", "VARBINARY(2147483647)", text))


def _create_view(catalogs: CatalogManager, statement: s.Show) -> Information:
    identifier, entry = catalogs.find(statement.of)
    if isinstance(entry, CatalogTable):
        raise ProgramError(f"{identifier.sql} is a table, not a view", hint="write SHOW CREATE TABLE")
    if isinstance(entry, PlanView):
        raise ProgramError(f"view {identifier.sql} was made by a program, so there is no text of it", hint="see the program")
    found = catalogs.get(identifier)
    columns = ",\n".join(f"  {quoted(column.name)}" for column in entry.schema.columns)
    comment = f"COMMENT {_literal(entry.comment)}\n" if entry.comment else ""
    kind = "TEMPORARY VIEW" if found and found[1] else "VIEW"
    return _names("result", [f"CREATE {kind} {identifier.sql} (\n{columns}\n)\n{comment}AS {entry.expanded or entry.query}\n"])


def _create_catalog(catalogs: CatalogManager, statement: s.Show) -> Information:
    name = statement.of[-1]
    catalog = catalogs.catalog(name)
    if not catalog.is_described:
        raise ProgramError(f"catalog {quoted(name)} was registered by a program, so there is no statement of it", hint="see the program")
    comment = f"COMMENT {_literal(catalog.comment)}\n" if catalog.comment else ""
    options = catalog.options or {"type": "generic_in_memory"}
    return _names("result", [f"CREATE CATALOG {quoted(name)}\n{comment}WITH (\n{_options_text(options)}\n)\n"])


def _models(catalogs: CatalogManager, statement: s.Show) -> Information:
    database = _database(catalogs, statement.of)
    return _names("model name", _liked(CatalogModels(catalogs).names(*database), statement))


def _create_model(catalogs: CatalogManager, statement: s.Show) -> Information:
    identifier, model, temporary = CatalogModels(catalogs).find(statement.of)
    text = f"CREATE {'TEMPORARY ' if temporary else ''}MODEL {identifier.sql}\n"
    for word, schema in (("INPUT", model.inputs), ("OUTPUT", model.outputs)):
        if schema.columns:
            text += f"{word} ({', '.join(map(_column_text, schema.columns))})\n"
    if model.comment:
        text += f"COMMENT {_literal(model.comment)}\n"
    return _names("result", [f"{text}WITH (\n{_options_text(model.options)}\n)\n"])


def _functions(catalogs: CatalogManager, statement: s.Show) -> Information:
    return _names("function name", _liked(named_functions(catalogs), statement))


def named_functions(catalogs: CatalogManager) -> list[str]:
    """Return the names of all functions that are called by a name, in order: those of the modules that are used."""
    own = function_names() if "core" in catalogs.modules.used() else []
    brought = hive_functions() if "hive" in catalogs.modules.used() else {}
    return sorted({*(name for name in own if name.replace("_", "").isalnum()), *brought})


_SHOWN: dict[str, Callable[[CatalogManager, s.Show], Information]] = {
    "TABLES": _tables,
    "VIEWS": _views,
    "DATABASES": _databases,
    "CATALOGS": lambda catalogs, statement: _names("catalog name", _liked(sorted(catalogs.catalogs), statement)),
    "CURRENT CATALOG": lambda catalogs, statement: _names("current catalog name", [catalogs.current[0]]),
    "CURRENT DATABASE": lambda catalogs, statement: _names("current database name", [catalogs.current[1]]),
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "CREATE CATALOG": _create_catalog,
    "FUNCTIONS": _functions,
    "USER FUNCTIONS": lambda catalogs, statement: _names("function name", catalogs.function_names()),
    "MODELS": _models,
    "CREATE MODEL": _create_model,
    "MODULES": lambda catalogs, statement: _names("module name", catalogs.modules.used()),
    "FULL MODULES": lambda catalogs, statement: strings(["module name", "used"], catalogs.modules.all()),
}


def declared_times(schema: ResolvedSchema, *, in_batch: bool) -> dict[str, str]:
    """Return the columns that a schema makes time attributes; in batch mode there is no event time."""
    computed = [column for column in schema.columns if isinstance(column, ComputedColumn)]
    times = {column.name: "PROCTIME" for column in computed if column.expression.upper().replace(" ", "") == "PROCTIME()"}
    return times if in_batch or schema.watermark is None else {**times, schema.watermark.column: "ROWTIME"}


def describe(catalogs: CatalogManager, statement: s.Describe, times: Mapping[str, str]) -> Information:
    """Return what DESCRIBE tells; ``times`` are the columns with time attributes, ``ROWTIME`` and ``PROCTIME``.

    Raises:
        ProgramError: If it is not there, or this kind of thing cannot be described.
    """
    if statement.kind == "TABLE":
        return _described(catalogs.find(statement.path)[1].schema, times)
    if statement.kind == "DATABASE":
        return _described_database(catalogs, statement)
    if statement.kind == "CATALOG":
        return _described_catalog(catalogs, statement)
    if statement.kind == "MODEL":
        return _described_model(catalogs, statement)
    raise ProgramError(f"DESCRIBE {statement.kind} is not supported in this version", hint="leave the statement out")


def _described(schema: ResolvedSchema, times: Mapping[str, str]) -> Information:
    names = ["name", "type", "null", "key", "extras", "watermark"]
    commented = any(column.comment for column in schema.columns)
    rows = [_described_column(column, schema, times, commented=commented) for column in schema.columns]
    found = strings([*names, "comment"] if commented else names, rows)
    kinds: list[DataType] = [BooleanType() if field.name == "null" else _TEXT for field in found.columns]
    return Information(RowType([RowField(field.name, kind) for field, kind in zip(found.columns, kinds, strict=True)]), rows)


def _described_column(column: Column, schema: ResolvedSchema, times: Mapping[str, str], *, commented: bool) -> tuple[object, ...]:
    data_type = column.data_type
    assert isinstance(data_type, DataType)  # noqa: S101 - schemas of catalogs are resolved
    watermark = schema.watermark if schema.watermark is not None and schema.watermark.column == column.name else None
    kind = data_type.nullable().as_summary_string() + (f" *{times[column.name]}*" if column.name in times else "")
    key = schema.primary_key
    keyed = f"PRI({', '.join(key.columns)})" if key is not None and column.name in key.columns else None
    row = (column.name, kind, data_type.is_nullable, keyed, _extras(column), watermark.expression if watermark else None)
    return (*row, column.comment) if commented else row


def _extras(column: Column) -> str | None:
    if isinstance(column, ComputedColumn):
        return f"AS {column.expression}"
    if isinstance(column, MetadataColumn):
        source = "" if column.key is None else f" FROM {_literal(column.key)}"
        return f"METADATA{source}{' VIRTUAL' if column.is_virtual else ''}"
    return None


def _described_database(catalogs: CatalogManager, statement: s.Describe) -> Information:
    catalog, name = catalogs.qualify_database(statement.path)
    database = catalogs.database(catalog, name)
    rows: list[tuple[object, ...]] = [("catalog name", catalog), ("database name", name), ("comment", database.comment)]
    if statement.extended:
        rows += [(f"property: {key}", value) for key, value in sorted(database.options.items())]
    return strings(["info name", "info value"], rows)


def _described_model(catalogs: CatalogManager, statement: s.Describe) -> Information:
    _, model, _ = CatalogModels(catalogs).find(statement.path)
    columns = [(column, is_input) for schema, is_input in ((model.inputs, True), (model.outputs, False)) for column in schema.columns]
    commented = any(column.comment for column, _ in columns)
    rows: list[tuple[object, ...]] = []
    for column, is_input in columns:
        assert isinstance(column.data_type, DataType)  # noqa: S101 - schemas of catalogs are resolved
        row = (column.name, column.data_type.nullable().as_summary_string(), column.data_type.is_nullable, is_input)
        rows.append((*row, column.comment) if commented else row)
    names = ["name", "type", "null", "is input"]
    return strings([*names, "comment"] if commented else names, rows)


def _described_catalog(catalogs: CatalogManager, statement: s.Describe) -> Information:
    name = statement.path[-1]
    catalog = catalogs.catalog(name)
    kind = catalog.options.get("type", "generic_in_memory") if catalog.is_described else None
    rows: list[tuple[object, ...]] = [("name", name), ("type", kind), ("comment", catalog.comment)]
    if statement.extended:
        rows += [(f"option:{key}", value) for key, value in sorted(catalog.options.items()) if key != "type"]
    return strings(["info name", "info value"], rows)
