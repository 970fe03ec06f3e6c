"""State of process table functions in savepoints: changed declarations convert it or are refused, as for other state."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from tests.unit.engine.stored_job import StoredJob, environment, start
from wiesel.common import Row, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.sql.session.translation import to_stream
from wiesel.state_processor.compatibility import check_savepoint
from wiesel.table import DataTypes, ListView, MapView, Schema, StreamTableEnvironment
from wiesel.table.expressions import col
from wiesel.table.process_functions import ArgumentHint, ArgumentTrait, ProcessTableFunction, StateHint, udptf
from wiesel.testing import CollectedStream, ManualSource
from wiesel.types.records import Alias

ROWS = Types.ROW_NAMED(["k", "n", "ts"], [Types.STRING(), Types.INT(), Types.SQL_TIMESTAMP()])
INPUT = [ArgumentHint("input", ArgumentTrait.SET_SEMANTIC_TABLE)]


def at(seconds: int) -> datetime.datetime:
    return datetime.datetime(2024, 5, 1) + datetime.timedelta(seconds=seconds)


def program(function: Any, source: ManualSource, order: Sequence[Any] = (), **config: Any) -> tuple[Any, CollectedStream]:
    """Return the environment of a job that calls a function, and its results."""
    env = environment(None, **config)
    t_env = StreamTableEnvironment.create(env)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", ROWS).uid("numbers")
    columns = Schema.new_builder().column("k", "STRING").column("n", "INT").column("ts", "TIMESTAMP(3)")
    t_env.create_temporary_view("numbers", stream, columns.watermark("ts", "ts - INTERVAL '5' SECOND").build())
    table = t_env.from_path("numbers").partition_by(col("k"))
    called = (table.order_by(*order) if order else table).process(function)
    return env, env.collect(to_stream(env, called._plan, changelog=True))


def started(function: Any, restore: str | None = None, **options: Any) -> tuple[StoredJob, CollectedStream, ManualSource]:
    if restore is not None:
        options["execution_state__recovery_path"] = restore
    source = ManualSource(type_info=ROWS)
    env, out = program(function, source, **options)
    if restore is not None:
        source.push(None)  # what the job before has read
    return start(env), out, source


@dataclass
class Sum:
    total: int = 0
    names: list[str] = field(default_factory=list)


@dataclass
class Sum2:
    """``Sum`` with a renamed, wider field, another one, and one that is gone."""

    amount: Annotated[float, Alias("total")] = 0.0
    note: str = "new"


@dataclass
class WrongSum:
    total: str = ""


class Struct(msgspec.Struct):
    total: int = 0


class Anything:
    """Is no record class: nothing is known of its attributes."""

    def __init__(self) -> None:
        self.total = 0


class Calling(ProcessTableFunction):
    """Gives its state entry and the number of a row to a function, and returns what that does as a text."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def eval(self, entry: Any, row: Row) -> str:
        return str(self._call(entry, row.n))


def with_state(data_type: Any, call: Any) -> Any:
    return udptf(Calling(call), DataTypes.STRING(), INPUT, [StateHint("s", data_type)], "Calling")


def to_total(entry: Any, n: int) -> Any:
    entry.total = (entry.total or 0) + n
    return entry.total


def to_amount(entry: Any, n: int) -> Any:
    entry.amount += n
    return entry.amount, entry.note


def to_list(entry: Any, n: int) -> Any:
    entry.add(n)
    return list(entry)


def to_map(entry: Any, n: int) -> Any:
    entry[str(n)] = n
    return sorted(entry.items())


def to_row(entry: Any, n: int) -> Any:
    entry.total = (entry.total or 0) + n
    return list(entry)


def saved(function: Any, directory: Path, **options: Any) -> str:
    """Return a savepoint of a job in which the function has seen the number 1."""
    job, _, source = started(function, **options)
    with job:
        source.push(Row("a", 1, at(0)))
        job.settle()
        return job.savepoint(directory)


def verdicts(function: Any, path: str) -> dict[str, str]:
    env, _ = program(function, ManualSource(type_info=ROWS))
    found = check_savepoint(env._generate_stream_graph(), path)
    return {verdict.state: verdict.verdict for verdict in found.verdicts if verdict.operator.startswith("ProcessTable")}


TOTAL = "ROW<total INT>"
CHANGES = [
    # Before, after, what the function returns for the number 2 then, and the verdict of the check.
    ((TOTAL, to_total), (TOTAL, to_total), "3", "kept"),
    ((TOTAL, to_total), ("ROW<total BIGINT>", to_total), "3", "converted"),
    ((TOTAL, to_total), ("ROW<note STRING, total INT>", to_row), "[None, 3]", "converted"),
    (("ROW<note STRING, total INT>", to_row), (TOTAL, to_row), "[3]", "converted"),
    ((Sum, to_total), (Sum, to_total), "3", "kept"),
    ((Sum, to_total), (Sum2, to_amount), "(3.0, 'new')", "converted"),
    ((Struct, to_total), (Struct, to_total), "3", "kept"),
    ((Struct, to_total), (Sum, to_total), "3", "converted"),
    ((Anything, to_total), (Anything, to_total), "3", "kept"),
    ((DataTypes.LIST_VIEW(DataTypes.INT()), to_list), (DataTypes.LIST_VIEW(DataTypes.BIGINT()), to_list), "[1, 2]", "converted"),
    ((ListView, to_list), (DataTypes.LIST_VIEW(DataTypes.INT()), to_list), "[1, 2]", "kept"),
    (
        (DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT()), to_map),
        (DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.BIGINT()), to_map),
        "[('1', 1), ('2', 2)]",
        "converted",
    ),
    ((MapView, to_map), (DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT()), to_map), "[('1', 1), ('2', 2)]", "kept"),
]


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize(("before", "after", "result", "verdict"), CHANGES)
def test_state_follows_its_declaration(before: Any, after: Any, result: str, verdict: str, backend: str, tmp_path: Path) -> None:
    path = saved(with_state(*before), tmp_path, state_backend_type=backend)
    assert verdicts(with_state(*after), path) == {"state s": verdict}
    job, out, source = started(with_state(*after), path, state_backend_type=backend)
    with job:
        source.push(Row("a", 2, at(1)))
        job.settle()
    assert [row[1] for row in out.values] == [result]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ((TOTAL, to_total), ("ROW<total STRING>", to_total), "field 'total' is Integer and cannot become String"),
        ((Sum, to_total), (WrongSum, to_total), "field 'total' is Long and cannot become String"),
        ((DataTypes.LIST_VIEW(DataTypes.INT()), to_list), (DataTypes.LIST_VIEW(DataTypes.STRING()), to_list), "was written with type"),
        ((TOTAL, to_total), (ListView, to_list), "was restored as value state, the program declares list state"),
    ],
)
def test_other_changes_are_refused_with_the_field(before: Any, after: Any, message: str, tmp_path: Path) -> None:
    path = saved(with_state(*before), tmp_path)
    assert verdicts(with_state(*after), path) == {"state s": "incompatible"}
    with pytest.raises(JobExecutionError, match=message) as caught:
        job, _, _ = started(with_state(*after), path)
        with job:
            job.settle()
    assert caught.value.hint


@udptf(result_type="STRING", arguments=INPUT, states=[StateHint("seen", TOTAL)])
class Seen(ProcessTableFunction):
    """Returns the numbers of a key in the order in which they came."""

    def eval(self, ctx: Any, seen: Row, row: Row) -> str:
        seen.total = (seen.total or 0) + 1
        return f"{seen.total} {row.n} {row.get_row_kind()}"


ORDER = (col("ts"), col("n").desc)


def test_rows_that_wait_for_their_order_are_in_savepoints(tmp_path: Path) -> None:
    first, then = [(3, 4), (1, 2), (5, 2), (2, 1)], [(4, 3), (6, 0)]
    job, out, source = started(Seen, order=ORDER)
    with job:
        source.push_all([Row(key, n, at(second)) for n, second in first for key in "ab"])
        job.settle()
        path = job.savepoint(tmp_path)
    assert out.values == []
    job, out, source = started(Seen, path, order=ORDER, parallelism_default="2")
    with job:
        source.push_all([Row(key, n, at(second)) for n, second in then for key in "ab"])
        job.finish()
    order = ["1 6 +I", "2 2 +I", "3 5 +I", "4 1 +I", "5 4 +I", "6 3 +I"]
    assert [row[1] for row in out.values if row[0] == "a"] == [row[1] for row in out.values if row[0] == "b"] == order


def test_rows_that_the_watermark_has_passed_are_dropped() -> None:
    job, out, source = started(Seen, order=ORDER)
    with job:
        for n, second in [(1, 100), (2, 200), (3, 150), (4, 195), (5, 196), (6, 300)]:
            source.push(Row("a", n, at(second)))
            job.advance_processing_time(1000)
            job.settle()
        job.finish()
    assert [row[1] for row in out.values] == ["1 1 +I", "2 5 +I", "3 2 +I", "4 6 +I"]
