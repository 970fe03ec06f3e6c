"""Types of columns: their texts and types in streams against real Flink (``tests/differential/record_table_api.py``), and their errors."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.differential import table_cases
from wiesel.common import Types
from wiesel.core.errors import ProgramError
from wiesel.types.data_types import DataTypes
from wiesel.types.logical import DataType, RowField, RowType, ZonedTimestampType
from wiesel.types.logical_conversion import to_data_type, to_type_info
from wiesel.types.logical_parser import parse_data_type

GOLDENS = json.loads((Path(table_cases.__file__).parent / "goldens" / "table_api.json").read_text(encoding="utf-8"))
TYPES: dict[str, DataType] = table_cases.data_types(DataTypes)

# Java has structured types of its own for the views; PyFlink does not tell Java the description of a field.
OTHER_SUMMARY = {"list_view": "LIST_VIEW<INT>", "map_view": "MAP_VIEW<STRING, INT>", "row_described": "ROW<`a` INT '...'>"}

# PyFlink knows no type of a stream for these, though Java does.
ONLY_HERE = {
    "binary": "PrimitiveArrayTypeInfo<Byte>",
    "varbinary": "PrimitiveArrayTypeInfo<Byte>",
    "timestamp_with_local_time_zone": "Instant",
    "multiset": "MapTypeInfo<Integer, Integer>",
    "multiset_not_null": "MapTypeInfo<String, Integer>",
}


def test_every_case_was_recorded() -> None:
    assert set(GOLDENS["data_types"]) == set(TYPES)
    assert set(GOLDENS["type_strings"]) == {*table_cases.TYPE_STRINGS, *table_cases.BAD_TYPE_STRINGS}


@pytest.mark.parametrize("name", TYPES)
def test_texts_as_in_flink(name: str) -> None:
    data_type, recorded = TYPES[name], GOLDENS["data_types"][name]
    assert (repr(data_type), str(data_type)) == (recorded["repr"], recorded["str"])
    assert data_type.as_summary_string() == OTHER_SUMMARY.get(name, recorded["summary"])


@pytest.mark.parametrize("name", TYPES)
def test_types_of_streams_as_in_flink(name: str) -> None:
    recorded = GOLDENS["data_types"][name]["type_info"]
    if name in ONLY_HERE:
        assert isinstance(recorded, dict) and str(to_type_info(TYPES[name])) == ONLY_HERE[name]
    elif isinstance(recorded, dict):
        with pytest.raises(ProgramError, match="cannot become records of a stream"):
            to_type_info(TYPES[name])
    else:
        assert f"ExternalTypeInfo<RowTypeInfo(f: {to_type_info(TYPES[name])})>" == recorded


@pytest.mark.parametrize("text", GOLDENS["type_strings"])
def test_types_as_text_as_in_flink(text: str) -> None:
    recorded = GOLDENS["type_strings"][text]
    if isinstance(recorded, dict):
        with pytest.raises(ProgramError, match="could not parse the type") as caught:
            parse_data_type(text)
        assert "\n  what to do: " in str(caught.value)
    else:
        assert parse_data_type(text).as_summary_string() == recorded


# Flink's texts of these do not tell everything: of the views there is none, of NULL no column, of descriptions three dots.
@pytest.mark.parametrize("name", sorted(set(TYPES) - {"list_view", "map_view", "row_described"}))
def test_texts_are_read_back(name: str) -> None:
    assert parse_data_type(TYPES[name].as_summary_string()) == TYPES[name]


@pytest.mark.parametrize("name", TYPES)
def test_types_are_values(name: str) -> None:
    again = pickle.loads(pickle.dumps(TYPES[name]))
    assert again == TYPES[name] and hash(again) == hash(TYPES[name])
    assert [other for other, data_type in TYPES.items() if data_type == again] == [n for n in TYPES if repr_of(n) == repr_of(name)]


def repr_of(name: str) -> tuple[str, str]:
    # Neither text alone tells two types apart: PyFlink's lacks the units of intervals, SQL's the descriptions.
    return repr(TYPES[name]), TYPES[name].as_summary_string()


@pytest.mark.parametrize("info", [Types.CHAR(), Types.BIG_INT(), Types.TUPLE([Types.CHAR()])])
def test_types_that_no_column_has(info: Any) -> None:
    with pytest.raises(ProgramError, match="cannot become values of a table"):
        to_data_type(Types.LIST(info))


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: DataTypes.CHAR(0), "length is 0"),
        (lambda: DataTypes.VARCHAR(2**31), "length is 2147483648"),
        (lambda: DataTypes.BINARY("3"), "length is '3'"),  # type: ignore[arg-type]
        (lambda: DataTypes.DECIMAL(39, 0), "precision is 39"),
        (lambda: DataTypes.DECIMAL(5, 6), "scale of a decimal with 5 digits is 6"),
        (lambda: DataTypes.TIMESTAMP(10), "precision is 10"),
        (lambda: DataTypes.TIME(True), "precision is True"),
        (lambda: DataTypes.INT("yes"), "nullability of a IntType is 'yes'"),  # type: ignore[arg-type]
        (lambda: DataTypes.ARRAY(int), "element type of an array is <class 'int'>"),  # type: ignore[arg-type]
        (lambda: DataTypes.MAP(DataTypes.INT(), None), "value type of a map is None"),  # type: ignore[arg-type]
        (lambda: DataTypes.ROW([("a", DataTypes.INT())]), "is not a field of a row"),  # type: ignore[list-item]
        (lambda: DataTypes.FIELD(1, DataTypes.INT()), "name of a row's field is 1"),  # type: ignore[arg-type]
        (lambda: DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())] * 2), r"duplicates: \['a'\]"),
        (lambda: DataTypes.INTERVAL(DataTypes.MONTH(), DataTypes.YEAR()), "no interval type MONTH TO YEAR"),
        (lambda: DataTypes.INTERVAL(DataTypes.YEAR(5)), "digits of years of an interval is 5"),
        (lambda: DataTypes.INTERVAL(DataTypes.DAY(7)), "digits of days of an interval is 7"),
        (lambda: DataTypes.INTERVAL(DataTypes.SECOND(-1)), "digits of fractions of a second is -1"),
    ],
)
def test_wrong_arguments(make: Any, problem: str) -> None:
    with pytest.raises(ProgramError, match=problem) as caught:
        make()
    assert caught.value.hint


def test_rows_are_read_by_position_and_name() -> None:
    row = RowType().add("a", DataTypes.INT()).add(RowField("b", DataTypes.STRING(False), "what it is"))
    assert row.field_names() == row.names == ["a", "b"] and row.field_types() == [DataTypes.INT(), DataTypes.STRING(False)]
    assert (len(row), row["b"], row[0], row[:1]) == (2, row.fields[1], RowField("a", DataTypes.INT()), DataTypes.ROW([row.fields[0]]))
    assert [field.description for field in row] == ["...", "what it is"]
    with pytest.raises(KeyError):
        row["c"]
    with pytest.raises(ProgramError, match="the row's field 'c' is added without a type"):
        row.add("c")
    with pytest.raises(ProgramError, match="duplicates"):
        row.add("a", DataTypes.INT())
    assert len(row) == 2


def test_timestamps_with_a_zone_have_no_factory_but_a_text() -> None:
    assert parse_data_type("TIMESTAMP(3) WITH TIME ZONE") == ZonedTimestampType(3)
    assert ZonedTimestampType(3).as_summary_string() == "TIMESTAMP(3) WITH TIME ZONE"


def test_an_error_in_a_text_shows_the_place() -> None:
    with pytest.raises(ProgramError) as caught:
        parse_data_type("ROW<a INT,\n b STRNG>")
    assert str(caught.value).splitlines()[0].endswith("at position 14: there is no type STRNG")
    shown, caret = str(caught.value).splitlines()[1:3]
    assert shown[caret.index("^") :].startswith("STRNG") and "did you mean STRING?" in str(caught.value)


def test_raw_is_refused_with_its_reason_and_the_way_out() -> None:
    with pytest.raises(ProgramError, match=r"position 6: values of RAW are read by classes of Java(.|\n)*pickle.loads\(\)"):
        parse_data_type("ARRAY<RAW('a.Class', 'AAAA')>")


def test_undeclared_records_are_raw() -> None:
    row = to_data_type(Types.ROW([Types.INT(), Types.PICKLED_BYTE_ARRAY()]))
    assert row == DataTypes.ROW([DataTypes.FIELD("f0", DataTypes.INT()), DataTypes.FIELD("f1", DataTypes.RAW())])
    assert row.as_summary_string() == "ROW<`f0` INT, `f1` RAW('[B', '...')>"
    assert to_type_info(DataTypes.RAW()) == Types.PICKLED_BYTE_ARRAY()
