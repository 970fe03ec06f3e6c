"""Internal. Joins with tables that are asked for the rows of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.core.durations import to_millis
from wiesel.core.errors import ProgramError
from wiesel.runtime.table.join.lookup_join import LookupSpec, Misses, RightStep
from wiesel.sql.catalog.table_factories import create_table_lookup
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Filter, JoinType, Project, Relation
from wiesel.sql.rules.project import with_columns
from wiesel.sql.session.stream_rows import table_row_info

if TYPE_CHECKING:
    from wiesel.graph.transformations import Transformation
    from wiesel.spi.table.lookup import LookupTableSource
    from wiesel.sql.physical.translator import Translator
    from wiesel.sql.plan.temporal_relations import LookupJoin

__all__ = ["lookup_join"]


def lookup_join(translator: Translator, relation: LookupJoin) -> Transformation:
    """Return the rows beside those that the table has for their keys.

    Raises:
        ProgramError: If the table cannot be asked.
    """
    scan = relation.scan
    names = [scan.fields[column].name for column, _ in relation.asked]
    source = create_table_lookup(scan.identifier, scan.table, table_row_info(scan.row_type), names)
    left, keys = with_columns(relation.left, [value for _, value in relation.asked])
    spec = LookupSpec(
        outer=relation.type is JoinType.LEFT,
        keys=keys,
        columns=tuple(column for column, _ in relation.asked),
        width=len(relation.left.fields),
        source=source,
        stored=arrow_schema((field.name, field.data_type) for field in scan.fields),
        steps=tuple(_steps(translator, relation.table)),
        right=translator.schema(relation.table),
        condition=relation.condition,
        schema=translator.schema(relation),
        misses=Misses(relation.hint.attempts, relation.hint.delay_ms),
    )
    inputs = [translator.translate(left)]
    if not _is_asynchronous(relation, source):
        return translator.operator("LookupJoin", "table_lookup", spec, inputs)
    operator = translator.operator("LookupJoin", "table_async_lookup", spec, inputs)
    operator.node.operator.params.update(_async_settings(translator, relation))
    return operator


def _steps(translator: Translator, relation: Relation) -> list[RightStep]:
    if not relation.inputs:
        return []
    steps = _steps(translator, relation.inputs[0])
    if isinstance(relation, Filter):
        return [*steps, RightStep(relation.condition, None, translator.schema(relation))]
    if isinstance(relation, Project):
        return [*steps, RightStep(None, relation.expressions, translator.schema(relation))]
    return steps


def _is_asynchronous(relation: LookupJoin, source: LookupTableSource) -> bool:
    if source.lookup is None and source.asynchronous is None and source.load is None:
        raise ProgramError(
            f"the connector of table {relation.scan.identifier.sql} returned no way to look rows up",
            hint="set lookup or asynchronous of its LookupTableSource",
        )
    if source.cache.kind == "FULL" and source.load is not None:
        return False
    if source.cache.kind == "FULL":
        raise ProgramError(
            f"table {relation.scan.identifier.sql} cannot be loaded as a whole, as 'lookup.cache' = 'FULL' wants it",
            hint="set it to PARTIAL or NONE",
        )
    if source.lookup is None or source.asynchronous is None:
        return source.asynchronous is not None
    return relation.hint.asynchronous is not False


def _async_settings(translator: Translator, relation: LookupJoin) -> dict[str, object]:
    config, hint = translator.environment._config, relation.hint
    ordered = hint.ordered
    if ordered is None:
        ordered = str(config.get("table.exec.async-lookup.output-mode", "ORDERED")).upper() == "ORDERED"
    capacity, timeout = hint.capacity, hint.timeout_ms
    if capacity is None:
        capacity = int(config.get("table.exec.async-lookup.buffer-capacity", 100))
    if timeout is None:
        timeout = to_millis(config.get("table.exec.async-lookup.timeout", "3 min"))
    # Changes of a row must not overtake each other.
    return {"timeout_ms": timeout, "capacity": capacity, "ordered": ordered or not changes_of(relation.left).append_only}
