"""Internal. Functions of the rows around each row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.runtime.table.over.aggregate import OverSpec
from wiesel.runtime.table.over.results import PartitionsSpec
from wiesel.runtime.table.window.count_windows import CountWindowSpec
from wiesel.sql.physical.final_rows import last_rows
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.bound_calls import bound_call
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.over_relations import POSITIONS

if TYPE_CHECKING:
    from wiesel.graph.transformations import OperatorTransformation, Transformation
    from wiesel.sql.plan.over_relations import CountWindowAggregate, OverAggregate

__all__ = ["count_window_aggregate", "over_aggregate"]

_RANKS = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK"})
_IN_BATCH = "or run it in batch mode: SET 'execution.runtime-mode' = 'batch'"


def over_aggregate(translator: Translator, relation: OverAggregate) -> Transformation:
    """Return the rows with the results of the calls.

    Raises:
        ProgramError: If a job without end cannot compute them.
    """
    in_batch = translator.environment._config.get(RUNTIME_MODE) == "BATCH"
    source = translator.by_key(last_rows(translator, relation.input), relation.partition)
    if in_batch or relation.time is None:
        operator = _of_partitions(translator, relation, source, in_batch=in_batch)
    else:
        operator = _in_time(translator, relation, source)
    return operator if relation.partition else single(operator)


def _of_partitions(translator: Translator, relation: OverAggregate, source: Transformation, *, in_batch: bool) -> OperatorTransformation:
    below, frame = relation.input, relation.frame
    if not in_batch:
        _check_changing(relation)
    calls = tuple(bound_call(call, below, retracts=False) for call in relation.calls)
    keys = tuple((key.index, key.ascending, key.nulls_first) for key in relation.keys)
    spec = PartitionsSpec(relation.partition, keys, frame.by_rows, frame.preceding, frame.following, calls, translator.schema(relation))
    if in_batch:
        return translator.operator("OverAggregate", "table_over_batch", spec, [source])
    payload = {"spec": spec, "sends_before": translator.changes.sends_before(relation)}
    return translator.operator("OverAggregate", "table_over_changes", payload, [source])


def _check_changing(relation: OverAggregate) -> None:
    if not relation.keys:
        raise ProgramError("OVER in a job without end needs an ORDER BY", hint=f"order by the time of the rows, {_IN_BATCH}")
    frame = relation.frame
    if all(call.function == "LAG" for call in relation.calls):
        return
    if frame.preceding is not None or frame.following != 0:
        message = "in a job without end, frames other than from the first row to the current one need an ORDER BY of the time of the rows"
        raise ProgramError(message, hint=f"write ROWS or RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, {_IN_BATCH}")


def _in_time(translator: Translator, relation: OverAggregate, source: Transformation) -> OperatorTransformation:
    below, frame = relation.input, relation.frame
    if not changes_of(below).append_only:
        message = "functions with OVER in the order of time read tables of new rows only, in a job without end"
        raise ProgramError(message, hint="let them read a table to which rows are only added, or order by a column that is no time")
    for call in relation.calls:
        if call.function in POSITIONS - _RANKS:
            raise ProgramError(f"{call.function} with OVER in the order of time is not supported in a job without end", hint=_IN_BATCH[3:])
    if frame.following != 0 or (frame.preceding is not None and frame.preceding < 0):
        raise ProgramError("OVER in a job without end is supported over rows up to the current one only", hint=_IN_BATCH[3:])
    ranks = {place: call.function for place, call in enumerate(relation.calls) if call.function in _RANKS}
    counted = [replace(call, function="COUNT") if place in ranks else call for place, call in enumerate(relation.calls)]
    calls = tuple(bound_call(call, below, retracts=False) for call in counted)
    preceding = None if frame.preceding is None else int(frame.preceding)
    schema = translator.schema(relation)
    spec = OverSpec(relation.partition, relation.keys[0].index, relation.by_clock, frame.by_rows, preceding, calls, schema, ranks)
    return translator.operator("OverAggregate", "table_over", {"spec": spec}, [source])


def count_window_aggregate(translator: Translator, relation: CountWindowAggregate) -> Transformation:
    """Return the groups of rows by their number.

    Raises:
        ProgramError: In batch mode.
    """
    if translator.environment._config.get(RUNTIME_MODE) == "BATCH":
        message = "windows of a number of rows need an order in which rows come, which batch mode does not have"
        raise ProgramError(message, hint="use streaming mode, or windows of a length of time: lit(5).minutes")
    calls = tuple(bound_call(call, relation.input, retracts=False) for call in relation.calls)
    spec = CountWindowSpec(
        relation.keys, calls, relation.size, relation.slide, translator.schema(relation.input), translator.schema(relation)
    )
    source = translator.by_key(translator.translate(relation.input), relation.keys)
    operator = translator.operator("CountWindowAggregate", "table_count_windows", spec, [source])
    return operator if relation.keys else single(operator)
