"""Internal. Inserts that need an upsert materializer to restore the order by primary key, and the reasons.

Changes of a row come in order from the subtask that makes them. If the columns by which they find their row are not all in the primary
key of the table, changes of one primary key come from several subtasks, and in any order. Then, and only then, an operator in front of
the sink keeps the rows of each key. Sinks that are told the old row of each update need none.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiesel.core.config import ConfigOption
from wiesel.core.errors import ProgramError
from wiesel.core.options import RUNTIME_MODE
from wiesel.spi.table.factory import INSERT_ONLY, TableSink
from wiesel.sql.dml.insert import Insertion, is_written
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import TableScan, WatermarkAssigner, walk
from wiesel.sql.plan.upsert_keys import upsert_keys
from wiesel.sql.rules.optimizer import Options
from wiesel.types.logical import quoted
from wiesel.types.row import RowKind

__all__ = ["CONFLICTS", "UPSERT_MATERIALIZE", "check_conflict", "key_columns", "needs_before", "why_materialized"]

UPSERT_MATERIALIZE = ConfigOption[str](
    "table.exec.sink.upsert-materialize",
    "enum",
    "AUTO",
    "Whether changes are put in order by the primary key of a sink: where they may be out of order, always, or never.",
    choices=("AUTO", "FORCE", "NONE"),
)


REQUIRE_ON_CONFLICT = ConfigOption[bool](
    "table.exec.sink.require-on-conflict",
    "bool",
    True,
    "Whether an INSERT whose changes may be out of order by the primary key of the table must declare the handling of conflicts.",
)


CONFLICTS = ("ERROR", "NOTHING")
"""Values of ON CONFLICT for several rows with one key, except for those that select one."""


def key_columns(insertion: Insertion) -> tuple[int, ...]:
    """Return the places of the primary key's columns among those that are written; none if there is no key."""
    key = insertion.table.schema.primary_key
    stored = [column.name for column in insertion.table.schema.columns if is_written(column)]
    return () if key is None else tuple(stored.index(name) for name in key.columns)


def why_materialized(insertion: Insertion, sink: TableSink, options: Options) -> str | None:
    """Return why the rows of each primary key are kept in front of the sink; None if they are not, as always in batch mode.

    Raises:
        ConfigurationError: If the option has no such value.
    """
    wanted = UPSERT_MATERIALIZE.parse(options.get_string(UPSERT_MATERIALIZE.key, "AUTO"))
    in_batch = options.get_string(RUNTIME_MODE.key, "STREAMING").upper() == "BATCH"
    if not key_columns(insertion) or wanted == "NONE" or sink.kinds == INSERT_ONLY or in_batch:
        return None
    if wanted == "FORCE":
        return f"{UPSERT_MATERIALIZE.key} is FORCE"
    return None if _finds_by_old_rows(sink) else _out_of_order(insertion)


def _finds_by_old_rows(sink: TableSink) -> bool:
    """Return whether a sink is told which rows go, so that it needs no order by its primary key."""
    return RowKind.UPDATE_BEFORE in sink.kinds and not sink.finds_by_key


def _out_of_order(insertion: Insertion) -> str | None:
    key = key_columns(insertion)
    found = [sorted(each) for each in upsert_keys(insertion.relation)]
    if changes_of(insertion.relation).append_only or any(set(each) <= set(key) for each in found):
        return None
    by = ", ".join(_shown(insertion, each) for each in sorted(found)) or "all columns"
    return f"its changes come in order by {by}, not by the primary key {_shown(insertion, key)}"


def _shown(insertion: Insertion, columns: Sequence[int]) -> str:
    return f"({', '.join(quoted(insertion.relation.fields[index].name) for index in columns)})"


def check_conflict(insertion: Insertion, sink: TableSink, options: Options) -> None:
    """See to it that ON CONFLICT stands where it is needed, and only where it means something.

    Raises:
        ProgramError: If it does not.
    """
    if insertion.conflict is not None:
        if changes_of(insertion.relation).append_only:
            message = "ON CONFLICT is for queries that update rows, but this one only adds rows"
            raise ProgramError(f"table {insertion.identifier.sql}: {message}", hint="leave ON CONFLICT out")
        if _finds_by_old_rows(sink):
            message = "ON CONFLICT is for tables that find rows by their primary key, but this one is told the old row of each update"
            raise ProgramError(f"table {insertion.identifier.sql}: {message}", hint="leave ON CONFLICT out")
        _check_watermarks(insertion)
        return
    why = why_materialized(insertion, sink, options)
    if why is None or not REQUIRE_ON_CONFLICT.parse(options.get_string(REQUIRE_ON_CONFLICT.key, "true")):
        return
    if UPSERT_MATERIALIZE.parse(options.get_string(UPSERT_MATERIALIZE.key, "AUTO")) == "AUTO":
        raise ProgramError(
            f"table {insertion.identifier.sql} is written by another key than its own: {why}",
            hint="write ON CONFLICT DO DEDUPLICATE behind the query, for which all rows of each key are kept; DO NOTHING to keep the first "
            "row; DO ERROR to fail if there are several; or group by the primary key",
        )


def _check_watermarks(insertion: Insertion) -> None:
    """See to it that there are watermarks for changes to wait for."""
    if insertion.conflict not in CONFLICTS:
        return
    assigned = {id(below) for each in walk(insertion.relation) if isinstance(each, WatermarkAssigner) for below in walk(each)}
    missing = [each for each in walk(insertion.relation) if isinstance(each, TableScan) and id(each) not in assigned]
    if missing:
        names = ", ".join(dict.fromkeys(each.identifier.sql for each in missing))
        raise ProgramError(
            f"ON CONFLICT DO {insertion.conflict} waits for watermarks, which these tables do not have: {names}",
            hint="declare WATERMARK FOR in their definitions, or write ON CONFLICT DO DEDUPLICATE",
        )


def needs_before(insertion: Insertion, sink: TableSink, options: Options) -> bool:
    """Return whether what is written has to tell the old rows of updates."""
    return RowKind.UPDATE_BEFORE in sink.kinds or why_materialized(insertion, sink, options) is not None
