"""Internal. Plans of queries: relations over relations, bound and typed, as plain data. Rules change them; ``sql.physical`` runs them.

A relation's ``fields`` are what comes out of it. Columns are known by their index; names are for the last one who looks at them.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wiesel.columnar.expressions import Expression, Literal
from wiesel.runtime.table.aggregate.sampling import Sampling
from wiesel.runtime.table.mini_batch import MiniBatch
from wiesel.runtime.table.watermark import WatermarkEmission
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.types.logical import DataType, LocalZonedTimestampType, RowField, RowType
from wiesel.types.row import RowKind

if TYPE_CHECKING:
    import pyarrow as pa

    from wiesel.datastream import DataStream

__all__ = [
    "ONE_PHASE",
    "Aggregate",
    "AggregateCall",
    "ArrowScan",
    "Field",
    "Filter",
    "Join",
    "JoinHint",
    "JoinType",
    "Limit",
    "Phases",
    "Project",
    "Recursion",
    "RecursiveScan",
    "Relation",
    "Sort",
    "SortKey",
    "StatisticsScan",
    "StreamScan",
    "TableScan",
    "TimeAttribute",
    "TopN",
    "Union",
    "Values",
    "WatermarkAssigner",
    "time_attributes",
    "walk",
]


class TimeAttribute(enum.Enum):
    """The kind of a time attribute, used by windows and temporal joins."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True)
class Field:
    """A column of a relation."""

    name: str
    data_type: DataType
    time: TimeAttribute | None = None

    def __str__(self) -> str:
        attribute = f" *{self.time.value}*" if self.time else ""
        return f"{self.name} {self.data_type.as_summary_string()}{attribute}"


def time_attributes(fields: Iterable[Field], *, in_batch: bool) -> dict[str, str]:
    """Return the columns that have time attributes, ``ROWTIME`` and ``PROCTIME``; as in Flink, rows of batch mode have no event time."""
    shown = [TimeAttribute.PROCTIME] if in_batch else list(TimeAttribute)
    return {field.name: field.time.value for field in fields if field.time is not None and field.time in shown}


Fields = tuple[Field, ...]


class Relation(ABC):
    """A node of a plan."""

    @property
    @abstractmethod
    def fields(self) -> Fields:
        """The columns of the result."""

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The inputs."""
        found = (getattr(self, name) for name in ("input", "left", "right") if hasattr(self, name))
        return tuple(relation for relation in found if isinstance(relation, Relation))

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the relation with other inputs of the same fields."""
        names = [name for name in ("input", "left", "right") if hasattr(self, name)]
        return replace(self, **dict(zip(names, inputs, strict=True)))  # type: ignore[type-var]

    @property
    def row_type(self) -> RowType:
        """The type of the rows."""
        return RowType([RowField(field.name, field.data_type) for field in self.fields], nullable=False)

    @property
    def schema(self) -> ResolvedSchema:
        """The columns as a schema."""
        return ResolvedSchema.physical(self.row_type)

    @property
    def name(self) -> str:
        """The name in EXPLAIN."""
        return type(self).__name__


def walk(relation: Relation) -> Iterator[Relation]:
    """Yield a relation and all below it, inputs first."""
    for below in relation.inputs:
        yield from walk(below)
    yield relation


@dataclass(frozen=True)
class TableScan(Relation):
    """Reads a table of a catalog: its stored columns. What is computed or declared stands in relations above it.

    ``columns``: the places of those stored columns that are read; None for all. ``filters``: conditions over them; rows for which one is
    not true may be left out, and are if the connector sees at once where there are none but such. ``limit``: how many rows are wanted.
    ``types``: those of the columns that are read, where fields of rows are left out; None for the declared ones.
    """

    identifier: ObjectIdentifier
    table: CatalogTable
    columns: tuple[int, ...] | None = None
    filters: tuple[Expression, ...] = ()
    limit: int | None = None
    types: tuple[DataType, ...] | None = None

    @property
    def fields(self) -> Fields:
        """The stored columns that are read."""
        if self.types is None:
            return self.declared
        return tuple(Field(field.name, of) for field, of in zip(self.declared, self.types, strict=True))

    @property
    def declared(self) -> Fields:
        """The stored columns that are read, with the types that the table declares."""
        stored = tuple(Field(field.name, field.data_type) for field in self.table.schema.physical_row_type)
        return stored if self.columns is None else tuple(stored[index] for index in self.columns)

    @property
    def schema(self) -> ResolvedSchema:
        """All columns of the table, and its primary key."""
        return self.table.schema


_TIME_OF_RECORDS = LocalZonedTimestampType(3, False)


@dataclass(frozen=True)
class StreamScan(Relation):
    """Reads a stream of rows, of these kinds.

    ``rowtime`` is the name of a column with the time of the records, if there is to be one. As a TIMESTAMP it has the wall clock of UTC.
    """

    stream: DataStream
    columns: ResolvedSchema
    kinds: frozenset[RowKind] = frozenset({RowKind.INSERT})
    rowtime: str | None = None
    rowtime_type: DataType = _TIME_OF_RECORDS

    @property
    def fields(self) -> Fields:
        """The fields of the stream's records, and their time."""
        own = tuple(Field(field.name, field.data_type) for field in self.columns.physical_row_type)
        return own if self.rowtime is None else (*own, Field(self.rowtime, self.rowtime_type))


@dataclass(frozen=True, eq=False)
class ArrowScan(Relation):
    """Reads rows that the program has."""

    rows: pa.Table
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class Values(Relation):
    """Rows of expressions without columns."""

    rows: tuple[tuple[Expression, ...], ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class StatisticsScan(Relation):
    """One row of aggregates (``calls``, as strings) that the connector of a table knew without reading its rows."""

    identifier: ObjectIdentifier
    calls: tuple[str, ...]
    row: tuple[Literal, ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class WatermarkAssigner(Relation):
    """Makes a column the event time of the rows: watermarks follow the values of an expression, None for those that come with the rows."""

    input: Relation
    column: int
    watermark: Expression | None
    emission: WatermarkEmission = field(default_factory=WatermarkEmission)

    @property
    def fields(self) -> Fields:
        """Those of the input, one of them with event time."""
        fields = list(self.input.fields)
        fields[self.column] = replace(fields[self.column], time=TimeAttribute.ROWTIME)
        return tuple(fields)


@dataclass(frozen=True)
class Project(Relation):
    """Columns computed of each row."""

    input: Relation
    expressions: tuple[Expression, ...]
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class Filter(Relation):
    """The rows for which a condition is true."""

    input: Relation
    condition: Expression

    @property
    def fields(self) -> Fields:
        """Those of the input."""
        return self.input.fields


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate function over columns of the input.

    Attributes:
        function: Its name in capitals.
        arguments: Indexes of the columns; none for COUNT(*).
        data_type: The type of the result.
        distinct: Whether equal arguments count once.
        filter: Index of a boolean column: rows where it is not true are left out.
        options: What else the call says.
    """

    function: str
    arguments: tuple[int, ...]
    data_type: DataType
    distinct: bool = False
    filter: int | None = None
    options: tuple[object, ...] = ()


@dataclass(frozen=True)
class Phases:
    """Aggregation phases of a result; they do not affect it.

    Attributes:
        local: Whether each task aggregates its rows before they are sent to the tasks of their keys.
        mini_batch: How rows wait for each other in each phase; None if they do not.
        buckets: Over how many buckets of values DISTINCT is split between the phases; 0 for not at all.
        sampling: When rows are sent as they are after all, as there are nearly as many keys; None for never.
    """

    local: bool = False
    mini_batch: MiniBatch | None = None
    buckets: int = 0
    sampling: Sampling | None = None


ONE_PHASE = Phases()


@dataclass(frozen=True)
class Aggregate(Relation):
    """One row per group: the columns of the key, then the results of the calls.

    ``grouping_sets``: which of ``keys`` each row is grouped by in turn; None for all of them once. ``ttl``: after which time (ms) without
    a row a group is forgotten; 0 for never, None for what the job says. ``phases``: how.
    """

    input: Relation
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    columns: Fields
    grouping_sets: tuple[tuple[int, ...], ...] | None = None
    ttl: int | None = None
    parallelism: int | None = None
    """Parallelism set by a hint; 0 for that of the job, None if undecided."""
    phases: Phases = ONE_PHASE

    @property
    def fields(self) -> Fields:
        """Keys and results."""
        return self.columns


class JoinType(enum.Enum):
    """The rows that a join returns in addition to the pairs."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


@dataclass(frozen=True)
class JoinHint:
    """Join strategy hint: ``BROADCAST``, ``SHUFFLE_HASH``, ``SHUFFLE_MERGE`` or ``NEST_LOOP``.

    ``side``: the input that the hint names, 0 for the left one.
    """

    strategy: str
    side: int

    def __str__(self) -> str:
        return f"{self.strategy}({('left', 'right')[self.side]})"


@dataclass(frozen=True)
class Join(Relation):
    """Pairs of rows; the condition reads the columns of the left side and behind them those of the right.

    ``ttl``: after which time (ms) rows of the left and of the right side are forgotten; 0 for never, None for what the job says.
    """

    left: Relation
    right: Relation
    type: JoinType
    condition: Expression | None
    columns: Fields
    ttl: tuple[int | None, int | None] = (None, None)
    hint: JoinHint | None = None
    strategy: JoinHint | None = None
    """Join strategy in batch mode: the side is the build side. None for both sides."""
    parallelism: int | None = None
    """Parallelism set by a hint; 0 for that of the job, None if undecided."""

    @property
    def fields(self) -> Fields:
        """Left columns, and right ones unless it is a semi or anti join."""
        return self.columns


@dataclass(frozen=True)
class Union(Relation):
    """The rows of several relations of the same types, all of them (UNION ALL)."""

    relations: tuple[Relation, ...]
    columns: Fields

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations."""
        return self.relations

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the union of other relations."""
        return replace(self, relations=inputs)

    @property
    def fields(self) -> Fields:
        """The columns, named by the first relation."""
        return self.columns


@dataclass(frozen=True, eq=False)
class RecursiveScan(Relation):
    """Reads the rows that the round before has added to a recursive query."""

    alias: str
    columns: Fields

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class Recursion(Relation):
    """The rows of ``seed``, and those of ``step`` over what was added last (``scan``), again and again until there are none.

    ``distinct``: whether rows that were there before are not added.
    """

    seed: Relation
    step: Relation
    scan: RecursiveScan
    alias: str
    distinct: bool
    columns: Fields

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The initial query, and the query of each round."""
        return self.seed, self.step

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the recursion of other relations of the same fields."""
        seed, step = inputs
        return replace(self, seed=seed, step=step)

    @property
    def fields(self) -> Fields:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class SortKey:
    """A column to sort by."""

    index: int
    ascending: bool = True
    nulls_first: bool = True


@dataclass(frozen=True)
class Sort(Relation):
    """The rows in an order."""

    input: Relation
    keys: tuple[SortKey, ...]

    @property
    def fields(self) -> Fields:
        """Those of the input."""
        return self.input.fields


@dataclass(frozen=True)
class Limit(Relation):
    """Some of the rows: ``count`` (None for all) behind ``offset``; the first ones if the input is sorted."""

    input: Relation
    count: int | None
    offset: int = 0

    @property
    def fields(self) -> Fields:
        """Those of the input."""
        return self.input.fields


@dataclass(frozen=True)
class TopN(Relation):
    """The rows of each partition that come from the ``first`` to the ``last`` place in an order (None: all behind the first).

    ``number`` is the column of the place behind those of the input, which is left out unless ``numbered``.
    """

    input: Relation
    partition: tuple[int, ...]
    keys: tuple[SortKey, ...]
    number: Field
    first: int = 1
    last: int | None = None
    numbered: bool = True
    parallelism: int | None = None
    """Parallelism set by a hint; 0 for that of the job, None if undecided."""
    revises: bool = False
    """True if the first row by event time is emitted immediately and replaced by an earlier one, as in Flink with mini-batches."""
    row_key: tuple[int, ...] | None = None
    """The key of the rows of the input, where their updates only move them up and are read without ``-U``."""

    @property
    def fields(self) -> Fields:
        """Those of the input, and the number."""
        return (*self.input.fields, self.number) if self.numbered else self.input.fields

    @property
    def sorts_only(self) -> bool:
        """Return whether all rows are returned in an order."""
        return self.first == 1 and self.last is None and not self.numbered and not self.partition

    @property
    def numbers_in_time(self) -> bool:
        """Return whether all rows are returned with their numbers in the order of time, which are final."""
        if self.last is not None or not self.numbered or self.first != 1 or len(self.keys) != 1:
            return False
        return self.keys[0].ascending and self.input.fields[self.keys[0].index].time is not None

    @property
    def deduplicates(self) -> bool:
        """Return whether it keeps the first or last row of each partition in time (deduplication)."""
        return self.last == 1 and len(self.keys) == 1 and self.input.fields[self.keys[0].index].time is not None

    @property
    def is_first_in_time(self) -> bool:
        """Return whether it keeps the first row of each partition in time of insert-only input, which is final when emitted."""
        return self.deduplicates and self.keys[0].ascending and not self.revises

    @property
    def waits_for_watermark(self) -> bool:
        """Return whether that is by event time, so that the first row is known when the watermark has passed it."""
        return self.is_first_in_time and self.input.fields[self.keys[0].index].time is TimeAttribute.ROWTIME
