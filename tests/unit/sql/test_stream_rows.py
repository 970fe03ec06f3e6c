"""Streams as tables: their columns against real Flink (``tests/differential/record_table_api.py``), and their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.differential import table_cases
from wiesel.common import Row, RowKind, Types
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.session.stream_rows import ToRow, row_info, row_type
from wiesel.types.typeinfo import ExternalTypeInfo, TypeInformation

GOLDENS = json.loads((Path(table_cases.__file__).parent / "goldens" / "table_api.json").read_text(encoding="utf-8"))["stream_types"]
TYPES = table_cases.stream_types(Types)


def test_every_case_was_recorded() -> None:
    assert set(GOLDENS) == set(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_columns_as_in_flink(name: str) -> None:
    assert str(ResolvedSchema.physical(row_type(TYPES[name]))) == GOLDENS[name]["schema"]


# PyFlink has a type for instants only inside rows. A row without names inside another type is printed without them, which PyFlink does
# not do for types that have been to Java and back.
@pytest.mark.parametrize("name", sorted(set(TYPES) - {"instant", "objects"}))
def test_types_of_streams_of_rows_as_in_flink(name: str) -> None:
    assert str(row_info(TYPES[name])) == GOLDENS[name]["type_info"]


def test_a_stream_that_was_a_table_is_of_rows_again() -> None:
    info = ExternalTypeInfo(Types.ROW_NAMED(["a"], [Types.INT()]))
    assert str(row_type(info).as_summary_string()) == "ROW<`a` INT> NOT NULL" and row_info(info) == info


def made(info: TypeInformation, value: Any) -> Any:
    function = ToRow(info)
    function.open(None)  # type: ignore[arg-type]
    return function.map(value)


@pytest.mark.parametrize(
    ("info", "value", "row"),
    [
        (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), Row(1, None), Row(a=1, b=None)),
        (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), Row(b="x", a=1), Row(a=1, b="x")),
        (Types.ROW([Types.INT(), Types.STRING()]), Row(1, "x"), Row(f0=1, f1="x")),
        (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "x"), Row(f0=1, f1="x")),
        (Types.LONG(), 5, Row(f0=5)),
        (Types.LIST(Types.INT()), [5, 6], Row(f0=[5, 6])),
    ],
)
def test_rows_have_the_columns_as_fields(info: TypeInformation, value: Any, row: Row) -> None:
    assert repr(made(info, value)) == repr(row)


def test_rows_that_are_not_new_are_refused() -> None:
    with pytest.raises(UserFunctionError, match=r"takes new rows only, but a record is -D <Row\(1\)>"):
        made(Types.ROW([Types.INT()]), Row.of_kind(RowKind.DELETE, 1))


@pytest.mark.parametrize("info", [Types.CHAR(), Types.ROW([Types.TUPLE([Types.CHAR()])]), Types.BIG_INT()])
def test_records_that_no_column_can_hold(info: TypeInformation) -> None:
    with pytest.raises(ProgramError, match=r"field 'f0': records of type .* cannot become values of a table"):
        row_type(info)
