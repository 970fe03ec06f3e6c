"""Internal. ``ALTER TABLE``: the changed table."""

from __future__ import annotations

from dataclasses import replace

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable
from wiesel.spi.table.schema import Column, PhysicalColumn, PrimaryKey, ResolvedSchema, WatermarkSpec
from wiesel.sql.ddl.definitions import check_partition_keys, checked_schema, columns_of, primary_key_of, watermark_of
from wiesel.sql.language import statements as s
from wiesel.types.logical import quoted

__all__ = ["altered"]


def altered(table: CatalogTable, change: s.Change) -> CatalogTable:
    """Return the table after a change.

    Raises:
        ProgramError: If the change does not fit the table, or is not supported.
    """
    if isinstance(change, s.SetOptions):
        return replace(table, options={**table.options, **change.options})
    if isinstance(change, s.ResetOptions):
        return _without_options(table, change.keys)
    if isinstance(change, s.AddColumns):
        return _with_schema(table, _added(table, change))
    if isinstance(change, s.ModifyColumns):
        return _with_schema(table, _modified(table, change))
    if isinstance(change, s.RenameColumn):
        return _renamed(table, change)
    if isinstance(change, s.DropParts):
        return _with_schema(table, _without(table, change))
    raise ProgramError("this change of a table is not supported in this version", hint="create another table and insert into it")


def _with_schema(table: CatalogTable, schema: ResolvedSchema, partition_keys: tuple[str, ...] | None = None) -> CatalogTable:
    # What was found of columns is not what is in those of other names or types.
    same = {column.name for column in schema.columns if column in table.schema.columns}
    statistics = {
        partition: replace(found, columns={name: of for name, of in found.columns.items() if name in same})
        for partition, found in table.statistics.items()
    }
    keys = table.partition_keys if partition_keys is None else partition_keys
    changed = replace(table, schema=schema, partition_keys=keys, statistics=statistics)
    check_partition_keys(changed)
    return changed


def _without_options(table: CatalogTable, keys: tuple[str, ...]) -> CatalogTable:
    if "connector" in keys:
        raise ProgramError("ALTER TABLE RESET cannot take the connector from a table", hint="set another one: SET ('connector' = '...')")
    return replace(table, options={key: value for key, value in table.options.items() if key not in keys})


def _placed(columns: list[Column], column: Column, position: s.ColumnPosition | None) -> None:
    if position is None:
        columns.append(column)
    elif position.after is None:
        columns.insert(0, column)
    else:
        columns.insert(_place(columns, position.after) + 1, column)


def _place(columns: list[Column], name: str) -> int:
    names = [column.name for column in columns]
    if name not in names:
        raise ProgramError(f"column {quoted(name)} was not found", hint=f"the columns are: {', '.join(map(quoted, names))}")
    return names.index(name)


def _added(table: CatalogTable, change: s.AddColumns) -> ResolvedSchema:
    schema = table.schema
    columns = list(schema.columns)
    for column in columns_of(change.elements):
        if column.name in {known.name for known in columns}:
            raise ProgramError(f"column {quoted(column.name)} is in the table already", hint="MODIFY it, or choose another name")
        _placed(columns, column, change.positions.get(column.name))
    key, watermark = primary_key_of(change.elements), watermark_of(change.elements)
    if key is not None and schema.primary_key is not None:
        raise ProgramError(f"the table has primary key {quoted(schema.primary_key.name)} already", hint="MODIFY or DROP it")
    if watermark is not None and schema.watermark is not None:
        raise ProgramError(f"the table has a watermark for {quoted(schema.watermark.column)} already", hint="MODIFY or DROP it")
    return checked_schema(columns, key or schema.primary_key, watermark or schema.watermark)


def _modified(table: CatalogTable, change: s.ModifyColumns) -> ResolvedSchema:
    schema = table.schema
    columns = list(schema.columns)
    for column in columns_of(change.elements):
        place = _place(columns, column.name)
        position = change.positions.get(column.name)
        if column.comment is None:
            column = replace(column, comment=columns[place].comment)
        if position is None:
            columns[place] = column
        else:
            del columns[place]
            _placed(columns, column, position)
    key, watermark = primary_key_of(change.elements), watermark_of(change.elements)
    if key is not None and schema.primary_key is None:
        raise ProgramError("the table has no primary key", hint="ADD it")
    if watermark is not None and schema.watermark is None:
        raise ProgramError("the table has no watermark", hint="ADD it")
    return checked_schema(columns, key or schema.primary_key, watermark or schema.watermark)


def _renamed(table: CatalogTable, change: s.RenameColumn) -> CatalogTable:
    if len(change.old) > 1:
        raise ProgramError("fields of columns cannot be renamed in this version", hint="rename the column")
    old, new, schema = change.old[0], change.new, table.schema
    columns = list(schema.columns)
    place = _place(columns, old)
    if new in {column.name for column in columns}:
        raise ProgramError(f"column {quoted(new)} is in the table already", hint="choose another name")
    columns[place] = replace(columns[place], name=new)
    key, watermark = schema.primary_key, schema.watermark
    if key is not None:
        key = replace(key, columns=tuple(new if name == old else name for name in key.columns))
    if watermark is not None and watermark.column == old:
        watermark = replace(watermark, column=new)
    keys = tuple(new if name == old else name for name in table.partition_keys)
    return _with_schema(table, _checked_without(old, columns, key, watermark, "renamed"), keys)


def _without(table: CatalogTable, change: s.DropParts) -> ResolvedSchema:
    schema = table.schema
    columns, key, watermark = list(schema.columns), schema.primary_key, schema.watermark
    if change.primary_key or change.constraint is not None:
        if key is None or change.constraint not in (None, key.name):
            raise ProgramError("the table has no such primary key", hint="see SHOW CREATE TABLE")
        key = None
    if change.watermark:
        if watermark is None:
            raise ProgramError("the table has no watermark", hint="leave the statement out")
        watermark = None
    for path in change.columns:
        _check_unused(path[-1], key, watermark)
        del columns[_place(columns, path[-1])]
    if not any(isinstance(column, PhysicalColumn) for column in columns):
        raise ProgramError("a table needs a stored column", hint="drop the table instead")
    dropped = change.columns[0][-1] if change.columns else ""
    return _checked_without(dropped, columns, key, watermark, "dropped")


def _check_unused(name: str, key: PrimaryKey | None, watermark: WatermarkSpec | None) -> None:
    if key is not None and name in key.columns:
        raise ProgramError(f"column {quoted(name)} is part of the primary key", hint="drop the primary key first")
    if watermark is not None and watermark.column == name:
        raise ProgramError(f"column {quoted(name)} has the watermark", hint="drop the watermark first")


def _checked_without(
    name: str, columns: list[Column], key: PrimaryKey | None, watermark: WatermarkSpec | None, what: str
) -> ResolvedSchema:
    try:
        return checked_schema(columns, key, watermark)
    except ProgramError as error:
        raise ProgramError(
            f"column {quoted(name)} cannot be {what}, as another one needs it: {error.message}", hint="change that one first"
        ) from error
