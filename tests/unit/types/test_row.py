"""Rows. What is expected was tried with PyFlink 2.3."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from wiesel.types.row import Row, RowKind, make_row


def test_rows_by_name_and_position() -> None:
    row = Row(a=1, b=2)
    assert (row[0], row["a"], row.b, row[0:1], "a" in row, "c" in row, list(row), len(row)) == (1, 1, 2, [1], True, False, [1, 2], 2)
    assert row.as_dict() == {"a": 1, "b": 2}
    assert 1 in Row(1, 2)
    assert "a" not in Row(1, 2)


def test_text() -> None:
    assert repr(Row(a=1, b="x")) == str(Row(a=1, b="x")) == "Row(a=1, b='x')"
    assert repr(Row(1, "x")) == "<Row(1, 'x')>"
    assert repr(Row("x", Row(1, 2.5))) == "<Row('x', <Row(1, 2.5)>)>"
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]


def test_a_row_called_is_a_row_with_names() -> None:
    person = Row("name", "age")
    assert repr(person("Ann", 7)) == "Row(name='Ann', age=7)"
    assert repr(Row("a", "b")(1)) == "Row(a=1)"
    with pytest.raises(ValueError, match=r"Can not create Row with fields <Row\('a'\)>, expected 1 values but got \(1, 2\)"):
        Row("a")(1, 2)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: Row(a=1).zz, AttributeError, "zz"),
        (lambda: Row(a=1)["zz"], ValueError, "zz"),
        (lambda: Row(1)["a"], AttributeError, "_fields"),
        (lambda: Row(1).a, AttributeError, "a"),
        (lambda: Row(1).__setitem__("a", 2), KeyError, "a"),
        (lambda: Row(a=1).__setitem__("b", 2), ValueError, "2"),
        (lambda: setattr(Row(a=1), "a", 2), AttributeError, "a"),
        (lambda: Row(1, a=2), ValueError, "Can not use both args and kwargs to create Row"),
        (lambda: Row(1).as_dict(), TypeError, "Cannot convert a Row class into dict"),
        (lambda: Row(a=1).get_fields_by_names(["z"]), ValueError, r"Field names \['z'\] not exist in \['a'\]"),
    ],
)
def test_mistakes(action: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        action()


def test_values_are_set_by_name_and_position() -> None:
    row = Row(a=1, b=2)
    row["a"] = 5
    row[1] = 6
    assert row == Row(a=5, b=6)


def test_equality() -> None:
    assert Row(1) == Row(1)
    assert Row(1) != Row(a=1)
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert Row(a=1, b=2) != Row(b=1, a=2)
    assert Row(a=1) != Row(b=1)
    assert Row(1) != (1,)
    assert Row.of_kind(RowKind.DELETE, 1) != Row(1)
    assert hash(Row(1)) == hash(Row(1)) == hash((1,))


def test_names_can_be_given_later() -> None:
    row = Row(1, 2)
    assert not hasattr(row, "_fields")
    assert row.get_fields_by_names(["x"]) == [1, 2]
    row.set_field_names(["a", "b"])
    assert row == Row(a=1, b=2)
    assert row.get_fields_by_names(["b", "a"]) == [2, 1]


def test_kinds() -> None:
    row = Row.of_kind(RowKind.UPDATE_BEFORE, a=1)
    assert row.get_row_kind() is RowKind.UPDATE_BEFORE
    row.set_row_kind(RowKind.UPDATE_AFTER)
    assert row.get_row_kind() is RowKind.UPDATE_AFTER


@pytest.mark.parametrize("row", [Row(1, "x"), Row(a=1, b="x"), Row.of_kind(RowKind.DELETE, a=[Row(1)]), Row()])
def test_copies_and_pickles_are_equal(row: Row) -> None:
    for other in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row)):
        assert other == row
        assert other.get_row_kind() is row.get_row_kind()
        assert repr(other) == repr(row)


def test_copies_do_not_share_values() -> None:
    row = Row([1])
    copy.deepcopy(row)[0].append(2)
    copy.copy(row)[0] = 7
    assert row == Row([1])


def test_nested_rows_become_nested_dicts() -> None:
    row = Row(a=Row(b=1), c=[Row(d=2)], e={"f": Row(g=3)})
    assert row.as_dict(True) == {"a": {"b": 1}, "c": [{"d": 2}], "e": {"f": {"g": 3}}}
    assert row.as_dict()["a"] == Row(b=1)


def test_rows_made_the_fast_way_are_rows() -> None:
    row = make_row(["a"], [1], RowKind.DELETE)
    assert type(row) is Row
    assert row == Row.of_kind(RowKind.DELETE, a=1)
    assert pickle.loads(pickle.dumps(row)) == row
    with pytest.raises(AttributeError):
        row.a = 2
