"""ORC files as bulk output, by pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

import pyarrow as pa

from wiesel.core.config import Configuration
from wiesel.core.errors import ProgramError
from wiesel.formats.arrow_types import arrow_schema, row_type_of, rows_to_batch
from wiesel.formats.orc_writing import COMPRESSIONS, StripeWriter
from wiesel.spi.file_formats import BulkWriter, BulkWriterFactory
from wiesel.types.logical import RowType
from wiesel.types.typeinfo import RowTypeInfo

__all__ = ["OrcBulkWriters"]

_NUMBERS = {"orc.stripe.size": "stripe_size", "orc.compress.size": "compression_block_size", "orc.row.index.stride": "row_index_stride"}


class OrcBulkWriters:
    """ORC files as output of a file sink."""

    @staticmethod
    def for_row_type(
        row_type: RowType | RowTypeInfo, writer_properties: Configuration | None = None, hadoop_config: object = None
    ) -> BulkWriterFactory:
        """Return the factory of writers of rows of a type.

        Args:
            row_type: The type of the rows, from ``DataTypes.ROW`` or ``Types.ROW_NAMED``.
            writer_properties: ORC's own: ``orc.compress`` (``NONE``, ``ZLIB``, ``SNAPPY``, ``LZ4``, ``ZSTD``; ``ZLIB`` by default),
                ``orc.compress.size``, ``orc.stripe.size`` and ``orc.row.index.stride``.
            hadoop_config: Not used; ORC is written without Hadoop.

        Raises:
            TypeError: If ``row_type`` is no row type.
            ProgramError: If ORC has no type for a field, or a property is not known.
        """
        given: object = row_type
        if not isinstance(given, RowType | RowTypeInfo):
            raise TypeError("row_type must be an instance of RowType")
        rows = row_type_of(row_type)
        _require_orc_types(arrow_schema(rows, "row"))
        return _OrcWriterFactory(rows, _options({} if writer_properties is None else writer_properties.to_dict()))


def _require_orc_types(fields: Any) -> None:
    for field in fields:
        _require_orc_type(field.name, field.type)


def _require_orc_type(where: str, kind: Any) -> None:
    if pa.types.is_time(kind):
        raise ProgramError(f"row.{where}: ORC has no type for times of day", hint="write a timestamp, a number or a text")
    for i in range(kind.num_fields):
        _require_orc_type(f"{where}.{kind.field(i).name}", kind.field(i).type)


def _options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of pyarrow's writer."""
    options: dict[str, Any] = {"compression": "zlib"}
    for key, value in properties.items():
        if key == "orc.compress" and value.upper() in COMPRESSIONS:
            options["compression"] = COMPRESSIONS[value.upper()]
        elif key in _NUMBERS and value.isdecimal():
            options[_NUMBERS[key]] = int(value)
        else:
            raise ProgramError(
                f"OrcBulkWriters: {key} = {value!r} cannot be set",
                hint=f"there are orc.compress ({', '.join(COMPRESSIONS)}) and, with numbers, {', '.join(_NUMBERS)}",
            )
    return options


class _OrcWriterFactory(BulkWriterFactory):
    def __init__(self, row_type: RowTypeInfo, options: dict[str, Any]) -> None:
        self._row_type = row_type
        self._options = options

    def create(self, stream: BinaryIO) -> BulkWriter:
        return StripeWriter(stream, arrow_schema(self._row_type, "row"), self._options, rows_to_batch)
