"""Internal. The columns of files that hold columns."""

from __future__ import annotations

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.core.errors import ProgramError
from wiesel.types.logical import RowType, quoted
from wiesel.types.logical_variant import holds_variant

__all__ = ["file_schema"]


def file_schema(rows: RowType) -> pa.Schema:
    """Return the schema of a file with these columns.

    Raises:
        ProgramError: If a column has a type that such files have not.
    """
    for field in rows:
        if holds_variant(field.data_type):
            message = f"column {quoted(field.name)}: values of type VARIANT are not kept in files"
            raise ProgramError(message, hint="declare it STRING: JSON_STRING(v) is its text, PARSE_JSON(text) makes it again")
    return arrow_schema((field.name, field.data_type) for field in rows)
