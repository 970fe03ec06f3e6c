"""Internal. MATCH_RECOGNIZE: the operator of patterns over batches of rows.

Conditions and results over single rows are precomputed as columns for whole batches. So a condition on one row alone costs a tuple access;
others are evaluated over the values of the rows taken so far, results for all matches of a watermark at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.cep.compiler import compile_pattern
from wiesel.cep.conditions import IterativeCondition, SimpleCondition
from wiesel.cep.functions import Match
from wiesel.cep.operator import CepOperator
from wiesel.cep.pattern import Pattern
from wiesel.cep.skip import AfterMatchSkipStrategy
from wiesel.cep.spec import CepSpec
from wiesel.columnar.aggregates.calls import Input, accumulators, reduced
from wiesel.columnar.aggregates.registry import Accumulator
from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate, evaluate_all
from wiesel.columnar.grouping import Groups
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.columnar.windows import milliseconds
from wiesel.core.durations import Duration
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.table.base import session_of
from wiesel.runtime.table.match_spec import MatchSpec, ValueSpec, VariableSpec
from wiesel.spi.functions import Function
from wiesel.wire.batch import Batch

__all__ = ["match_operator"]

Event = tuple[Any, ...]
Rows = Callable[[int, str | None], list[Event]]
"""The rows of a variable (None: all) in a match of a number."""


class _Values:
    """Computes values of matches as columns."""

    def __init__(self, specs: Sequence[ValueSpec], schema: pa.Schema) -> None:
        self._specs = specs
        self._schema = schema
        self._accumulators = [None if spec.call is None else accumulators([spec.call])[0] for spec in specs]

    def of(self, count: int, rows: Rows) -> pa.RecordBatch:
        """Return the values of some matches, one row for each."""
        columns = []
        for spec, accumulator in zip(self._specs, self._accumulators, strict=True):
            taken = [rows(number, spec.variable) for number in range(count)]
            columns.append(self._placed(spec, taken) if accumulator is None else self._aggregated(spec, accumulator, taken))
        if not columns:
            return pa.RecordBatch.from_pydict({"": pa.nulls(count)})
        return pa.RecordBatch.from_arrays(columns, names=[str(index) for index in range(len(columns))])

    @staticmethod
    def _placed(spec: ValueSpec, taken: list[list[Event]]) -> Any:
        offset, column = spec.offset, spec.column
        reach = offset + 1 if offset >= 0 else -offset
        return pa.array([rows[offset][column] if len(rows) >= reach else None for rows in taken], spec.type)

    def _aggregated(self, spec: ValueSpec, accumulator: Accumulator, taken: list[list[Event]]) -> Any:
        assert spec.call is not None  # noqa: S101 - for the type checker
        ids = np.repeat(np.arange(len(taken)), [len(rows) for rows in taken])
        events = [row for rows in taken for row in rows]
        columns = [pa.array([row[index] for row in events], self._schema.field(index).type) for index in spec.call.arguments]
        return accumulator.finish(reduced(accumulator, Input(columns, Groups(ids, len(taken))))).cast(spec.type)


class _ColumnCondition(SimpleCondition):
    """A condition computed as a column."""

    def __init__(self, column: int) -> None:
        self._column = column

    def filter(self, value: Any, ctx: IterativeCondition.Context | None = None) -> bool:
        return value[self._column] is True


class _RowsCondition(IterativeCondition):
    """A condition computed by an expression over the row and those taken before it."""

    def __init__(self, variable: VariableSpec, names: list[str], schema: pa.Schema, session: Callable[[], Session]) -> None:
        self._variable = variable
        self._names = names
        self._values = _Values(variable.values, schema)
        self._session = session

    def filter(self, value: Any, ctx: IterativeCondition.Context) -> bool:
        def rows(number: int, variable: str | None) -> list[Event]:
            if variable is not None:
                taken = ctx.get_events_for_pattern(variable)
                return [*taken, value] if variable == self._variable.name else taken
            return [*(event for name in self._names for event in ctx.get_events_for_pattern(name)), value]

        condition = self._variable.condition
        assert condition is not None  # noqa: S101 - for the type checker
        frame = Frame(self._values.of(1, rows), self._session())
        return as_array(evaluate(condition, frame), 1)[0].as_py() is True


class _Results:
    """Collects matches; their results are computed together."""

    def __init__(self, operator: MatchOperator) -> None:
        self._operator = operator
        self._matches: list[Match] = []

    def add_matches(self, matches: list[Match], time: int) -> None:
        self._matches += matches

    def add_timed_out(self, timed_out: list[Any]) -> None:
        """Ignore partial matches."""

    def flush(self) -> None:
        matches, self._matches = self._matches, []
        if matches:
            self._operator.emit_matches(matches)


class MatchOperator(CepOperator):
    """Matches rows by their time column, or in order of arrival."""

    def __init__(self, spec: MatchSpec) -> None:
        self._match_spec = spec
        self._session = Session()
        self._values = _Values(spec.values, spec.input_schema)
        pattern = self._pattern(spec)
        strategy = pattern.get_after_match_skip_strategy()
        nothing = Function()
        compare = _comparator(spec.order) if spec.order else None
        in_time = spec.time is not None
        super().__init__(
            CepSpec(compile_pattern(pattern), strategy, nothing, lambda match, ctx: None, None, None, in_time, compare, None, None, None)
        )

    def _pattern(self, spec: MatchSpec) -> Pattern:
        strategy = _strategy(spec)
        names = [variable.name for variable in spec.variables]
        pattern: Pattern | None = None
        for variable in spec.variables:
            pattern = Pattern.begin(variable.name, strategy) if pattern is None else pattern.next(variable.name)
            if variable.plain is not None:
                pattern = pattern.where(_ColumnCondition(variable.plain))
            elif variable.condition is not None:
                pattern = pattern.where(_RowsCondition(variable, names, spec.input_schema, lambda: self._session))
            pattern = _quantified(pattern, variable)
        assert pattern is not None  # noqa: S101 - a pattern has variables
        return pattern if spec.within_ms is None else pattern.within(Duration.of_millis(spec.within_ms))

    def open(self) -> None:
        """Restore the state."""
        super().open()
        self._session = session_of(self.context)
        self.results: Any = _Results(self)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Buffer rows until the watermark, or match them."""
        if not batch.values:
            return
        rows = concat(batch.values).rows
        spec = self._match_spec
        times = None if spec.time is None else rows.column(spec.time)
        if times is not None and times.null_count:
            raise UserFunctionError("the event time of a row under MATCH_RECOGNIZE is NULL", hint="filter such rows out")
        columns = [column.to_pylist() for column in rows.columns]
        keys = list(zip(*(columns[index] for index in spec.partition), strict=True)) if spec.partition else [()] * len(rows)
        events = list(zip(*columns, strict=True))
        super().process_batch(Batch(events, None if times is None else milliseconds(times).tolist(), keys), input_index)

    def emit_matches(self, matches: list[Match]) -> None:
        """Hand on the rows of matches."""

        def rows(number: int, variable: str | None) -> list[Event]:
            match = matches[number]
            return match.get(variable, []) if variable is not None else [event for events in match.values() for event in events]

        frame = Frame(self._values.of(len(matches), rows), self._session)
        self.output.emit(Batch([RowBatch(evaluate_all(self._match_spec.outputs, self._match_spec.schema, frame))]))


def _comparator(order: tuple[tuple[int, bool, bool], ...]) -> Callable[[Event, Event], int]:
    def compare(left: Event, right: Event) -> int:
        for index, ascending, nulls_first in order:
            one, other = left[index], right[index]
            if one is None or other is None:
                if (one is None) is not (other is None):
                    return -1 if (one is None) is nulls_first else 1
            elif one != other:
                return -1 if (one < other) is ascending else 1
        return 0

    return compare


def _strategy(spec: MatchSpec) -> AfterMatchSkipStrategy:
    if spec.skip == "next":
        return AfterMatchSkipStrategy.skip_to_next()
    if spec.skip == "past_last":
        return AfterMatchSkipStrategy.skip_past_last_event()
    to = AfterMatchSkipStrategy.skip_to_first if spec.skip == "first" else AfterMatchSkipStrategy.skip_to_last
    return to(str(spec.skip_to)).throw_exception_on_miss()


def _quantified(pattern: Pattern, variable: VariableSpec) -> Pattern:
    least, most = variable.least, variable.most
    if (least, most) == (1, 1):
        return pattern
    if (least, most) == (0, 1):
        return pattern.optional()
    if most is not None:
        made = pattern.times(least, most)
    elif least < 2:
        made = pattern.one_or_more() if least else pattern.one_or_more().optional()
    else:
        made = pattern.times_or_more(least)
    made = made.consecutive()
    return made.greedy() if variable.greedy else made


def match_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator; the payload is its :class:`~wiesel.runtime.table.match_spec.MatchSpec`."""
    return MatchOperator(payload)
