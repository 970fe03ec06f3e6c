"""Internal. Rows in state files: stored as columns, and converted to tuples when read.

The payload of a section of ROWS is the operation that it represents (SET or APPEND), the indexes of the key columns, the schema, the rows
in Arrow's IPC format, and numbers of 64 bits. For SET these are the number of rows of each list, list after list. For APPEND, with the rows
in order of arrival, they are the index of each row in its list; without them the rows are appended to the lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import Places
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_store import RowStore
from wiesel.columnar.stored import StoredRow, stored_rows
from wiesel.state.changelog import APPEND, CHUNK_ENTRIES, ROWS, SET, Section

__all__ = ["grown_sections", "replaced_sections", "tuple_section"]


def grown_sections(name: str, keys: Sequence[int], rows: RowStore, start: int, owners: Places) -> Iterator[Section]:
    """Yield sections with the rows from ``start``; ``owners`` are the numbers of their keys. From 0 on they are whole lists."""
    places = None if start else _places_in_lists(owners)
    for batch in rows.batches(start, CHUNK_ENTRIES):
        end = start + batch.num_rows
        numbers = b"" if places is None else places[start:end].tobytes()
        yield _section(APPEND, name, batch.num_rows, keys, batch, numbers)
        start = end


def _places_in_lists(owners: Places) -> Places:
    """Return for each row the number of earlier rows of its owner."""
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    places = np.empty(len(owners), np.int64)
    places[order] = np.arange(len(owners)) - np.repeat(starts, np.diff(starts, append=len(owners)))
    return places


def replaced_sections(name: str, keys: Sequence[int], rows: RowStore, numbers: Places, sizes: Places) -> Iterator[Section]:
    """Yield sections with whole lists: their row numbers, grouped by list, and the number of rows (not 0) of each."""
    ends = np.cumsum(sizes)
    for start in range(0, len(sizes), CHUNK_ENTRIES):
        some = sizes[start : start + CHUNK_ENTRIES]
        end = int(ends[start + len(some) - 1])
        picked = rows.pick(numbers[end - int(some.sum()) : end]).columns()
        batch = pa.RecordBatch.from_arrays(picked, schema=rows.schema)
        yield _section(SET, name, len(some), keys, batch, some.astype(np.int64).tobytes())


def _section(operation: int, name: str, count: int, keys: Sequence[int], batch: pa.RecordBatch, numbers: bytes) -> Section:
    schema, rows = batch.schema.serialize().to_pybytes(), batch.serialize().to_pybytes()
    return Section(ROWS, name, count, (operation, list(keys), schema, rows, numbers), settled=True)


def tuple_section(section: Section) -> Section:
    """Convert a section of rows to one of lists of tuples."""
    operation, keys, schema, data, numbers = section.columns
    batch = pa.ipc.read_record_batch(pa.py_buffer(data), pa.ipc.read_schema(pa.py_buffer(schema)))
    values, given = stored_rows(batch), np.frombuffer(numbers, np.int64)
    if operation == SET:
        names = key_tuples(batch.take(pa.array(np.cumsum(given) - given)), keys)
        return Section(SET, section.name, len(names), (names, None, _lists(values, given)))
    # By Python's equality, as for the keys of state: 0.0 is equal to -0.0.
    found: dict[Any, list[int]] = {}
    for place, key in enumerate(key_tuples(batch, keys)):
        found.setdefault(key, []).append(place)
    lists = [[values[place] for place in places] for places in found.values()]
    starts = given[[places[0] for places in found.values()]].tolist() if len(given) else [-1] * len(found)
    return Section(APPEND, section.name, len(found), (list(found), None, starts, lists))


def _lists(values: list[StoredRow], sizes: Places) -> list[list[StoredRow]]:
    return [values[start:end] for start, end in pairwise([0, *np.cumsum(sizes).tolist()])]
