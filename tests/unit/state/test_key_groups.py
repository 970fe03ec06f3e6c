"""Key groups: hashes that never change, are equal for equal keys in every process, and spread; Flink's formulas for ranges."""

from __future__ import annotations

import datetime
import enum
import math
import os
import subprocess
import sys
import uuid
from collections import Counter, namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.core.errors import ConfigurationError, InvariantError, ProgramError
from wiesel.state.key_codec import canonical_bytes
from wiesel.state.key_groups import (
    ChannelSelector,
    default_max_parallelism,
    hash_of_canonical,
    key_group,
    key_group_range,
    stable_hash,
    subtask_for_key_group,
)
from wiesel.types.row import Row, RowKind

# Stored state is found by these: a change of any of them loses the state of every job.
GOLDEN: list[tuple[Any, int]] = [
    (0, 1730771538),
    (1, 412453564),
    (-1, 3077447994),
    (12345, 1709348686),
    (2**63 - 1, 4282809617),
    (-(2**63), 2673403816),
    (2**63, 2791686959),
    (10**30, 515757448),
    (True, 412453564),
    (1.5, 2453438788),
    (-0.0, 1730771538),
    (math.inf, 342421252),
    (math.nan, 2122670953),
    (1e300, 3557730977),
    ("", 4202147191),
    ("a", 3991184398),
    ("key-1", 1324704464),
    ("äöü€𝄞", 2284046673),
    ("x" * 1000, 3859410278),
    (b"", 552590838),
    (b"a", 872008743),
    (None, 1148020257),
    ((), 2910538972),
    (("a", 1), 3754924890),
    ((("a",), (1, 2.5)), 1171150631),
    (frozenset({1, 2, "x"}), 2341424170),
    (datetime.date(2024, 2, 29), 1130284430),
    (datetime.datetime(2024, 2, 29, 12, 30, 1, 5), 1229258451),
    (datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc), 1493360686),
    (datetime.time(1, 2, 3), 3164962632),
    (datetime.timedelta(days=-1, microseconds=7), 409940156),
    (Decimal("0.1"), 2071138754),
    (Decimal("0.5"), 1519539267),
    (Fraction(1, 3), 3164290451),
    (1 + 2j, 727637609),
    (uuid.UUID(int=5), 333794935),
    (Row("a", 1), 738741313),
    (Row(name="a", n=1), 1956413737),
]


@pytest.mark.parametrize(("key", "expected"), GOLDEN, ids=[f"golden{i}" for i in range(len(GOLDEN))])
def test_hashes_never_change(key: Any, expected: int) -> None:
    assert stable_hash(key) == expected


def bitwise_hash(data: bytes) -> int:
    """The definition, without zlib: CRC-32 (reflected, 0xEDB88320), times the golden ratio, folded."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
    mixed = (crc ^ 0xFFFFFFFF) * 0x9E3779B1 % 2**32
    return mixed ^ (mixed >> 15)


@given(st.integers(-(2**63), 2**63 - 1))
def test_hash_of_an_int_is_as_defined(key: int) -> None:
    assert stable_hash(key) == bitwise_hash(b"i" + key.to_bytes(8, "big", signed=True))


@given(st.text())
def test_hash_of_a_string_is_as_defined(key: str) -> None:
    assert stable_hash(key) == bitwise_hash(b"s" + key.encode())


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Bits(enum.Flag):
    A = 1
    B = 2


class Number(enum.IntEnum):
    ONE = 1


class Name(str, enum.Enum):
    ANN = "ann"


Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Point:
    x: int
    y: Any = None
    note: str = field(default="", compare=False)


class Text(str):
    """A string of another class."""


class Custom:
    """Compared by its parts, as a user may write it."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.names = {"b": {2, 1}, "a": [1]}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Custom) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


EQUAL = [
    [1, 1.0, True, Decimal(1), Decimal("1.00"), Fraction(1), 1 + 0j, np.int64(1), np.float32(1), np.bool_(True), Number.ONE],
    [0, 0.0, -0.0, False, Decimal("-0")],
    [0.5, Decimal("0.5"), Fraction(1, 2), np.float64(0.5), np.float16(0.5)],
    [2**70, float(2**70), Decimal(2**70), Fraction(2**70)],
    [math.inf, Decimal("Infinity"), np.inf],
    ["ann", Text("ann"), Name.ANN, np.str_("ann")],
    [b"ab", memoryview(b"ab"), np.bytes_(b"ab")],
    [(1, "x"), Pair(1, "x"), (1.0, Text("x")), (True, "x")],
    [Point(1, (2, "a")), Point(True, (2.0, "a"), note="other")],
    [Row("a", 1), Row("a", True)],
    [Row(a=1, b=2), Row(b=2, a=1.0)],
    [frozenset({1, "a", (2,)}), frozenset([(2.0,), "a", True])],
    [
        datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone.utc),
        datetime.datetime(2024, 1, 1, 14, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ],
    [datetime.timedelta(days=1), datetime.timedelta(hours=24)],
    [Custom(1, "x"), Custom(1.0, "x")],
    [Bits.A | Bits.B, Bits.B | Bits.A],
]


# Numbered: the text of a set or an object differs from process to process.
@pytest.mark.parametrize("keys", EQUAL, ids=[f"case{i}" for i in range(len(EQUAL))])
def test_equal_keys_have_equal_bytes(keys: list[Any]) -> None:
    assert all(key == keys[0] for key in keys), "the case itself is wrong"
    assert len({canonical_bytes(key) for key in keys}) == 1
    assert len({stable_hash(key) for key in keys}) == 1


def test_unequal_keys_have_unequal_bytes() -> None:
    keys = [keys[0] for keys in EQUAL]
    keys += [
        "1",
        b"1",
        (1,),
        ((1,),),
        (1, 1),
        ("1", "1"),
        ("11",),
        ("1", ("1",)),
        None,
        (),
        "",
        b"",
        (None,),
        frozenset(),
        2**63,
        -(2**63) - 1,
    ]
    keys += [
        Colour.RED,
        Colour.BLUE,
        Bits.A,
        Point(1),
        Point(1, 2),
        Row(1),
        Row(1, None),
        Row(x=1),
        Row.of_kind(RowKind.DELETE, 1),
        math.nan,
    ]
    keys += [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1), datetime.time(0), Decimal("0.1"), 0.1, Fraction(1, 10**30), int, str]
    keys += ["\ud800", "\ud801", uuid.UUID(int=1), Custom(2), Custom("2")]
    assert len({canonical_bytes(key) for key in keys}) == len(keys)


KEYS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.dates(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)


@given(KEYS, KEYS)
def test_bytes_are_equal_exactly_if_the_keys_are(left: Any, right: Any) -> None:
    assert (canonical_bytes(left) == canonical_bytes(right)) == (left == right)


@given(KEYS)
def test_fast_and_general_way_agree(key: Any) -> None:
    assert stable_hash(key) == hash_of_canonical(canonical_bytes(key))


def test_hashes_are_the_same_in_another_process() -> None:
    program = (
        "from wiesel.state.key_groups import stable_hash\n"
        "from wiesel.types.row import Row\n"
        "shared = 'xy' * 3\n"
        "print(stable_hash((shared, shared, frozenset({'a', 'b', 'c', 1, 2}), Row(q='a', p=(1, 2)))))"
    )
    seen = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        seen.add(subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True).stdout)
    # Equal parts that are not the same object: what pickle gets wrong.
    here = stable_hash(("xyxyxy", "".join(["xyx", "yxy"]), frozenset({2, 1, "c", "b", "a"}), Row(p=(1, 2), q="a")))
    assert seen == {f"{here}\n"}


SEQUENCES = {
    "ints": [*range(20_000)],
    "multiples of 1024": [i * 1024 for i in range(20_000)],
    "high bits": [i << 40 for i in range(20_000)],
    "texts": [f"key-{i}" for i in range(20_000)],
    "fractions": [i / 7 for i in range(20_000)],
    "pairs": [(i % 100, f"u{i}") for i in range(20_000)],
    "days": [datetime.date.fromordinal(700_000 + i) for i in range(20_000)],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_keys_spread_over_the_groups_as_if_at_random(name: str) -> None:
    groups = Counter(key_group(key, 128) for key in SEQUENCES[name])
    mean = len(SEQUENCES[name]) / 128
    chi_squared = sum((groups[group] - mean) ** 2 / mean for group in range(128))
    # 127 degrees of freedom: beyond 200 once in 30,000 times.
    assert chi_squared < 200


def test_keys_that_cannot_be_keys_are_refused() -> None:
    class Plain:
        pass

    selector = ChannelSelector(128, 4)
    for key, hint in [
        (Plain(), "__eq__"),
        (object(), "__eq__"),
    ]:
        for call in (stable_hash, canonical_bytes, selector.channel, lambda k: selector.channels(["fine", k])):
            with pytest.raises(ProgramError, match=type(key).__name__) as raised:
                call(key)
            assert hint in str(raised.value)
    with pytest.raises(ProgramError, match="tuple"):
        selector.channels([(1, [2])])


@pytest.mark.parametrize(("max_parallelism", "parallelism"), [(128, 1), (128, 3), (128, 128), (10, 4), (32768, 7), (7, 7), (5, 2)])
def test_ranges_are_those_of_flink(max_parallelism: int, parallelism: int) -> None:
    ranges = [key_group_range(subtask, max_parallelism, parallelism) for subtask in range(parallelism)]
    # Every group belongs to exactly one range, and to the subtask that Flink's inverse formula names.
    assert [group for r in ranges for group in range(r.start, r.end)] == list(range(max_parallelism))
    for subtask, owned in enumerate(ranges):
        assert {subtask_for_key_group(group, max_parallelism, parallelism) for group in range(owned.start, owned.end)} == {subtask}


def test_ranges_of_an_example_by_hand() -> None:
    # KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(10, 4, i): [0, 2], [3, 4], [5, 7], [8, 9], both ends inclusive.
    assert [(r.start, r.end) for r in (key_group_range(i, 10, 4) for i in range(4))] == [(0, 3), (3, 5), (5, 8), (8, 10)]


def test_impossible_parallelisms_are_refused() -> None:
    for max_parallelism, parallelism in [(2, 3), (0, 0), (40_000, 1), (4, 0)]:
        with pytest.raises(ConfigurationError):
            key_group_range(0, max_parallelism, parallelism)
    with pytest.raises(InvariantError):
        key_group_range(4, 128, 4)


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, 128), (85, 128), (86, 256), (100, 256), (170, 256), (171, 256), (172, 512), (20_000, 32768), (32768, 32768)],
)
def test_default_max_parallelism_is_flinks(parallelism: int, expected: int) -> None:
    # roundUpToPowerOfTwo(parallelism + parallelism / 2), at least 128, at most 32768.
    assert default_max_parallelism(parallelism) == expected


def test_selector_gives_the_channel_of_the_owner_and_stays_bounded() -> None:
    selector = ChannelSelector(128, 5, cached_keys=10)
    keys = [f"k{i % 37}" for i in range(500)]
    expected = [subtask_for_key_group(key_group(key, 128), 128, 5) for key in keys]
    assert selector.channels(keys) == expected
    assert selector.channels(keys) == expected
    assert len(selector._lookup.__self__) <= 10  # type: ignore[attr-defined]
    assert selector.channels([1, 1.0, True]) == [selector.channel(1)] * 3
