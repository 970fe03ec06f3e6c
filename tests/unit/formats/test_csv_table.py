"""Blocks of CSV files, however small: what was read from one stays when the next one takes its memory."""

from __future__ import annotations

import csv
import io
import random
from unittest import mock

import pytest

from tests.unit.formats.test_line_blocks import Dribbling
from wiesel.formats.table import csv as csv_table
from wiesel.spi.file_formats import FilePiece
from wiesel.spi.table.factory import TableOptions
from wiesel.types import logical as t

SEED = random.randrange(10**6)
TEXT = t.VarCharType(t.MAX_LENGTH)


def _file(rng: random.Random, letters: str) -> tuple[bytes, list[list[str]]]:
    rows = [[str(rng.randrange(10**6)), *("".join(rng.choices(letters, k=rng.randrange(1, 9))) for _ in range(3))] for _ in range(400)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(), rows


@pytest.mark.parametrize("letters", ["ab é", 'ab,"\né', "abcdef"])
@pytest.mark.parametrize("block_bytes", [1, 60, 1000, 1 << 17])
def test_all_blocks_stay(letters: str, block_bytes: int) -> None:
    data, rows = _file(random.Random(SEED), letters)
    columns = t.RowType([t.RowField("n", t.BigIntType()), *(t.RowField(name, TEXT) for name in "xyz")])
    with mock.patch.object(csv_table, "COLUMNAR_BLOCK_BYTES", block_bytes):
        files = csv_table.CsvTableFormat().create_projected_reader(TableOptions("t", {}), columns, ["n", "x", "z"])
        reader = files.create_reader(Dribbling(data, 700), FilePiece("f", 0, len(data), len(data)))
    batches = []
    while (block := reader.read_block()) is not None:
        batches += block
    found = [list(row.values()) for batch in batches for row in batch.rows.to_pylist()]
    assert found == [[int(n), x, z] for n, x, _, z in rows], f"seed {SEED}"
