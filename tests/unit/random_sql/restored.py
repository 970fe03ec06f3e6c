"""Runs a query in streaming mode with a failure and a checkpoint in the middle, from which it goes on at another parallelism."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.unit.random_sql.engines import NotComparable, canonical_row, changed_row, stream_scan, table_info
from tests.unit.random_sql.tables import Data, tables_in
from wiesel.common import JobStatus, WatermarkStrategy
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment

__all__ = ["restored_changes"]

_Changes = list[tuple[str, tuple[Any, ...]]]


def _start(sql: str, sources: dict[str, ManualSource], parallelism: int, seed: int, backend: str, restore_from: Any = None) -> Any:
    environment = local_environment(parallelism=parallelism, seed=seed, state_backend=backend)
    t_env = StreamTableEnvironment.create(environment)
    for name, source in sources.items():
        stream = environment.from_source(source, WatermarkStrategy.no_watermarks(), name, table_info(name)).set_parallelism(1)
        t_env._catalogs.create_temporary_view(t_env._catalogs.qualify(name), stream_scan(name, stream))
    out = environment.collect(to_stream(environment, t_env.sql_query(sql)._plan, changelog=True))
    return environment.start(restore_from=restore_from), out


def restored_changes(sql: str, data: Data, seed: int) -> _Changes:
    """Return the changelog of a query: what came before the checkpoint, and what came after it."""
    random = Random(seed)
    names = tables_in(sql)
    sources = {name: ManualSource(type_info=table_info(name)) for name in names}
    pending = [(name, change) for name in names for change in data.changes.get(name) or [("+I", row) for row in data.rows[name]]]
    order = [name for name, _ in pending]
    random.shuffle(order)
    by_table = {name: iter([changed_row(name, *change) for each, change in pending if each == name]) for name in names}
    rows = [(name, next(by_table[name])) for name in order]
    middle, before = len(rows) // 2, random.randrange(len(rows) // 2 + 1)
    backend = random.choice(("hashmap", "lmdb", "rocksdb"))
    job, out = _start(sql, sources, 1 + seed % 3, seed, backend)
    with job:
        if job.status is JobStatus.FINISHED:
            raise NotComparable("no row is read")
        _push(job, sources, rows[:before])
        job.checkpoint()
        _push(job, sources, rows[before:middle])
        if seed % 2:
            job.fail()
            job.settle()
        snapshot = job.checkpoint()
        found = list(out.committed)
    job, out = _start(sql, sources, 1 + (seed + 1 + seed // 3 % 2) % 3, seed + 1, backend, snapshot)
    with job:
        _push(job, sources, rows[middle:])
        if seed % 4 == 1:
            job.fail()
        job.finish()
    return [(str(row.get_row_kind()), canonical_row(row)) for row in [*found, *out.committed]]


def _push(job: Any, sources: dict[str, ManualSource], rows: list[tuple[str, Any]]) -> None:
    for name, row in rows:
        sources[name].push(row)
    job.settle()
