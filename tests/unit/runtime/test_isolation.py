"""What passes as it is and what is copied on its way out of a function."""

from __future__ import annotations

import datetime
import decimal
import dis
import enum
import threading
from collections import deque, namedtuple
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.isolation import has_memory, isolated
from wiesel.spi.functions import MapFunction
from wiesel.spi.output_tag import OutputTag
from wiesel.types.row import Row, RowKind

Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = (1,)


@dataclass
class Event:
    name: str
    parts: list = field(default_factory=list)


class Slotted:
    __slots__ = ("part",)

    def __init__(self, part):
        self.part = part

    def __eq__(self, other):
        return isinstance(other, Slotted) and self.part == other.part

    __hash__ = None


NOW = datetime.datetime(2026, 1, 2)


@pytest.mark.parametrize(
    "value",
    [None, True, 1, 1.5, "x", b"x", NOW, NOW.date(), decimal.Decimal(1), (), ("a", 1, None), Point(1, 2), Colour.RED, int, OutputTag("t")],
    ids=repr,
)
def test_what_cannot_change_passes(value):
    assert isolated(value) is value


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([1], lambda v: v.append(2)),
        ([[1]], lambda v: v[0].append(2)),
        ({"a": 1}, lambda v: v.update(b=2)),
        ({"a": [1]}, lambda v: v["a"].append(2)),
        ({1}, lambda v: v.add(2)),
        (deque([1]), lambda v: v.append(2)),
        (bytearray(b"a"), lambda v: v.extend(b"b")),
        (("a", [1]), lambda v: v[1].append(2)),
        (("a", ("b", [1])), lambda v: v[1][1].append(2)),
        (Point(1, [1]), lambda v: v.y.append(2)),
        ((OutputTag("t"), [1]), lambda v: v[1].append(2)),
        (Row("a", 1), lambda v: v.__setitem__(1, 2)),
        (Row(name="a", n=1), lambda v: v.__setitem__("n", 2)),
        (Row("a", [1]), lambda v: v[1].append(2)),
        (("a", Row(1)), lambda v: v[1].__setitem__(0, 2)),
        (Row.of_kind(RowKind.DELETE, 1), lambda v: v.set_row_kind(RowKind.INSERT)),
        (Event("a"), lambda v: setattr(v, "name", "b")),
        (Event("a", [1]), lambda v: v.parts.append(2)),
        (Slotted(1), lambda v: setattr(v, "part", 2)),
    ],
    ids=lambda v: None if callable(v) else repr(v)[:30],
)
def test_what_can_change_is_copied(value, change):
    copied = isolated(value)
    assert type(copied) is type(value)
    assert copied == value
    before = repr(copied) if not isinstance(value, Slotted) else copied.part
    change(value)
    assert (repr(copied) if not isinstance(value, Slotted) else copied.part) == before
    assert copied != value


def test_a_list_that_holds_itself_is_copied():
    knot = [1]
    knot.append(knot)
    copied = isolated(knot)
    assert copied is not knot
    assert copied[1] is copied


def test_what_cannot_be_copied_passes():
    lock = threading.Lock()
    assert isolated(lock) is lock


def test_scalars_of_numpy_pass_and_arrays_are_copied():
    numpy = pytest.importorskip("numpy")
    for scalar in (numpy.int64(1), numpy.float32(1.5), numpy.datetime64("2026-01-02")):
        assert isolated(scalar) is scalar
    array = numpy.zeros(2)
    copied = isolated(array)
    array[0] = 1
    assert copied.tolist() == [0, 0]


class Plain(MapFunction):
    def map(self, value):
        return value


class WithState(Plain):
    def __init__(self):
        self.seen = []


KEPT: list[int] = []


class UsesKept(MapFunction):
    def map(self, value):
        return uses_kept(value)


NAME = "name"


def uses_kept(value):
    KEPT.append(value)
    return KEPT


def uses_it_through_another(value):
    return [uses_kept(v) for v in value]


def uses_name(value):
    return NAME, Plain, dis.dis, [uses_name(v) for v in value]


def binds_name(value):
    global NAME
    NAME = value


def keeps_in_its_default(value, kept=[]):  # noqa: B006 - that is the case
    kept.append(value)
    return kept


def test_functions_that_can_keep_objects_have_memory():
    kept: list[int] = []
    last = 0

    def binds_last(value):
        def inner():
            nonlocal last
            last = value

        return inner

    def counts_down(value):
        return value and counts_down(value - 1)

    assert has_memory(lambda v: kept)
    assert has_memory(WithState())
    assert has_memory(WithState().map)
    assert has_memory(uses_kept)
    assert has_memory(UsesKept().map)
    assert has_memory(uses_it_through_another)
    assert has_memory(binds_name)
    assert has_memory(binds_last)
    assert has_memory(keeps_in_its_default)
    assert not has_memory(counts_down)


def test_functions_that_cannot_keep_objects_have_none():
    number, pair, helper = 10_000, (1, "a"), uses_name
    assert not has_memory(lambda v: v)
    assert not has_memory(lambda v: (v % number, pair, helper(v)))
    assert not has_memory(lambda v, step=1: v + step)
    assert not has_memory(str.upper)
    assert not has_memory(dict)
    assert not has_memory(Plain())
    assert not has_memory(Plain().map)
    assert not has_memory(uses_name)


def test_batches_of_rows_pass_as_they_are() -> None:
    rows = RowBatch(pa.RecordBatch.from_arrays([pa.array([1, 2])], names=["n"]))
    assert isolated(rows) is rows
