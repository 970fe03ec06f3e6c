"""The functions of ``Functions.java`` in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiesel.common import RowKind
from wiesel.table import ChangelogMode, DataTypes, ListView, MapView, Row
from wiesel.table.process_functions import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogContext,
    ChangelogFunction,
    ProcessTableFunction,
    StateHint,
    udptf,
)

ROWS, SETS = ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE


@udptf(result_type="STRING", arguments=[ArgumentHint("input", ROWS)])
class Greeting(ProcessTableFunction):
    def eval(self, row: Row) -> str:
        return f"Hello {'null' if row.who is None else row.who}!"


@udptf(
    result_type="ROW<n INT, m BIGINT>",
    arguments=[ArgumentHint("input", ROWS, ArgumentTrait.PASS_COLUMNS_THROUGH), ArgumentHint("factor", data_type="INT")],
)
class Multiples(ProcessTableFunction):
    def eval(self, row: Row, factor: int) -> Iterator[Row]:
        for i in (1, 2):
            if row.amount is not None:
                yield Row(i, row.amount * factor * i)


@udptf(result_type="ROW<text STRING, n BIGINT>", arguments=[ArgumentHint("input", SETS)], states=[StateHint("memory", "ROW<n BIGINT>")])
class Counting(ProcessTableFunction):
    def eval(self, memory: Row, row: Row) -> Row:
        memory.n = (memory.n or 0) + 1
        return Row(f"order {row.id}", memory.n)


@udptf(
    result_type="ROW<items STRING, times INT, total INT>",
    arguments=[ArgumentHint("input", SETS), ArgumentHint("most", data_type="INT")],
    states=[StateHint("ids", ListView), StateHint("items", MapView), StateHint("sum", "ROW<total INT>", ttl="1 day")],
)
class History(ProcessTableFunction):
    def eval(self, ctx: Any, ids: Any, items: Any, total: Row, row: Row, most: int) -> Iterator[Row]:
        item = str(row.item)
        ids.add(row.id)
        items[item] = items[item] + 1 if item in items else 1
        total.total = (total.total or 0) + (row.amount or 0)
        yield Row(",".join(map(str, ids)), items.get(item), total.total)
        if len(ids) >= most:
            ctx.clear_state("ids")
        if row.amount == 4:
            ctx.clear_all_state()


@udptf(
    result_type="ROW<what STRING, at BIGINT, watermark BIGINT>",
    arguments=[ArgumentHint("input", SETS, ArgumentTrait.REQUIRE_ON_TIME)],
    states=[StateHint("last", "ROW<id INT>")],
)
class Reminders(ProcessTableFunction):
    def eval(self, ctx: Any, last: Row, row: Row) -> Iterator[Row]:
        time = ctx.time_context(int)
        last.id = row.id
        yield Row(f"row {row.id}", time.time(), None)
        time.register_on_time("quiet", time.time() + 30_000)
        time.register_on_time(time.time() + 5_000)
        if row.id % 5 == 0:
            time.clear_timer("quiet")
        if row.id == 9:
            time.clear_timer(time.time() + 5_000)

    def on_timer(self, ctx: Any, last: Row) -> Iterator[Row]:
        name = ctx.current_timer()
        shown = "null" if last.id is None else last.id
        yield Row(f"{name or 'tick'} {shown}", ctx.time_context(int).time(), None)
        if name == "quiet":
            ctx.clear_all_state()


@udptf(
    result_type="ROW<id INT, city STRING>",
    arguments=[ArgumentHint("a", SETS), ArgumentHint("b", SETS)],
    states=[StateHint("orders", ListView), StateHint("customer", "ROW<city STRING>")],
)
class Joining(ProcessTableFunction):
    def eval(self, orders: Any, customer: Row, a: Row | None, b: Row | None) -> Iterator[Row]:
        if a is not None:
            orders.add(a.id)
            if customer.city is not None:
                yield Row(a.id, customer.city)
        elif b is not None:
            customer.city = b.city
            for each in orders:
                yield Row(each, b.city)


@udptf(result_type=DataTypes.STRING(), arguments=[ArgumentHint("input", SETS, ArgumentTrait.SUPPORT_UPDATES)])
class Kinds(ProcessTableFunction):
    def eval(self, row: Row) -> str:
        shown = ["null" if each is None else str(each) for each in row]
        return f"{row.get_row_kind()} {shown[0]} {shown[1]}"


@udptf(
    result_type="ROW<n BIGINT, keys STRING, tc INT>",
    arguments=[ArgumentHint("input", SETS, ArgumentTrait.OPTIONAL_PARTITION_BY)],
    states=[StateHint("memory", "ROW<n BIGINT>")],
)
class Whole(ProcessTableFunction):
    def eval(self, ctx: Any, memory: Row, row: Row) -> Row:
        memory.n = (memory.n or 0) + 1
        semantics = ctx.table_semantics_for("input")
        return Row(memory.n, str(semantics.partition_by_columns()), semantics.time_column())


@udptf(
    result_type="ROW<id INT, seen STRING, cols STRING, t BIGINT>",
    arguments=[ArgumentHint("input", SETS, ArgumentTrait.OPTIONAL_PARTITION_BY)],
    states=[StateHint("memory", "ROW<seen STRING>")],
)
class Sequence(ProcessTableFunction):
    def eval(self, ctx: Any, memory: Row, row: Row) -> Row:
        memory.seen = str(row.id) if memory.seen is None else f"{memory.seen},{row.id}"
        of = ctx.table_semantics_for("input")
        columns = f"{of.order_by_columns()}[{', '.join(direction.value for direction in of.order_by_directions())}]"
        return Row(row.id, memory.seen, columns, ctx.time_context(int).time())


@udptf(result_type="ROW<what STRING>", arguments=[ArgumentHint("input", SETS)])
class Alarms(ProcessTableFunction):
    def eval(self, ctx: Any, row: Row) -> Row:
        time = ctx.time_context(int)
        time.register_on_time("alarm", time.time() + 1_000)
        return Row(f"row {row.id}")

    def on_timer(self, ctx: Any) -> Row:
        return Row(ctx.current_timer())


class Totals(ProcessTableFunction, ChangelogFunction):
    """The total of a key; one of more than 10 is deleted."""

    def eval(self, ctx: Any, memory: Row, row: Row) -> Iterator[Row]:
        mode, before = str(ctx.get_changelog_mode()), memory.total
        minus = row.get_row_kind() in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
        memory.total = (before or 0) + (row.amount or 0) * (-1 if minus else 1)
        if before is None:
            yield _row_of(RowKind.INSERT, memory.total, mode)
        elif memory.total > 10:
            yield _row_of(RowKind.DELETE, before, mode)
            memory.total = None
        else:
            if ctx.get_changelog_mode().contains(RowKind.UPDATE_BEFORE):
                yield _row_of(RowKind.UPDATE_BEFORE, before, mode)
            yield _row_of(RowKind.UPDATE_AFTER, memory.total, mode)


def _row_of(kind: RowKind, *values: Any) -> Row:
    row = Row(*values)
    row.set_row_kind(kind)
    return row


_TOTALS: dict[str, Any] = {
    "result_type": "ROW<total INT, mode STRING>",
    "arguments": [ArgumentHint("input", SETS, ArgumentTrait.SUPPORT_UPDATES)],
    "states": [StateHint("memory", "ROW<total INT>")],
}


@udptf(**_TOTALS)
class Retracting(Totals):
    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.all()


@udptf(**_TOTALS)
class Upserting(Totals):
    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.upsert()


@udptf(**_TOTALS)
class Adapting(Totals):
    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return changelog_context.get_required_changelog_mode()


class Changes(ProcessTableFunction):
    def eval(self, ctx: Any, row: Row) -> Row:
        shown = ["null" if each is None else str(each) for each in row]
        return Row(f"{row.get_row_kind()} {shown[0]} {shown[1]}", str(ctx.table_semantics_for("input").changelog_mode()))


_OF_CHANGES = "ROW<r STRING, mode STRING>"
Befores = udptf(Changes(), _OF_CHANGES, [ArgumentHint("input", SETS, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE)])
Updates = udptf(Changes(), _OF_CHANGES, [ArgumentHint("input", SETS, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_FULL_DELETE)])


class Ones(ProcessTableFunction, ChangelogFunction):
    def __init__(self, mode: ChangelogMode) -> None:
        self._mode = mode

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return self._mode

    def eval(self, row: Row) -> Row:
        return Row(1)


class Negations(Ones):
    def eval(self, row: Row) -> Any:
        yield Row(row.id)
        if row.id % 2 == 0:
            yield _row_of(RowKind.DELETE, row.id)


RowUpserting = udptf(Ones(ChangelogMode.upsert()), "ROW<n INT>", [ArgumentHint("input", ROWS)])
Negating = udptf(Negations(ChangelogMode.all()), "ROW<n INT>", [ArgumentHint("input", ROWS)])
Passing = udptf(Ones(ChangelogMode.all()), "ROW<n INT>", [ArgumentHint("input", SETS, ArgumentTrait.PASS_COLUMNS_THROUGH)])


@udptf(result_type="ROW<n INT>", arguments=[ArgumentHint("input", SETS)])
class Undeclared(ProcessTableFunction):
    def eval(self, row: Row) -> Row:
        return _row_of(RowKind.DELETE, 1)


@udptf(result_type="INT", arguments=[ArgumentHint("a", data_type="INT"), ArgumentHint("b", data_type="INT", is_optional=True)])
class Adding(ProcessTableFunction):
    def eval(self, a: int, b: int | None) -> int:
        return a if b is None else a + b


FUNCTIONS = {
    "Greeting": Greeting,
    "Multiples": Multiples,
    "Counting": Counting,
    "History": History,
    "Reminders": Reminders,
    "Joining": Joining,
    "Kinds": Kinds,
    "Whole": Whole,
    "Adding": Adding,
    "Sequence": Sequence,
    "Alarms": Alarms,
    "Retracting": Retracting,
    "Upserting": Upserting,
    "Adapting": Adapting,
    "Befores": Befores,
    "Updates": Updates,
    "RowUpserting": RowUpserting,
    "Negating": Negating,
    "Passing": Passing,
    "Undeclared": Undeclared,
}
