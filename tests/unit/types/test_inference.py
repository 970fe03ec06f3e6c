"""Declared types from annotations."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest

from wiesel.types.inference import row_type_of, type_of_annotation, type_of_return
from wiesel.types.types import Types as T


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (int, T.LONG()),
        (float, T.DOUBLE()),
        (bool, T.BOOLEAN()),
        (str, T.STRING()),
        (bytes, T.PRIMITIVE_ARRAY(T.BYTE())),
        (dt.datetime, T.SQL_TIMESTAMP()),
        (dt.date, T.SQL_DATE()),
        (list[int], T.LIST(T.LONG())),
        (dict[str, list[float]], T.MAP(T.STRING(), T.LIST(T.DOUBLE()))),
        (tuple[str, int], T.TUPLE([T.STRING(), T.LONG()])),
        (tuple[int, ...], T.PICKLED_BYTE_ARRAY()),
        (Annotated[int, "x"], T.LONG()),
        (int | None, T.PICKLED_BYTE_ARRAY()),
        (Any, T.PICKLED_BYTE_ARRAY()),
        (list, T.PICKLED_BYTE_ARRAY()),
    ],
)
def test_annotations(annotation: Any, kind: Any) -> None:
    assert type_of_annotation(annotation) == kind


@dataclass
class Point:
    x: int
    label: str | None = None


class Pair(NamedTuple):
    a: str
    b: float


class Options(TypedDict):
    n: int


def test_fields_of_classes() -> None:
    assert repr(row_type_of(Point)) == "RowTypeInfo(x: Long, label: String)"
    assert repr(row_type_of(Pair)) == "RowTypeInfo(a: String, b: Double)"
    assert repr(row_type_of(Options)) == "RowTypeInfo(n: Long)"
    assert row_type_of(int) is None
    kind = row_type_of(Point)
    assert kind is not None
    assert kind.compile_checker()(Point(1))


def test_results_of_functions() -> None:
    def annotated(x: int) -> str:
        return str(x)

    def broken(x: int) -> NoSuchName:  # type: ignore[name-defined]  # noqa: F821
        return x

    assert type_of_return(annotated) == T.STRING()
    assert type_of_return(lambda x: x) is None
    assert type_of_return(broken) is None
    assert type_of_return(len) is None
