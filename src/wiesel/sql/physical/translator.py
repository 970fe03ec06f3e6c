"""Internal. Makes the operators of a plan in a stream environment."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.expressions import Call, Expression, walk
from wiesel.columnar.type_rules import NESTED
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.graph.specs import READS_WATERMARKS, ColumnKeys, OperatorSpec, PartitionerSpec
from wiesel.graph.transformations import OperatorTransformation, PartitionTransformation, Transformation, UnionTransformation
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.sql.explain.expressions import Notation
from wiesel.sql.explain.physical import PhysicalPlan
from wiesel.sql.plan.changelog import ChangelogPlan, changes_of
from wiesel.sql.plan.operator_parallelism import operator_parallelism, wanted_parallelism
from wiesel.sql.plan.operator_uids import OperatorUids
from wiesel.sql.plan.relations import Filter, Relation, StreamScan
from wiesel.types import Types

if TYPE_CHECKING:
    from wiesel.datastream import StreamExecutionEnvironment

__all__ = ["Translator", "runs_alone", "single"]

# kind of relation -> "module:function"; the function takes (translator, relation) and returns the transformation of its row batches.
_TRANSLATIONS = {
    "TableScan": "scans:table_scan",
    "StreamScan": "scans:stream_scan",
    "ArrowScan": "scans:arrow_scan",
    "StatisticsScan": "scans:statistics_scan",
    "Values": "scans:values",
    "Project": "calc:project",
    "Filter": "calc:filter",
    "Union": "unions:union",
    "Join": "joins:join",
    "Unnest": "lateral:unnest",
    "TemporalJoin": "temporal:temporal_join",
    "LookupJoin": "lookups:lookup_join",
    "TopN": "ordering:top_n",
    "Aggregate": "aggregates:aggregate",
    "TableAggregate": "user_functions:table_aggregate",
    "ProcessTable": "user_functions:process_table",
    "WatermarkAssigner": "windows:watermark_assigner",
    "Expand": "calc:expand",
    "ToChangelog": "changelogs:to_changelog",
    "FromChangelog": "changelogs:from_changelog",
    "Match": "matching:match",
    "OverAggregate": "over:over_aggregate",
    "CountWindowAggregate": "over:count_window_aggregate",
    "WindowTable": "windows:window_table",
    "WindowAggregate": "windows:window_aggregate",
}


_UIDS: weakref.WeakKeyDictionary[StreamExecutionEnvironment, OperatorUids] = weakref.WeakKeyDictionary()
"""The uids in the jobs that programs build on their environments."""


def single(operator: OperatorTransformation) -> OperatorTransformation:
    """Let an operator run in one subtask."""
    operator.node.parallelism = operator.node.max_parallelism = 1
    operator.node.parallelism_set = operator.non_parallel = True
    return operator


def free_parallelism(rows: Transformation) -> None:
    """Let a program set the parallelism of an operator that runs in one subtask; until it does, it runs in one."""
    if isinstance(rows, OperatorTransformation):
        rows.non_parallel, rows.node.max_parallelism = False, None


def runs_alone(rows: Transformation) -> bool:
    """Return whether all of some rows come from operators that run in one subtask."""
    if isinstance(rows, UnionTransformation):
        return all(map(runs_alone, rows.inputs))
    return isinstance(rows, OperatorTransformation) and rows.non_parallel


def _spelled(name: str) -> str:
    """Return the name of a kind of relation in words."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


def _reads_watermarks(relation: Relation) -> bool:
    """Return whether expressions of a relation ask for the watermark."""
    values = vars(relation).values()
    listed = (each for value in values for each in (value if isinstance(value, tuple) else (value,)))
    expressions = (each for each in listed if isinstance(each, Expression))
    return any(isinstance(part, Call) and part.function == "CURRENT_WATERMARK" for each in expressions for part in walk(each))


class Translator:
    """Translates the relations of one job; a relation that is read twice becomes one operator.

    Args:
        environment: Where the operators are made.
        own_job: Whether there is nothing else in the job.

    Attributes:
        environment: Where the operators are made.
        changes: Of which relations ``-U`` is needed: what is translated for a reader is added there first.
        uids: Gives operators their uids.
        strategies: By the ids of scans, how far their rows are, where readers wait for each other.
        plan: The operators in Flink's notation, for their descriptions.
    """

    def __init__(self, environment: StreamExecutionEnvironment, *, own_job: bool = True) -> None:
        self.environment = environment
        self.changes = ChangelogPlan()
        # What several calls add to a job of the program must not have the same uids.
        self.uids = OperatorUids() if own_job else _UIDS.setdefault(environment, OperatorUids())
        self.strategies: dict[int, WatermarkStrategy] = {}
        self.plan = PhysicalPlan([], Notation.EXECUTION, in_batch=environment._config.get(RUNTIME_MODE) == "BATCH", changes=self.changes)
        self._parallelism = operator_parallelism(environment._config)
        self._done: dict[int, tuple[Relation, Transformation]] = {}

    def translate(self, relation: Relation) -> Transformation:
        """Return the transformation whose records are the relation's :class:`~wiesel.columnar.row_batch.RowBatch`.

        Raises:
            ProgramError: If the relation cannot be run, or a table cannot be read.
        """
        if id(relation) not in self._done:
            place = _TRANSLATIONS.get(type(relation).__name__)
            if place is None:
                raise ProgramError(
                    f"{_spelled(type(relation).__name__)} cannot be run in this version", hint="leave it out of the table or query"
                )
            self.plan.node(relation)  # from the top, so that results have the names that projections give them
            module, _, function = str(place).partition(":")
            made = getattr(importlib.import_module(f"wiesel.sql.physical.{module}"), function)(self, relation)
            if isinstance(made, OperatorTransformation) and not isinstance(relation, StreamScan):
                made.node.description = made.node.description or self.plan.description(relation)
                if any(map(_reads_watermarks, (relation, *(below for below in relation.inputs if isinstance(below, Filter))))):
                    made.node.operator = replace(made.node.operator, params={**made.node.operator.params, READS_WATERMARKS: True})
            if isinstance(made, OperatorTransformation) and made.node.uid is None:
                made.node.uid = self.uids.of(relation)
                made = self._with_parallelism(made, relation)
            self._done[id(relation)] = (relation, made)  # the relation stays alive, and so its id
        return self._done[id(relation)][1]

    def _with_parallelism(self, operator: OperatorTransformation, relation: Relation) -> Transformation:
        wanted = wanted_parallelism(relation, operator.node.uid, self._parallelism)
        if wanted is None or operator.non_parallel:
            return operator
        operator.node.parallelism, operator.node.parallelism_set = wanted, True
        # What reads it has another parallelism: changes must not be dealt out to its subtasks in turn.
        return operator if changes_of(relation).append_only else self.in_order(relation, operator)

    def operator(
        self, name: str, kind: str, payload: Any, inputs: Sequence[Transformation], *, keyed: bool = False
    ) -> OperatorTransformation:
        """Add an operator of a kind of the registry."""
        operator = self.environment._new_operator(name, OperatorSpec(kind, {}, payload), tuple(inputs), Types.PICKLED_BYTE_ARRAY(), "{}")
        operator.node.keyed = keyed
        # The order of changes of a row must be kept: a single subtask's output that is not distributed by key stays on one subtask.
        if inputs and all(map(runs_alone, inputs)):
            single(operator)
        return operator

    def by_key(self, source: Transformation, columns: Sequence[int], *, in_place: bool = False) -> Transformation:
        """Return the rows of a transformation hash-distributed by columns; all to one subtask without columns.

        Args:
            source: The transformation.
            columns: Its columns.
            in_place: Whether the rows lie by these columns already, unless operators have a parallelism of their own.
        """
        keys = ColumnKeys(tuple(columns), in_place and not self._parallelism)
        partitioner = PartitionerSpec("hash", keys) if columns else PartitionerSpec("global")
        return PartitionTransformation(source.output_type, source.location, source, partitioner)

    def in_order(self, relation: Relation, rows: Transformation) -> Transformation:
        """Return changes distributed so that the order of equal rows is kept: a retraction must not precede the insertion."""
        return self.by_key(rows, [index for index, field in enumerate(relation.fields) if not isinstance(field.data_type, NESTED)])

    def schema(self, relation: Relation) -> Any:
        """Return the schema of a relation's batches."""
        return arrow_schema((field.name, field.data_type) for field in relation.fields)
