"""Internal. Uids of the operators of a job, by what they compute: state finds its operator again when other parts of a job are edited.

What counts is what an operator's state depends on: tables by their names, columns by how they are computed of the columns of tables,
conditions, keys and aggregates in their order, and which columns are kept. The names of views and of columns, the order of statements, and
what is done with results do not count. State of an operator that computes something else is not taken for its own.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from wiesel.columnar.expressions import Call, Expression, InputRef, Literal
from wiesel.columnar.functions.user_functions import UserFunction
from wiesel.runtime.table.process.spec import UserProcessFunction
from wiesel.sql.plan.relations import Aggregate, ArrowScan, Field, Filter, Project, Relation, StreamScan, TableScan, TopN, WatermarkAssigner
from wiesel.sql.plan.user_relations import ProcessTable

__all__ = ["OperatorUids"]

_STATELESS = (
    "Project",
    "Filter",
    "Union",
    "Expand",
    "Values",
    "WindowTable",
    "WatermarkAssigner",
    "Unnest",
    "ToChangelog",
    "FromChangelog",
    "ArrowScan",
    "StatisticsScan",
    "StreamScan",
    "TableScan",
)
_UNIMPORTANT = ("columns", "hint", "parallelism", "phases", "revises", "row_key", "strategy", "ttl")
_UNIMPORTANT_PARTS = ("newest_first",)
_DIGITS = 12


class OperatorUids:
    """Gives uids, each once.

    Args:
        taken: Those that a job has already.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._known: dict[int, tuple[Relation, str, list[str]]] = {}

    def of(self, relation: Relation) -> str | None:
        """Return the uid of a relation's operator; None if it has no state. Readings of tables are named by the tables."""
        if relation.name in _STATELESS:
            return None
        if isinstance(relation, ProcessTable):  # its state stays its own when the query around it changes
            return self.unique(f"{relation.name}-{relation.uid}") if relation.has_state else None
        return self.unique(f"{relation.name}-{self._described(relation)[0]}")

    def beside(self, relation: Relation, name: str) -> str:
        """Return the uid of another operator of a relation, which has state of its own; call it once."""
        return self.unique(f"{name}-{self._described(relation)[0]}")

    def unique(self, uid: str) -> str:
        """Return a uid, with a number behind it if it is taken."""
        found, number = uid, 1
        while found in self._taken:
            number += 1
            found = f"{uid}#{number}"
        self._taken.add(found)
        return found

    def _described(self, relation: Relation) -> tuple[str, list[str]]:
        """Return a digest of a relation, and a text for each of its columns."""
        if id(relation) not in self._known:
            digest, columns = self._describe(relation)
            self._known[id(relation)] = (relation, digest, columns)  # the relation stays alive, and so its id
        return self._known[id(relation)][1:]

    def _describe(self, relation: Relation) -> tuple[str, list[str]]:
        if isinstance(relation, TableScan | StreamScan | ArrowScan):
            fields_read = relation.declared if isinstance(relation, TableScan) else relation.fields
            columns = [f"{field.name} {field.data_type}" for field in fields_read]
            # Streams and rows of programs have no names, but those of their columns.
            return _digest("table", str(relation.identifier)) if isinstance(relation, TableScan) else _digest("rows", *columns), columns
        below = [self._described(each) for each in relation.inputs]
        columns = [f"{place}.{column}" if len(below) > 1 else column for place, (_, names) in enumerate(below) for column in names]
        inputs = [digest for digest, _ in below]
        if isinstance(relation, Project):
            return inputs[0], [_text(each, columns) for each in relation.expressions]
        if isinstance(relation, Filter | WatermarkAssigner):
            told = _text(relation.condition, columns) if isinstance(relation, Filter) else columns[relation.column]
            return _digest(relation.name, *inputs, told), columns
        values = [getattr(relation, each.name) for each in fields(relation) if each.name not in _UNIMPORTANT]  # type: ignore[arg-type]
        # State that is split between phases is stored elsewhere; otherwise the phases distribute their state in the same way.
        split = ["split"] if isinstance(relation, Aggregate) and relation.phases.buckets else []
        # So do first rows that wait for the watermark; those that come at once have the state of any other Top-N.
        split += ["waits"] if isinstance(relation, TopN) and relation.waits_for_watermark else []
        # Those of rows that only move up have the rows in place alone.
        split += ["updated"] if isinstance(relation, TopN) and relation.row_key is not None else []
        digest = _digest(relation.name, *inputs, *columns, *(_text(value, columns) for value in values), *split)
        return digest, [f"{digest}.{place}" for place in range(len(relation.fields))]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(f"{len(part)} {part}" for part in parts).encode()).hexdigest()[:_DIGITS]


def _text(value: Any, columns: Sequence[str]) -> str:
    """Return a part of a relation as a text without the names of its columns."""
    if isinstance(value, InputRef):
        return columns[value.index] if value.index < len(columns) else f"${value.index}"
    if isinstance(value, Literal):
        return f"{value.value!r} {value.data_type}"
    if isinstance(value, Call) and value.function == "FIELD OF":
        # Of the type of a row fields may be left out, which is another matter.
        return f"{value.function}{_text(value.options, columns)}({_text(value.operands, columns)})"
    if isinstance(value, Call):
        return f"{value.function}{_text(value.options, columns)}({_text(value.operands, columns)}) {value.data_type}"
    if isinstance(value, UserFunction | UserProcessFunction):
        return value.name
    if isinstance(value, Field):
        return f"{value.data_type} {value.time}"
    if isinstance(value, Relation):
        return ""  # inputs are described by their digests
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(each, columns) for each in value)}]"
    if is_dataclass(value) and not isinstance(value, type | Expression):
        parts = [getattr(value, each.name) for each in fields(value) if each.name not in _UNIMPORTANT_PARTS]
        return f"{type(value).__name__}{_text(parts, columns)}"
    return repr(value)
