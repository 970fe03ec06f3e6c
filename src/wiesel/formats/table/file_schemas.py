"""Internal. The columns of files that hold columns."""

from __future__ import annotations

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.core.errors import ProgramError
from wiesel.types.logical import RowType, contains, quoted
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_variant import VariantType

__all__ = ["file_schema"]


def file_schema(rows: RowType) -> pa.Schema:
    """Return the schema of a file with these columns.

    Raises:
        ProgramError: If a column has a type that such files have not.
    """
    for field in rows:
        if contains(field.data_type, VariantType):
            message = f"column {quoted(field.name)}: values of type VARIANT are not kept in files"
            raise ProgramError(message, hint="declare it STRING: JSON_STRING(v) is its text, PARSE_JSON(text) makes it again")
        if contains(field.data_type, RawType):
            # To read it back would unpickle, and so run, what somebody has written to the file.
            message = f"column {quoted(field.name)}: values of type RAW are not kept in files"
            raise ProgramError(message, hint="declare the type of the records, or CAST it AS STRING or BYTES (its pickle)")
    return arrow_schema((field.name, field.data_type) for field in rows)
