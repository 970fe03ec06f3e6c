"""Internal. Rows that functions of users return for groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wiesel.columnar.aggregates.user_aggregates import UserAggregate, require_retract
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.graph.specs import READS_WATERMARKS
from wiesel.runtime.table.aggregate.table_aggregate import TableAggregateSpec
from wiesel.runtime.table.process.spec import ProcessSpec
from wiesel.sql.physical.translator import Translator, single
from wiesel.sql.plan.changelog import changes_of
from wiesel.types.row import RowKind

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.sql.plan.user_relations import ProcessTable, TableAggregate

__all__ = ["process_table", "table_aggregate"]


def table_aggregate(translator: Translator, relation: TableAggregate) -> Transformation:
    """Return the rows of groups.

    Raises:
        ProgramError: If rows of the input may be retracted, and the function does not support it.
    """
    function = relation.call.options[0]
    assert isinstance(function, UserAggregate)  # noqa: S101 - the call of one
    if not changes_of(relation.input).append_only:
        require_retract(function)
    spec = TableAggregateSpec(relation.keys, relation.call.arguments, function, translator.schema(relation))
    source = translator.by_key(translator.translate(relation.input), relation.keys)
    operator = translator.operator("TableAggregate", "table_table_aggregate", spec, [source])
    return operator if relation.keys else single(operator)


def process_table(translator: Translator, relation: ProcessTable) -> Transformation:
    """Return the rows that a process table function returns.

    Raises:
        ProgramError: If the job runs in batch mode, or the function does not return the ``-U`` rows that are needed.
    """
    function = relation.function
    if translator.environment._config.get(RUNTIME_MODE) == "BATCH":
        hint = "run the query in streaming mode: SET 'execution.runtime-mode' = 'streaming'"
        raise ProgramError(f"the process table function {function.name!r} runs in streaming mode only, as in Flink", hint=hint)
    before = translator.changes.sends_before(relation)
    mode = relation.changelog_mode(update_before=before)
    if before and mode.contains(RowKind.UPDATE_AFTER) and not mode.contains(RowKind.UPDATE_BEFORE):
        hint = (
            "let get_changelog_mode() return what get_required_changelog_mode() asks for, or write the rows to a table whose primary key "
            "are the columns of PARTITION BY"
        )
        raise ProgramError(f"the process table function {function.name!r} returns upserts, but its reader needs -U rows", hint=hint)
    inputs_of = tuple(translator.schema(each) for each in relation.inputs)
    spec = ProcessSpec(function, relation.tables, relation.values, relation.timed, translator.schema(relation), mode, before, inputs_of)
    inputs = [translator.translate(each) for each in relation.inputs]
    arguments = [None if table.argument is None else function.arguments[table.argument] for table in relation.tables]
    sets = [argument is not None and argument.is_set for argument in arguments]
    keyed = zip(inputs, relation.tables, sets, strict=True)
    inputs = [translator.by_key(each, table.keys) if is_set else each for each, table, is_set in keyed]
    operator = translator.operator("ProcessTable", "table_process_function", spec, inputs)
    if function.takes_context or function.timer_takes_context is not None or any(table.order for table in relation.tables):
        operator.node.operator = replace(operator.node.operator, params={READS_WATERMARKS: True})
    return single(operator) if any(sets) and not relation.tables[0].keys else operator
