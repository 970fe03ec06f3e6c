"""ORC files as another reader sees them."""

from __future__ import annotations

import io
import pickle
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyarrow.orc import ORCFile

from wiesel.common import Configuration, Row, Types
from wiesel.core.errors import ProgramError, TypeMismatchError
from wiesel.datastream.formats.orc import OrcBulkWriters
from wiesel.spi.file_formats import BulkWriterFactory
from wiesel.table import DataTypes

ROWS = DataTypes.ROW(
    [
        DataTypes.FIELD("name", DataTypes.STRING()),
        DataTypes.FIELD("counts", DataTypes.ARRAY(DataTypes.INT())),
        DataTypes.FIELD("at", DataTypes.TIMESTAMP(6)),
        DataTypes.FIELD("price", DataTypes.DECIMAL(10, 2)),
        DataTypes.FIELD("data", DataTypes.BYTES()),
        DataTypes.FIELD("map", DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT())),
        DataTypes.FIELD("inner", DataTypes.ROW([DataTypes.FIELD("day", DataTypes.DATE()), DataTypes.FIELD("x", DataTypes.DOUBLE())])),
    ]
)


def orc_file(factory: BulkWriterFactory, *batches: list[Any]) -> ORCFile:
    stream = io.BytesIO()
    writer = pickle.loads(pickle.dumps(factory)).create(stream)
    for batch in batches:
        writer.add_batch(batch)
    writer.finish()
    return ORCFile(io.BytesIO(stream.getvalue()))


def test_rows_of_all_types() -> None:
    at, day = datetime(2024, 1, 2, 3, 4, 5, 678_901), date(1965, 4, 3)
    row = Row("ö", [1, None, -3], at, Decimal("-1.25"), b"\x00x", {"a": 1 << 40}, Row(day, 0.5))
    file = orc_file(OrcBulkWriters.for_row_type(ROWS), [row], [Row(*[None] * 7)])
    first, second = file.read().to_pylist()
    assert first.pop("at").to_pydatetime() == at
    expected = ["ö", [1, None, -3], Decimal("-1.25"), b"\x00x", [("a", 1 << 40)], {"day": day, "x": 0.5}]
    assert list(first.values()) == expected and set(second.values()) == {None}
    assert file.compression == "ZLIB"


def test_many_rows_in_order() -> None:
    kind = Types.ROW_NAMED(["id"], [Types.LONG()])
    batches = [[Row(i) for i in range(start, start + 10_000)] for start in range(0, 150_000, 10_000)]
    file = orc_file(OrcBulkWriters.for_row_type(kind), *batches)  # type: ignore[arg-type]
    assert file.read()["id"].to_pylist() == list(range(150_000))


def test_a_file_without_rows_has_its_columns() -> None:
    file = orc_file(OrcBulkWriters.for_row_type(ROWS))
    assert file.read().num_rows == 0 and file.schema.names == ROWS.field_names()


def test_properties() -> None:
    properties = Configuration().set_string("orc.compress", "snappy").set_integer("orc.row.index.stride", 2_000)
    file = orc_file(OrcBulkWriters.for_row_type(ROWS, properties), [Row(*[None] * 7)])
    assert file.compression == "SNAPPY" and file.row_index_stride == 2_000
    for key, value in (("orc.compress", "best"), ("orc.stripe.size", "big"), ("orc.other", "1")):
        with pytest.raises(ProgramError, match=key):
            OrcBulkWriters.for_row_type(ROWS, Configuration().set_string(key, value))


def test_an_abandoned_file_ends_quietly() -> None:
    writer = OrcBulkWriters.for_row_type(ROWS).create(io.BytesIO())
    writer.abandon()


def test_what_is_no_row_of_the_type() -> None:
    with pytest.raises(TypeError, match="must be an instance of RowType"):
        OrcBulkWriters.for_row_type(DataTypes.STRING())  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=r"row\.times\.item: ORC has no type for times"):
        OrcBulkWriters.for_row_type(DataTypes.ROW([DataTypes.FIELD("times", DataTypes.ARRAY(DataTypes.TIME()))]))
    with pytest.raises(TypeMismatchError, match="counts"):
        orc_file(OrcBulkWriters.for_row_type(ROWS), [Row("a", "b", None, None, None, None, None)])
