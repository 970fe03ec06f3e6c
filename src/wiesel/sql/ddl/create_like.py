"""Internal. ``CREATE TABLE ... LIKE``: what a table takes over from another one."""

from __future__ import annotations

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable
from wiesel.spi.table.schema import Column, ComputedColumn, MetadataColumn, PhysicalColumn, PrimaryKey, WatermarkSpec
from wiesel.sql.ddl.definitions import check_partition_keys, checked_schema, columns_of, primary_key_of, watermark_of
from wiesel.sql.language import statements as s
from wiesel.types.logical import quoted

__all__ = ["table_like"]

_PARTS = ("CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
_NEVER_OVERWRITTEN = ("CONSTRAINTS", "DISTRIBUTION", "PARTITIONS")


def table_like(statement: s.CreateTable, base: CatalogTable, *, made_at: str) -> CatalogTable:
    """Return the table of a statement with LIKE.

    Raises:
        ProgramError: If both define the same thing, and the statement does not say which one counts.
    """
    assert statement.like is not None  # noqa: S101 - for the type checker
    rules = _rules(statement.like)
    elements = statement.elements
    columns = _columns(columns_of(elements), base, rules)
    key = _primary_key(primary_key_of(elements), base, rules)
    watermark = _watermark(watermark_of(elements), base, rules)
    schema = checked_schema(columns, key, watermark)
    table = CatalogTable(
        schema, _options(statement, base, rules), _partition_keys(statement, base, rules), statement.comment or base.comment, made_at
    )
    check_partition_keys(table)
    return table


def _rules(like: s.LikeClause) -> dict[str, str]:
    """Return for each part INCLUDING, EXCLUDING or OVERWRITING."""
    rules = {part: "OVERWRITING" if part == "OPTIONS" else "INCLUDING" for part in _PARTS}
    said: set[str] = set()
    for rule, part in sorted(like.options, key=lambda option: option[1] != "ALL"):
        if part in said:
            raise ProgramError(f"LIKE says {part} more than once", hint="say once what is to happen with it")
        said.add(part)
        if rule == "OVERWRITING" and part in (*_NEVER_OVERWRITTEN, "ALL"):
            raise ProgramError(f"LIKE cannot be OVERWRITING {part}", hint="write INCLUDING or EXCLUDING")
        rules |= dict.fromkeys(_PARTS, rule) if part == "ALL" else {part: rule}
    return rules


def _columns(own: list[Column], base: CatalogTable, rules: dict[str, str]) -> list[Column]:
    taken: dict[str, Column] = {}
    for column in base.schema.columns:
        part = _part_of(column)
        if part is None or rules[part] != "EXCLUDING":
            taken[column.name] = column
    own_names: set[str] = set()
    for column in own:
        there = taken.get(column.name)
        if column.name in own_names:
            raise ProgramError(f"column {quoted(column.name)} is defined more than once", hint="rename one of them")
        own_names.add(column.name)
        if there is not None and not _may_replace(column, there, rules):
            raise ProgramError(
                f"column {quoted(column.name)} is in the base table already",
                hint="rename it, or let computed and metadata columns be OVERWRITING",
            )
        taken[column.name] = column
    return list(taken.values())


def _part_of(column: Column) -> str | None:
    if isinstance(column, PhysicalColumn):
        return None
    return "GENERATED" if isinstance(column, ComputedColumn) else "METADATA"


def _may_replace(column: Column, there: Column, rules: dict[str, str]) -> bool:
    if isinstance(column, PhysicalColumn) or type(column) is not type(there):
        return False
    return rules["GENERATED" if isinstance(column, ComputedColumn) else "METADATA"] == "OVERWRITING" and isinstance(
        there, ComputedColumn | MetadataColumn
    )


def _primary_key(own: PrimaryKey | None, base: CatalogTable, rules: dict[str, str]) -> PrimaryKey | None:
    theirs = base.schema.primary_key if rules["CONSTRAINTS"] != "EXCLUDING" else None
    if own is not None and theirs is not None:
        raise ProgramError("the base table has a primary key already", hint="leave the key out, or write LIKE ... (EXCLUDING CONSTRAINTS)")
    return own or theirs


def _watermark(own: WatermarkSpec | None, base: CatalogTable, rules: dict[str, str]) -> WatermarkSpec | None:
    theirs = base.schema.watermark if rules["WATERMARKS"] != "EXCLUDING" else None
    if own is not None and theirs is not None and rules["WATERMARKS"] != "OVERWRITING":
        raise ProgramError(
            f"the base table has a watermark for {quoted(theirs.column)} already",
            hint="leave the watermark out, or write LIKE ... (OVERWRITING WATERMARKS)",
        )
    return own or theirs


def _options(statement: s.CreateTable, base: CatalogTable, rules: dict[str, str]) -> dict[str, str]:
    if rules["OPTIONS"] == "EXCLUDING":
        return dict(statement.options)
    both = sorted(key for key in statement.options if key in base.options)
    if both and rules["OPTIONS"] == "INCLUDING":
        raise ProgramError(f"the base table has option '{both[0]}' already", hint="leave it out, or write LIKE ... (OVERWRITING OPTIONS)")
    return {**base.options, **statement.options}


def _partition_keys(statement: s.CreateTable, base: CatalogTable, rules: dict[str, str]) -> tuple[str, ...]:
    theirs = base.partition_keys if rules["PARTITIONS"] != "EXCLUDING" else ()
    if statement.partition_keys and theirs:
        raise ProgramError("the base table has partitions already", hint="leave them out, or write LIKE ... (EXCLUDING PARTITIONS)")
    return statement.partition_keys or theirs
