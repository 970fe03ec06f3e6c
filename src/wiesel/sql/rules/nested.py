"""Internal. Of columns that are rows only those fields are read that somebody reads.

A table that is read at several places is read once, for all of them: its columns are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from wiesel.columnar.expressions import Call, Expression, InputRef, transformed
from wiesel.sql.catalog.table_factories import reads_parts_of_rows
from wiesel.sql.plan.relations import Filter, Project, Relation, TableScan, WatermarkAssigner
from wiesel.sql.rules.scan_filters import read_alone
from wiesel.types.logical import DataType, RowField, RowType

__all__ = ["with_parts_of_rows"]

_Path = tuple[str, ...]


def with_parts_of_rows(roots: Sequence[Relation]) -> list[Relation]:
    """Return relations whose readings of tables leave out fields of rows that nobody reads."""
    alone = [scan for scan in read_alone(roots) if reads_parts_of_rows(scan.table)]
    return [_narrowed(root, alone) for root in roots] if alone else list(roots)


def _narrowed(relation: Relation, alone: Sequence[TableScan]) -> Relation:
    if isinstance(relation, Project):
        below = _scan_below(relation.input)
        if below is not None and any(below is each for each in alone):
            return _with_types(relation, below, _types(relation, below))
    inputs = [_narrowed(each, alone) for each in relation.inputs]
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(*inputs)


def _scan_below(relation: Relation) -> TableScan | None:
    """Return the table that a relation reads, if all its columns are the table's."""
    while isinstance(relation, Filter | WatermarkAssigner):
        relation = relation.input
    return relation if isinstance(relation, TableScan) else None


def _types(project: Project, scan: TableScan) -> dict[int, DataType]:
    """Return the columns of which fields can be left out, with the types that are left."""
    expressions: list[Expression] = list(project.expressions)
    below = project.input
    whole = set()
    while isinstance(below, Filter | WatermarkAssigner):
        if isinstance(below, Filter):
            expressions.append(below.condition)
        else:
            whole.add(below.column)
            expressions += [below.watermark] if below.watermark is not None else []
        below = below.input
    read: dict[int, set[_Path]] = {column: {()} for column in whole}
    for expression in expressions:
        for column, path in _paths(expression):
            read.setdefault(column, set()).add(path)
    fields = scan.fields
    types = {column: _left(fields[column].data_type, paths) for column, paths in read.items()}
    return {column: of for column, of in types.items() if of != fields[column].data_type}


def _paths(expression: Expression) -> Iterable[tuple[int, _Path]]:
    """Yield the columns that an expression reads, with the names of the fields that lead to what it reads of them."""
    names: list[str] = []
    part = expression
    while isinstance(part, Call) and part.function == "FIELD OF":
        names.insert(0, part.options[0])
        (part,) = part.operands
    if isinstance(part, InputRef):
        yield part.index, tuple(names)
    elif isinstance(part, Call):
        for operand in part.operands:
            yield from _paths(operand)


def _left(data_type: DataType, paths: set[_Path]) -> DataType:
    """Return a type with those fields only to which paths lead."""
    if () in paths or not isinstance(data_type, RowType):
        return data_type
    fields = [
        RowField(field.name, _left(field.data_type, {path[1:] for path in paths if path[0] == field.name}), field.description)
        for field in data_type
        if any(path[0] == field.name for path in paths)
    ]
    return RowType(fields, data_type.is_nullable)


def _with_types(relation: Relation, scan: TableScan, types: Mapping[int, DataType]) -> Relation:
    """Return a projection, or what is between it and a table, over columns of other types."""
    if not types:
        return relation
    if relation is scan:
        own = tuple(types.get(index, field.data_type) for index, field in enumerate(scan.fields))
        return replace(scan, types=own)
    if isinstance(relation, Project):
        expressions = tuple(_retyped(each, types) for each in relation.expressions)
        return replace(relation, input=_with_types(relation.input, scan, types), expressions=expressions)
    if isinstance(relation, Filter):
        return Filter(_with_types(relation.input, scan, types), _retyped(relation.condition, types))
    assert isinstance(relation, WatermarkAssigner)  # noqa: S101 - as _scan_below() has looked
    watermark = None if relation.watermark is None else _retyped(relation.watermark, types)
    return replace(relation, input=_with_types(relation.input, scan, types), watermark=watermark)


def _retyped(expression: Expression, types: Mapping[int, DataType]) -> Expression:
    def changed(part: Expression) -> Expression | None:
        if isinstance(part, InputRef):
            return replace(part, data_type=types[part.index]) if part.index in types else part
        if not isinstance(part, Call) or part.function != "FIELD OF" or not isinstance(part.data_type, RowType):
            return None
        operand = transformed(part.operands[0], changed)
        row = operand.data_type
        assert isinstance(row, RowType)  # noqa: S101 - rows have fields
        of = row[part.options[0]].data_type
        return replace(part, operands=(operand,), data_type=of.nullable() if row.is_nullable else of)

    return transformed(expression, changed)
