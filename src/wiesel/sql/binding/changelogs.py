"""Internal. TO_CHANGELOG and FROM_CHANGELOG: changes as rows with a code, and rows with a code as changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.sql.binding.problems import meant, problem
from wiesel.sql.binding.table_arguments import map_of_strings, named_arguments, table_argument
from wiesel.sql.language import nodes
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.changelog_relations import FromChangelog, ToChangelog
from wiesel.sql.plan.relations import Field, Project, Relation, TimeAttribute
from wiesel.types.logical import CharType, VarCharType, quoted
from wiesel.types.logical_parser import parse_data_type

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["CHANGELOGS", "changelog"]

CHANGELOGS = ("TO_CHANGELOG", "FROM_CHANGELOG")
_ARGUMENTS = ("INPUT", "[OP]", "[OP_MAPPING]", "[ON_TIME]", "[UID]")
_KINDS = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}
_DEFAULT = "op"


def changelog(queries: QueryBinder, node: exp.Expr) -> Relation:
    """Return the plan of a call such as ``TO_CHANGELOG(input => TABLE t, op => DESCRIPTOR(op), op_mapping => MAP['INSERT', 'I'])``.

    Raises:
        SqlParseError: If it cannot be called like that.
    """
    name = str(node.name).upper()
    given = named_arguments(queries.sql, node, name, _ARGUMENTS, f"write {name}(input => TABLE t)")
    data = given["INPUT"]
    if not isinstance(data, nodes.TableArgument | exp.Subquery):
        raise problem(queries.sql, data, f"the input of {name} is a table", f"write {name}(input => TABLE t)")
    if data.args.get("partition_by"):
        hint = "leave PARTITION BY out: rows are looked at one by one"
        raise problem(queries.sql, data, f"{name} takes no PARTITION BY", hint)
    relation = queries.bind(data) if isinstance(data, exp.Subquery) else table_argument(queries, data)
    op = _column_name(queries.sql, given.get("OP"), "op") or _DEFAULT
    mapping = map_of_strings(queries, given.get("OP_MAPPING"), "op_mapping")
    make = _to_changelog if name == "TO_CHANGELOG" else _from_changelog
    return make(queries, node, relation, op, mapping, given)


def _column_name(sql: str, node: Any, argument: str) -> str | None:
    if node is None:
        return None
    if not isinstance(node, nodes.Descriptor) or len(node.expressions) != 1:
        raise problem(sql, node, f"{argument} is a descriptor of one column", f"write {argument} => DESCRIPTOR(name)")
    return str(node.expressions[0].name)


def _to_changelog(
    queries: QueryBinder, node: exp.Expr, relation: Relation, op: str, mapping: Mapping[str, str], given: Mapping[str, Any]
) -> Relation:
    if any(field.name == op for field in relation.fields):
        message = f"the table has a column {quoted(op)} already"
        raise problem(queries.sql, given.get("OP") or node, message, "name the column of the codes: op => DESCRIPTOR(kind)")
    codes: dict[str, str] = {}
    for kinds, code in mapping.items():
        for kind in _parts(kinds):
            _check_kind(queries.sql, given["OP_MAPPING"], kind, codes, "name each kind of change once")
            codes[kind] = code
    told = tuple((_KINDS[kind], code) for kind, code in (codes or {kind: kind for kind in _KINDS}).items())
    made = ToChangelog(relation, told, (Field(op, parse_data_type("STRING")), *relation.fields))
    return _with_time(queries, made, given.get("ON_TIME"))


def _with_time(queries: QueryBinder, made: ToChangelog, node: Any) -> Relation:
    """Return rows with the column ``rowtime`` that ``on_time`` asks for."""
    name = _column_name(queries.sql, node, "on_time")
    if name is None:
        return made
    if not changes_of(made.input).append_only:
        raise problem(queries.sql, node, "on_time is for tables of new rows only, as in Flink", "leave it out")
    place = next((place for place, field in enumerate(made.fields) if field.name == name and field.time is TimeAttribute.ROWTIME), None)
    if place is None:
        raise problem(queries.sql, node, f"{quoted(name)} is no column with event time", "declare WATERMARK FOR it in the table")
    time = made.fields[place]
    refs = [InputRef(field.data_type, index, field.name) for index, field in enumerate(made.fields)]
    added = Field("rowtime", time.data_type.not_null(), time.time)
    return Project(made, (*refs, InputRef(added.data_type, place, time.name)), (*made.fields, added))


def _from_changelog(
    queries: QueryBinder, node: exp.Expr, relation: Relation, op: str, mapping: Mapping[str, str], given: Mapping[str, Any]
) -> Relation:
    sql = queries.sql
    if "ON_TIME" in given:
        raise problem(sql, given["ON_TIME"], "on_time is not for functions that make changes, as in Flink", "leave it out")
    place = next((place for place, field in enumerate(relation.fields) if field.name == op), None)
    at = given.get("OP") or node
    if place is None:
        hint = meant(op, [field.name for field in relation.fields]) or "name the column of the codes: op => DESCRIPTOR(kind)"
        raise problem(sql, at, f"the table has no column {quoted(op)}", hint)
    kind_of_op = relation.fields[place].data_type
    if not isinstance(kind_of_op, CharType | VarCharType):
        message = f"column {quoted(op)} holds the codes and must be a STRING, but is {kind_of_op.as_summary_string()}"
        raise problem(sql, at, message, "name another column, or CAST it in a query")
    if not changes_of(relation).append_only:
        hint = "TO_CHANGELOG makes new rows of changes"
        raise problem(sql, given["INPUT"], "FROM_CHANGELOG reads tables of new rows only, but this one updates or deletes rows", hint)
    codes = _kinds_by_code(sql, given.get("OP_MAPPING"), mapping)
    columns = tuple(field for index, field in enumerate(relation.fields) if index != place)
    return FromChangelog(relation, place, codes, columns)


def _kinds_by_code(sql: str, node: Any, mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if not mapping:
        return tuple(_KINDS.items())
    kinds: dict[str, str] = {}
    found: dict[str, str] = {}
    for strings, kind in mapping.items():
        _check_kind(sql, node, kind, kinds, "write the codes of a kind in one key: MAP['c, r', 'INSERT']")
        kinds[kind] = strings
        for code in _parts(strings):
            if code in found:
                raise problem(sql, node, f"code {code!r} is there twice in op_mapping", "name each code once")
            found[code] = _KINDS[kind]
    if "UPDATE_AFTER" in kinds and "UPDATE_BEFORE" not in kinds:
        message = "op_mapping has UPDATE_AFTER without UPDATE_BEFORE: updates are told by the old and the new row"
        raise problem(sql, node, message, "name a code for UPDATE_BEFORE, too; upserts by key are not read, as in Flink")
    return tuple(found.items())


def _check_kind(sql: str, node: exp.Expr, kind: str, known: Mapping[str, str], once: str) -> None:
    if kind not in _KINDS:
        hint = meant(kind.upper(), list(_KINDS)) or f"the kinds are {', '.join(_KINDS)}"
        raise problem(sql, node, f"op_mapping has {kind!r}, which is no kind of change", hint)
    if kind in known:
        raise problem(sql, node, f"op_mapping has {kind} twice", once)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
