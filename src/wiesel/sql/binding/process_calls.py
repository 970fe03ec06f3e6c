"""Internal. Calls of process table functions of users in FROM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, Literal
from wiesel.columnar.functions.registry import cast
from wiesel.runtime.table.process.spec import ArgumentTrait, ProcessArgument, SortDirection, TableInput, UserProcessFunction
from wiesel.sql.binding.problems import at, meant, problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.binding.selection import unique_names
from wiesel.sql.binding.table_arguments import named_arguments, table_argument
from wiesel.sql.dml.sink_types import is_writable
from wiesel.sql.language import nodes
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Field, Project, Relation, TimeAttribute, Values
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.plan.user_relations import ProcessTable
from wiesel.types.logical import IntType, RowType, quoted
from wiesel.types.row import RowKind

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["process_table"]

_SYSTEM = ("[ON_TIME]", "[UID]")


def process_table(queries: QueryBinder, node: exp.Expr, function: UserProcessFunction) -> Relation:
    """Return the plan of a call such as ``f(input => TABLE t PARTITION BY k, n => 5)``.

    Raises:
        SqlParseError: If it cannot be called like that.
    """
    sql = queries.sql
    names = [f"[{each.name.upper()}]" if each.optional else each.name.upper() for each in function.arguments]
    how = f"its arguments are: {', '.join([*names, *_SYSTEM])}"
    given = named_arguments(sql, node, str(node.name), [*names, *_SYSTEM], how)
    times = _times(queries, given.get("ON_TIME"))
    tables: list[TableInput] = []
    relations: list[Relation] = []
    values: list[Expression | None] = []
    for place, argument in enumerate(function.arguments):
        found = given.get(argument.name.upper())
        values.append(None if argument.is_table or found is None else _value(queries, found, argument))
        if argument.is_table:
            relation = _relation(queries, found, argument)
            relations.append(relation)
            tables.append(_table(queries, found, place, argument, relation, times))
    _check_partitions(queries, node, tables, relations)
    timed = next(((table, relation) for table, relation in zip(tables, relations, strict=True) if table.time is not None), None)
    if times and timed is None:
        message = f"no table has a column {quoted(times[0])}"
        known = [field.name for relation in relations for field in relation.fields]
        raise problem(sql, given["ON_TIME"], message, meant(times[0], known) or "name a column with event time: on_time => DESCRIPTOR(ts)")
    fields = []
    for table, relation in zip(tables, relations, strict=True):
        passed = table.argument is not None and ArgumentTrait.PASS_COLUMNS_THROUGH in function.arguments[table.argument].traits
        fields += [relation.fields[index] if passed else replace(relation.fields[index], time=None) for index in table.prefix]
    fields += [Field(field.name, field.data_type) for field in function.result_type]
    if timed is not None:
        time = timed[1].fields[timed[0].time or 0]
        fields.append(Field("rowtime", time.data_type, TimeAttribute.ROWTIME))
    labels = unique_names([field.name for field in fields])
    columns = tuple(replace(field, name=label) for label, field in zip(labels, fields, strict=True))
    if not tables:
        one = Field("$one", IntType(False))
        relations.append(Project(Values(((),), ()), (Literal(one.data_type, 1),), (one,)))
        tables.append(TableInput(None, "", RowType([]), (), None, ("+I",), ()))
    uid = _uid(queries, given.get("UID")) or function.name
    made = ProcessTable(tuple(relations), function, tuple(tables), tuple(values), uid, timed is not None, columns)
    _check_changes(queries, node, made)
    return made


def _times(queries: QueryBinder, node: Any) -> list[str]:
    """Return the columns that ``on_time`` names."""
    if node is None:
        return []
    if not isinstance(node, nodes.Descriptor):
        raise problem(queries.sql, node, "on_time is a descriptor of columns", "write on_time => DESCRIPTOR(ts)")
    return [str(each.name) for each in node.expressions]


def _uid(queries: QueryBinder, node: Any) -> str | None:
    if node is None:
        return None
    bound = queries.expressions(Scope([])).bind(node)
    if not isinstance(bound, Literal) or not isinstance(bound.value, str):
        raise problem(queries.sql, node, "uid is a literal text", "write uid => 'name'")
    return bound.value


def _value(queries: QueryBinder, node: Any, argument: ProcessArgument) -> Expression:
    assert argument.data_type is not None  # noqa: S101 - a value has a type
    if isinstance(node, nodes.TableArgument | nodes.Descriptor):
        raise problem(queries.sql, node, f"the argument {argument.name} is a value", f"write {argument.name} => 5")
    bound = queries.expressions(Scope([])).bind(node)
    if not is_writable(bound.data_type, argument.data_type):
        kinds = f"{bound.data_type.as_summary_string()} is no {argument.data_type.as_summary_string()}"
        raise problem(queries.sql, node, f"argument {argument.name}: {kinds}", "CAST it")
    with at(queries.sql, node):
        return cast(bound, argument.data_type)


def _relation(queries: QueryBinder, node: Any, argument: ProcessArgument) -> Relation:
    if isinstance(node, exp.Subquery):
        return queries.bind(node)
    if not isinstance(node, nodes.TableArgument):
        raise problem(queries.sql, node, f"the argument {argument.name} is a table", f"write {argument.name} => TABLE t")
    return table_argument(queries, node)


def _table(queries: QueryBinder, node: Any, place: int, argument: ProcessArgument, relation: Relation, times: list[str]) -> TableInput:
    """Return what a table is to the function."""
    sql, traits = queries.sql, argument.traits
    names = [field.name for field in relation.fields]
    keys = [_index(queries, column, names) for column in node.args.get("partition_by") or ()]
    order = node.args.get("order")
    if (keys or order) and not argument.is_set:
        message = f"the table {argument.name} has row semantics: its rows are processed one by one"
        raise problem(sql, node, message, f"leave {'PARTITION' if keys else 'ORDER'} BY out")
    if not keys and argument.is_set and ArgumentTrait.OPTIONAL_PARTITION_BY not in traits:
        message = f"the table {argument.name} has set semantics, and needs PARTITION BY"
        raise problem(sql, node, message, f"write {argument.name} => TABLE t PARTITION BY k")
    time = next((names.index(name) for name in times if name in names), None)
    if time is not None and relation.fields[time].time is not TimeAttribute.ROWTIME:
        raise problem(sql, node, f"column {quoted(names[time])} has no event time", "declare WATERMARK FOR it in the table")
    if time is None and ArgumentTrait.REQUIRE_ON_TIME in traits:
        raise problem(sql, node, f"the table {argument.name} needs on_time", "write on_time => DESCRIPTOR(ts)")
    ordered = () if order is None else _order(queries, order, argument, relation, time)
    changes = changes_of(relation)
    if not changes.append_only and ArgumentTrait.SUPPORT_UPDATES not in traits:
        message = f"the table {argument.name} may only get new rows, but this one updates or deletes rows"
        raise problem(sql, node, message, "give the argument SUPPORT_UPDATES, or use TO_CHANGELOG")
    by_key = argument.is_set and ArgumentTrait.REQUIRE_UPDATE_BEFORE not in traits and frozenset(keys) in upsert_keys(relation)
    updates = ([] if by_key else ["-U"]) + ["+U"] if changes.updates else []
    kinds = ["+I", *updates, *(["-D"] if changes.deletes else [])]
    prefix = range(len(names)) if ArgumentTrait.PASS_COLUMNS_THROUGH in traits else keys
    return TableInput(place, argument.name, relation.row_type, tuple(keys), time, tuple(kinds), tuple(prefix), ordered)


def _index(queries: QueryBinder, column: Any, names: list[str]) -> int:
    """Return the index of a column that PARTITION BY or ORDER BY names."""
    if column.name not in names:
        message = f"column {quoted(column.name)} was not found"
        raise problem(queries.sql, column, message, meant(column.name, names) or f"the columns are: {', '.join(names)}")
    return names.index(column.name)


def _order(
    queries: QueryBinder, node: exp.Order, argument: ProcessArgument, relation: Relation, time: int | None
) -> tuple[tuple[int, SortDirection], ...]:
    """Return the columns of ORDER BY."""
    names = [field.name for field in relation.fields]
    found: dict[int, SortDirection] = {}
    for part in node.expressions:
        index = _index(queries, part.this, names)
        if index in found:
            raise problem(queries.sql, part.this, f"column {quoted(names[index])} is twice in ORDER BY", "name each column once")
        nulls = "FIRST" if part.args.get("nulls_first") else "LAST"
        found[index] = SortDirection[f"{'DESC' if part.args.get('desc') else 'ASC'}_NULLS_{nulls}"]
    first = next(iter(found))
    what = f"ORDER BY of the table {argument.name} begins with column {quoted(names[first])}"
    if relation.fields[first].time is not TimeAttribute.ROWTIME:
        raise problem(queries.sql, node.expressions[0].this, f"{what}, which has no event time", "declare WATERMARK FOR it in the table")
    if found[first].is_descending:
        raise problem(queries.sql, node.expressions[0].this, f"{what} in descending order", "rows can be in ascending order of time only")
    if time not in (None, first):
        message = f"{what}, and on_time names {quoted(names[time or 0])}"
        raise problem(queries.sql, node.expressions[0].this, message, "name the same column in both")
    return tuple(found.items())


def _check_changes(queries: QueryBinder, node: exp.Expr, made: ProcessTable) -> None:
    """Refuse calls of functions that take or return updates where these cannot be told from new rows."""
    name, mode = made.function.name, made.changelog_mode()
    arguments = [made.function.arguments[table.argument] for table in made.tables if table.argument is not None]
    returns = not mode.contains_only(RowKind.INSERT)
    if made.timed and (returns or any(table.kinds != ("+I",) for table in made.tables)):
        message = f"{name} takes or returns updates, and cannot be called with on_time"
        raise problem(queries.sql, node, message, "leave on_time out, or use tables and functions of new rows only")
    if returns and any(ArgumentTrait.PASS_COLUMNS_THROUGH in argument.traits for argument in arguments):
        message = f"{name} returns updates, and cannot pass columns through"
        raise problem(queries.sql, node, message, "return the columns with the others")
    upserts = mode.contains(RowKind.UPDATE_AFTER) and not mode.contains(RowKind.UPDATE_BEFORE)
    row_table = next((argument.name for argument in arguments if not argument.is_set), None)
    if upserts and row_table is not None:
        message = f"{name} returns upserts, but the table {row_table} has row semantics, and so no key"
        raise problem(queries.sql, node, message, "declare it as SET_SEMANTIC_TABLE, or return -U rows, too")


def _check_partitions(queries: QueryBinder, node: exp.Expr, tables: list[TableInput], relations: list[Relation]) -> None:
    """Refuse tables whose keys do not fit each other."""
    kinds = [[relation.fields[key].data_type.nullable() for key in table.keys] for table, relation in zip(tables, relations, strict=True)]
    if any(each != kinds[0] for each in kinds):
        shown = " and ".join(f"({', '.join(kind.as_summary_string() for kind in each)})" for each in kinds)
        raise problem(queries.sql, node, f"the tables have keys of different types: {shown}", "CAST the columns in queries")
