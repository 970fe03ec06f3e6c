"""Internal. Starts the jobs of queries and inserts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.row_batch import RowBatch
from wiesel.connectors.collect_sink import CollectSink
from wiesel.core.errors import ProgramError
from wiesel.core.options import PARALLELISM_DEFAULT, RUNTIME_MODE
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.datastream.closeable_iterator import CloseableIterator, execute_and_collect
from wiesel.spi.table.factory import TableSink
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.dml.insert import Insertion
from wiesel.sql.dml.upsert_materialization import needs_before
from wiesel.sql.physical.final_rows import final_rows, last_rows
from wiesel.sql.physical.sinks import add_sink, sink_of
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan.changelog import changes_of
from wiesel.sql.plan.relations import Relation
from wiesel.sql.rules.file_aggregates import AGGREGATES
from wiesel.sql.rules.optimizer import optimized
from wiesel.sql.rules.options import number_of
from wiesel.sql.session.compiled_plans import changed_settings, plan_text
from wiesel.sql.session.recursion import MOST_ROUNDS, is_recursive, without_recursion

if TYPE_CHECKING:
    from wiesel.common.job_client import JobClient

__all__ = ["add_inserts", "check_job", "compiled", "execution_plan", "is_batch", "start_inserts", "start_query", "to_arrow"]


_DEFAULT_PARALLELISM = "table.exec.resource.default-parallelism"

_COLLECTS = "Data stream collect sink"


def is_batch(environment: StreamExecutionEnvironment) -> bool:
    """Return whether queries return their last result only."""
    return str(environment._config.get(RUNTIME_MODE)) == "BATCH"


@contextmanager
def _own_job(environment: StreamExecutionEnvironment) -> Iterator[None]:
    """Keep what a program has built on the environment out of a job of SQL, which may have another parallelism than the program's."""
    others = list(environment._transformations)
    environment._transformations.clear()
    parallelism = number_of(environment._config, _DEFAULT_PARALLELISM, -1)
    try:
        with changed_settings(environment._config, {PARALLELISM_DEFAULT.key: str(parallelism)} if parallelism > 0 else {}):
            yield
    finally:
        environment._transformations[:] = others


def start_query(
    environment: StreamExecutionEnvironment, plan: Relation, job_name: str, *, final: bool = False
) -> CloseableIterator[RowBatch]:
    """Start the job of a query and return its rows; only those that are left at the end if they are to be ``final``."""
    plan = resolved(environment, plan)
    with _own_job(environment):
        (plan,) = optimized([plan], environment._config)
        translator = Translator(environment)
        translator.changes.add(plan)
        rows = last_rows(translator, plan)
        if final and not is_batch(environment) and not changes_of(plan).append_only:
            rows = final_rows(translator, plan, rows)
        results = execute_and_collect(DataStream(environment, rows), job_name, None)
    assert isinstance(results, CloseableIterator)  # noqa: S101 - as there is no limit
    return results


def planned_inserts(environment: StreamExecutionEnvironment, insertions: Sequence[Insertion]) -> list[Insertion]:
    """Return what is written, by the plans that are run."""
    plans = optimized([resolved(environment, insertion.relation) for insertion in insertions], environment._config)
    return [replace(insertion, relation=plan) for insertion, plan in zip(insertions, plans, strict=True)]


def add_inserts(
    environment: StreamExecutionEnvironment, insertions: Sequence[Insertion], *, own_job: bool = False, planned: bool = False
) -> None:
    """Add what writes rows to the environment's job.

    Args:
        environment: Where the job is built.
        insertions: What is written.
        own_job: Whether there is nothing else in the job.
        planned: Whether the plans are those that are run.

    Raises:
        ProgramError: If a table cannot take the changes of its rows.
    """
    sinks = _sinks(environment, insertions)
    if not planned:
        insertions = planned_inserts(environment, insertions)
    translator = Translator(environment, own_job=own_job)
    for insertion, sink in zip(insertions, sinks, strict=True):
        translator.changes.add(insertion.relation, is_batch(environment) or needs_before(insertion, sink, environment._config))
    for insertion, sink in zip(insertions, sinks, strict=True):
        add_sink(translator, insertion, sink, last_rows(translator, insertion.relation))


def _sinks(environment: StreamExecutionEnvironment, insertions: Sequence[Insertion]) -> list[TableSink]:
    replaced = next((insertion for insertion in insertions if insertion.overwrite), None)
    if replaced is not None and not is_batch(environment):
        hint = "run it in batch mode: SET 'execution.runtime-mode' = 'batch'"
        raise ProgramError(f"table {replaced.identifier.sql} cannot be overwritten in streaming mode", hint=hint)
    return [sink_of(insertion, environment._config, in_batch=is_batch(environment)) for insertion in insertions]


def compiled(environment: StreamExecutionEnvironment, insertions: Sequence[Insertion], catalogs: CatalogManager) -> str:
    """Return the plan of a job that writes rows to tables, as JSON.

    Raises:
        ProgramError: If a table cannot take the changes of its rows, or a part of the plan lives in the program alone.
    """
    _sinks(environment, insertions)
    config = environment._config
    # What files tell by now is not what they will tell when the plan runs.
    with changed_settings(config, {AGGREGATES: "false"}):
        return plan_text(planned_inserts(environment, insertions), catalogs, config, "BATCH" if is_batch(environment) else "STREAMING")


def start_inserts(environment: StreamExecutionEnvironment, insertions: Sequence[Insertion], *, planned: bool = False) -> JobClient:
    """Start one job that writes rows to tables."""
    with _own_job(environment):
        add_inserts(environment, insertions, own_job=True, planned=planned)
        names = ",".join(f"{insertion.identifier}" for insertion in insertions)
        return environment.execute_async(environment._config.get_string("pipeline.name", f"insert-into_{names}"))


def execution_plan(environment: StreamExecutionEnvironment, roots: Sequence[Relation | Insertion], *, planned: bool = False) -> str:
    """Return the operators of a job as JSON, in Flink's form; ``-U`` rows come out of queries only where they have to be read."""
    with _own_job(environment):
        insertions = [root for root in roots if isinstance(root, Insertion)]
        if insertions:
            add_inserts(environment, insertions, own_job=True, planned=planned)
        translator = Translator(environment)
        for plan in optimized([root for root in roots if isinstance(root, Relation)], environment._config):
            translator.changes.add(plan, is_batch(environment))
            rows = DataStream(environment, last_rows(translator, plan))
            rows._add_sink(CollectSink("collect"), _COLLECTS, "Sink: {}").set_parallelism(1)
        made = json.loads(environment.get_execution_plan())
    # Flink's plans of queries have no operator that collects their rows.
    made["nodes"] = [node for node in made["nodes"] if node["type"] != f"Sink: {_COLLECTS}"]
    return json.dumps(made, indent=2)


def check_job(environment: StreamExecutionEnvironment, roots: Sequence[Relation | Insertion]) -> None:
    """Create the operators of a job and forget them, so that what cannot run is told without running anything.

    Raises:
        ProgramError: If the job would be refused when it is started.
    """
    plans = [root.relation if isinstance(root, Insertion) else root for root in roots]
    recursive = [plan for plan in plans if is_recursive(plan)]
    if not recursive:
        execution_plan(environment, roots)
    elif not is_batch(environment):
        resolved(environment, recursive[0])


def resolved(environment: StreamExecutionEnvironment, plan: Relation) -> Relation:
    """Return a plan without recursion: recursive queries are run.

    Raises:
        ProgramError: If there are some, and it is not batch mode; if one has no end.
    """
    if not is_recursive(plan):
        return plan
    if not is_batch(environment):
        hint = "run it in batch mode: SET 'execution.runtime-mode' = 'batch'"
        raise ProgramError("WITH RECURSIVE is not supported in streaming mode", hint=hint)
    most = number_of(environment._config, MOST_ROUNDS, 1000)
    return without_recursion(plan, lambda each: to_arrow(environment, each), most)


def to_arrow(environment: StreamExecutionEnvironment, plan: Relation) -> pa.Table:
    """Run the job of a query to its end and return the rows that are left then."""
    with start_query(environment, plan, "collect", final=True) as batches:
        return pa.Table.from_batches([batch.rows for batch in batches], arrow_schema((f.name, f.data_type) for f in plan.fields))
