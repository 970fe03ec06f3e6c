"""Internal. Lookup joins: rows joined with those of a table looked up by key.

Per batch each key is looked up once, unless it is cached; the rest is vectorised. In asynchronous lookups, batches are the requests of
:mod:`wiesel.runtime.operators.async_wait`, which manages their state, order and watermarks.

Retry semantics: rows with pending lookups are state of the asynchronous operator; caches are not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate, evaluate_all
from wiesel.columnar.expressions import Expression
from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.core.clock import Clock
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.operators.async_wait import AsyncWaitOperator
from wiesel.runtime.table.base import TableOperator, session_of
from wiesel.runtime.table.join.lookup_cache import FullTable, KnownRows, NothingKnown, RecentRows
from wiesel.spi.async_functions import NO_RETRY_STRATEGY, AsyncFunction
from wiesel.spi.functions import RuntimeContext
from wiesel.spi.table.lookup import AsyncTableLookup, LookupTableSource, TableLookup

__all__ = ["LookupSpec", "Misses", "RightStep", "async_lookup_operator", "lookup_operator"]

Key = tuple[Any, ...]
Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class RightStep:
    """A filter or projection of looked-up rows."""

    condition: Expression | None
    expressions: tuple[Expression, ...] | None
    schema: pa.Schema


@dataclass(frozen=True)
class Misses:
    """Retries of lookups without result.

    Attributes:
        attempts: Maximal number of attempts.
        delay_ms: Delay between them.
    """

    attempts: int = 1
    delay_ms: int = 0


@dataclass(frozen=True)
class LookupSpec:
    """Specification of the join.

    Attributes:
        outer: Emit unmatched rows with NULLs.
        keys: The columns of the left side with the values of the key.
        columns: The stored columns of the table used as lookup key, in order.
        width: Number of columns of the left side in the results.
        source: Looks up rows.
        stored: The stored columns of the table.
        steps: Filters and projections of looked-up rows.
        right: The columns after these.
        condition: Remaining condition of pairs, over the columns of the results.
        schema: The columns of the results.
        misses: Retries of keys without rows.
    """

    outer: bool
    keys: tuple[int, ...]
    columns: tuple[int, ...]
    width: int
    source: LookupTableSource
    stored: pa.Schema
    steps: tuple[RightStep, ...]
    right: pa.Schema
    condition: Expression | None
    schema: pa.Schema
    misses: Misses = field(default_factory=Misses)


@dataclass
class _Asked:
    """The keys of a batch: the index of each row's key (-1 with NULL in it), the cached rows, the keys to look up."""

    keys: list[Key]
    ids: Places
    found: dict[Key, Rows]
    missing: list[Key]


class _Joiner:
    """Base of both operators: computes keys of rows, and results from rows of keys."""

    def __init__(self, spec: LookupSpec, session: Session, clock: Clock) -> None:
        self._spec = spec
        self._session = session
        source = spec.source
        self.known: KnownRows = NothingKnown()
        if source.cache.kind == "FULL" and source.load is not None:
            self.known = FullTable(source.cache, clock, source.load, spec.columns)
        elif source.cache.kind == "PARTIAL":
            self.known = RecentRows(source.cache, clock)

    def asked(self, rows: RowBatch) -> _Asked:
        columns = [rows.rows.column(index) for index in self._spec.keys]
        groups = group_by(columns, len(rows))
        firsts = pa.array(groups.first)
        keys: list[Key] = list(zip(*(column.take(firsts).to_pylist() for column in columns), strict=True))
        found: dict[Key, Rows] = {}
        missing = []
        for key in keys:
            if None in key:
                found[key] = ()
                continue
            known = self.known.get(key)
            if known is None:
                missing.append(key)
            else:
                found[key] = known
        return _Asked(keys, groups.ids, found, missing)

    def take(self, asked: _Asked, keys: Sequence[Key], results: Any) -> list[Key]:
        """Add the results of lookups; return the keys without rows."""
        made = [tuple(tuple(row) for row in rows) for rows in results]
        if len(made) != len(keys):
            raise UserFunctionError(
                f"a lookup of {len(keys)} keys returned {len(made)} results", hint="return as many as there are keys, [] for none"
            )
        asked.found.update(zip(keys, made, strict=True))
        return [key for key, rows in zip(keys, made, strict=True) if not rows]

    def remember(self, asked: _Asked) -> None:
        for key in asked.missing:
            self.known.put(key, asked.found[key])

    def joined(self, rows: RowBatch, asked: _Asked) -> RowBatch:
        """Return the rows joined with those of their keys."""
        spec = self._spec
        flat = [row for key in asked.keys for row in asked.found[key]]
        owners = np.repeat(np.arange(len(asked.keys)), [len(asked.found[key]) for key in asked.keys])
        right, owners = self._right(flat, owners)
        sizes = np.bincount(owners, minlength=len(asked.keys))
        first = np.cumsum(sizes) - sizes
        counts = sizes[asked.ids]
        own = np.repeat(np.arange(len(rows)), counts)
        theirs = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first[asked.ids], counts)
        if spec.condition is not None and len(own):
            pairs = self._columns(rows, right, own, theirs)
            holds = as_array(evaluate(spec.condition, Frame(pairs, self._session)), len(own))
            kept = np.flatnonzero(holds.fill_null(False).to_numpy(zero_copy_only=False))
            own, theirs = own[kept], theirs[kept]
        if spec.outer:
            alone = np.flatnonzero(np.bincount(own, minlength=len(rows)) == 0)
            order = np.argsort(np.concatenate([own, alone]), kind="stable")
            own, theirs = np.concatenate([own, alone])[order], np.concatenate([theirs, np.full(len(alone), -1)])[order]
        return RowBatch(self._columns(rows, right, own, theirs), None if rows.kinds is None else rows.kinds[own])

    def _right(self, flat: list[tuple[Any, ...]], owners: Places) -> tuple[pa.RecordBatch, Places]:
        """Return the looked-up rows after projection, and the indexes of their keys."""
        spec = self._spec
        columns = zip(*flat, strict=True) if flat else ([] for _ in spec.stored)
        arrays = [pa.array(list(values), of.type) for values, of in zip(columns, spec.stored, strict=True)]
        right = pa.RecordBatch.from_arrays(arrays, schema=spec.stored)
        for step in spec.steps:
            if step.condition is not None:
                mask = as_array(evaluate(step.condition, Frame(right, self._session)), len(right)).fill_null(False)
                right, owners = right.filter(mask), owners[mask.to_numpy(zero_copy_only=False)]
            if step.expressions is not None:
                right = evaluate_all(step.expressions, step.schema, Frame(right, self._session))
        return right, owners

    def _columns(self, rows: RowBatch, right: pa.RecordBatch, own: Places, theirs: Places) -> pa.RecordBatch:
        taken, places = pa.array(own), pa.array(theirs, mask=theirs < 0)
        lefts = [column.take(taken) for column in rows.rows.columns[: self._spec.width]]
        return pa.RecordBatch.from_arrays([*lefts, *(column.take(places) for column in right.columns)], schema=self._spec.schema)


def _parts(keys: Sequence[Key], most: int) -> list[Sequence[Key]]:
    return [keys[start : start + most] for start in range(0, len(keys), most)]


class LookupOperator(TableOperator):
    """Looks up rows synchronously."""

    def __init__(self, spec: LookupSpec) -> None:
        self._spec = spec
        self._lookup: TableLookup | None = spec.source.lookup
        self._opened = False

    def open(self) -> None:
        """Get the connector ready."""
        super().open()
        self._joiner = _Joiner(self._spec, self.session, self.context.clock)
        if self._lookup is not None:
            self._lookup.open()
            self._opened = True

    def close(self) -> None:
        """Close the connector."""
        if self._opened and self._lookup is not None:
            self._lookup.close()
        super().close()

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Join rows with those of their keys."""
        asked = self._joiner.asked(rows)
        missing = asked.missing
        for attempt in range(self._spec.misses.attempts):
            if not missing:
                break
            if attempt:
                time.sleep(self._spec.misses.delay_ms / 1e3)
            assert self._lookup is not None  # noqa: S101 - for the type checker
            parts = _parts(missing, self._lookup.most_keys)
            missing = [key for part in parts for key in self._joiner.take(asked, part, self._looked_up(part))]
        self._joiner.remember(asked)
        self.emit_rows(self._joiner.joined(rows, asked))

    def _looked_up(self, keys: Sequence[Key]) -> Any:
        assert self._lookup is not None  # noqa: S101 - for the type checker
        failures = 0
        while True:
            try:
                return self._lookup.lookup(keys)
            except Exception:  # raised again unless it is retried
                failures += 1
                if failures > self._spec.source.max_retries:
                    raise
                time.sleep(self._spec.source.retry_delay_ms * failures / 1e3)


class _AsyncLookups(AsyncFunction[RowBatch, RowBatch]):
    """Joins batches by requests of the event loop."""

    joiner: _Joiner

    def __init__(self, spec: LookupSpec, capacity: int) -> None:
        self._spec = spec
        self._capacity = capacity

    def open(self, runtime_context: RuntimeContext) -> None:
        """Do nothing: the connector is opened in the event loop."""
        self._opening: asyncio.Task[None] | None = None
        self._room: asyncio.Semaphore | None = None

    @property
    def _lookup(self) -> AsyncTableLookup:
        assert self._spec.source.asynchronous is not None  # noqa: S101 - for the type checker
        return self._spec.source.asynchronous

    async def async_invoke(self, value: RowBatch) -> list[RowBatch]:
        """Join a batch."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._lookup.open())
            self._room = asyncio.Semaphore(self._capacity)
        await asyncio.shield(self._opening)
        asked = self.joiner.asked(value)
        missing = asked.missing
        for attempt in range(self._spec.misses.attempts):
            if not missing:
                break
            if attempt:
                await asyncio.sleep(self._spec.misses.delay_ms / 1e3)
            parts = _parts(missing, self._lookup.most_keys)
            results = await asyncio.gather(*map(self._looked_up, parts))
            missing = [key for part, found in zip(parts, results, strict=True) for key in self.joiner.take(asked, part, found)]
        self.joiner.remember(asked)
        joined = self.joiner.joined(value, asked)
        return [joined] if len(joined) else []

    async def _looked_up(self, keys: Sequence[Key]) -> Any:
        assert self._room is not None  # noqa: S101 - for the type checker
        failures = 0
        while True:
            try:
                async with self._room:
                    return await self._lookup.lookup(keys)
            except Exception:  # raised again unless it is retried
                failures += 1
                if failures > self._spec.source.max_retries:
                    raise
            await asyncio.sleep(self._spec.source.retry_delay_ms * failures / 1e3)


class AsyncLookupOperator(AsyncWaitOperator):
    """Looks up rows asynchronously."""

    shares_records = True

    def open(self) -> None:
        """Get ready."""
        self.function.joiner = _Joiner(self.function._spec, session_of(self.context), self.context.clock)
        super().open()


def lookup_operator(params: dict[str, Any], payload: LookupSpec) -> LookupOperator:
    """Return the operator that waits."""
    return LookupOperator(payload)


def async_lookup_operator(params: dict[str, Any], payload: LookupSpec) -> AsyncLookupOperator:
    """Return the asynchronous operator.

    Args:
        params: ``timeout_ms`` of a batch, ``capacity`` (maximal concurrent lookups) and ``ordered``.
        payload: The join.
    """
    function = _AsyncLookups(payload, params["capacity"])
    return AsyncLookupOperator(function, None, strategy=NO_RETRY_STRATEGY, **params)
