"""Internal. From plans of tables to streams of row objects."""

from __future__ import annotations

from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.sql.physical.scans import scanned_rows, stream_rows
from wiesel.sql.physical.translator import Translator, free_parallelism
from wiesel.sql.plan.changelog import require_append
from wiesel.sql.plan.relations import Relation, StreamScan, TableScan, TimeAttribute
from wiesel.sql.rules.optimizer import optimized
from wiesel.sql.session.stream_rows import table_row_info
from wiesel.types.logical import RowType, quoted
from wiesel.types.typeinfo import ExternalTypeInfo

__all__ = ["to_stream"]


def to_stream(
    environment: StreamExecutionEnvironment,
    plan: Relation,
    *,
    changelog: bool = False,
    update_before: bool = True,
    reader: str = "to_data_stream()",
    time: int | None = None,
) -> DataStream:
    """Return the stream of a plan's rows; with ``changelog`` also of updates and deletions.

    ``update_before``: whether updates are told by ``-U`` and ``+U``, or by ``+U`` alone; ``reader``: who takes new rows only; ``time``: the
    column that becomes the time of the records and is none of their fields.

    Raises:
        ProgramError: If a column's values cannot become records of a stream, the table cannot be read, or there are changes and
            ``changelog`` is not set.
        ConfigurationError: If the options of a table are wrong.
    """
    translator = Translator(environment, own_job=False)
    appends = not changelog and environment._config.get(RUNTIME_MODE) != "BATCH"
    if appends:
        require_append(plan, reader)
    if isinstance(plan, TableScan) and time is None:
        return scanned_rows(translator, plan)
    if isinstance(plan, StreamScan) and plan.rowtime is None:
        rows_as_they_are = stream_rows(plan)
        free_parallelism(rows_as_they_are._transformation)
        return rows_as_they_are
    (plan,) = optimized([plan], environment._config)
    if appends:
        require_append(plan, reader)  # by mini-batches there may be updates where there are none else
    translator.changes.add(plan, update_before)
    fields = RowType([field for index, field in enumerate(plan.row_type) if index != time], plan.row_type.is_nullable)
    rows = table_row_info(fields)
    params = {"time": _time_of(plan) if time is None else time, "drop_time": time is not None}
    operator = translator.operator("ToRows", "table_to_rows", params, [translator.translate(plan)])
    operator.output_type = operator.node.output_type = ExternalTypeInfo(rows)
    free_parallelism(operator)
    return DataStream(environment, operator)


def _time_of(plan: Relation) -> int | None:
    """Return the column with the event time of the rows, which becomes that of the records; None if there is none."""
    places = [index for index, field in enumerate(plan.fields) if field.time is TimeAttribute.ROWTIME]
    if len(places) > 1:
        names = ", ".join(quoted(plan.fields[index].name) for index in places)
        raise ProgramError(f"the columns {names} are all the event time of the rows", hint="leave one of them out, or cast the others")
    return places[0] if places else None
