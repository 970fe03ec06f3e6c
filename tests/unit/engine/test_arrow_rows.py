"""Rows on their way to the socket."""

from __future__ import annotations

import gc
import io
import random
import sys
from typing import Any

import pyarrow as pa
import pytest

from wiesel.engine.spark.arrow_rows import ARROW_SCHEMA, row_batch


class Socket(io.RawIOBase):
    """Keeps what is written, and where in memory that was."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.places: list[tuple[int, int]] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        if view.nbytes:
            self.places.append((pa.py_buffer(view).address, view.nbytes))
        self.content += view
        return view.nbytes


def written(batch: pa.RecordBatch, file: Any) -> None:
    with pa.RecordBatchStreamWriter(file, ARROW_SCHEMA) as writer:
        writer.write_batch(batch)


@pytest.mark.parametrize("fillers", [0, 1, 6, 7, 8, 20])
@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_rows_and_fillers_are_what_was_given(rows: int, fillers: int) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    source = random.Random(seed)
    given = [(n, source.randbytes(source.randrange(1, 5_000))) for n in range(rows)]
    batch = row_batch(given, list(range(100, 100 + fillers)))
    batch.validate(full=True)
    socket = Socket()
    written(batch, socket)
    read = pa.ipc.open_stream(bytes(socket.content)).read_all().to_pydict()
    assert list(zip(read["p"], read["v"], strict=True)) == [*given, *((p, None) for p in range(100, 100 + fillers))]


def test_a_row_goes_to_the_socket_without_a_copy() -> None:
    row = bytes(40_000)
    socket = Socket()
    written(row_batch([(3, row)], [1, 2]), socket)
    assert (pa.py_buffer(row).address, len(row)) in socket.places
    # The file in front of a socket takes what is left of its own buffer at most.
    socket = Socket()
    file = io.BufferedWriter(socket, io.DEFAULT_BUFFER_SIZE)
    written(row_batch([(3, row)], []), file)
    start, end = pa.py_buffer(row).address, pa.py_buffer(row).address + len(row)
    in_place = sum(size for address, size in socket.places if start <= address < end)
    assert in_place >= len(row) - io.DEFAULT_BUFFER_SIZE


def test_nothing_of_a_row_is_left_behind() -> None:
    row = bytes(40_000)
    gc.collect()
    references, allocated = sys.getrefcount(row), pa.total_allocated_bytes()
    for _ in range(50):
        written(row_batch([(3, row)], [1, 2]), Socket())
        written(row_batch([(3, row), (4, row)], []), Socket())
    gc.collect()
    assert sys.getrefcount(row) == references
    assert pa.total_allocated_bytes() == allocated
