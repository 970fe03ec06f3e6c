"""Texts and conversions of declared types against what real Flink 2.3 gave (``tests/differential/record_type_strings.py``)."""

from __future__ import annotations

import json
import math
import random
import struct
from typing import Any

import pytest

import wiesel.common as api
from tests.differential.type_string_cases import Case, cases
from tests.unit.types import java_numbers
from wiesel.core.errors import TypeMismatchError
from wiesel.spi.serialization import Encoder
from wiesel.types.coercion import round_to_float
from wiesel.types.java_strings import double_to_string, float_to_string, print_formatter, to_java_string
from wiesel.types.types import Types

GOLDENS: dict[str, list[str] | None] = json.loads((java_numbers.REPOSITORY / "tests/differential/goldens/type_strings.json").read_text())
CASES = {case.name: case for case in cases(api)}


def _ours(case: Case) -> list[str]:
    if case.how == "undeclared":
        return [print_formatter(None)(value) for value in case.values]
    if case.how in ("print", "in_tuple"):
        return [print_formatter(case.type)(case.type.coerce(value)) for value in case.values]
    if case.how == "file":
        return Encoder.simple_string_encoder().bind(case.type).encode_many(case.values).decode().splitlines()
    return [repr(case.type.coerce(value)) for value in case.values]


@pytest.mark.parametrize("name", [name for name in GOLDENS if not name.startswith("refused_")])
def test_as_in_flink(name: str) -> None:
    assert GOLDENS[name] is not None
    assert _ours(CASES[name]) == GOLDENS[name]


@pytest.mark.parametrize("name", [name for name in GOLDENS if name.startswith("refused_")])
def test_what_fails_in_flink_is_refused(name: str) -> None:
    assert GOLDENS[name] is None
    with pytest.raises(TypeMismatchError):
        _ours(CASES[name])


def test_every_case_was_recorded() -> None:
    assert set(GOLDENS) == set(CASES)


@pytest.mark.parametrize(("bits", "text"), java_numbers.DOUBLES)
def test_doubles_as_in_java(bits: str, text: str) -> None:
    assert double_to_string(float.fromhex(bits)) == text


@pytest.mark.parametrize(("bits", "text"), java_numbers.FLOATS)
def test_floats_as_in_java(bits: str, text: str) -> None:
    assert float_to_string(float.fromhex(bits)) == text


def test_any_text_of_a_number_reads_back_as_the_number() -> None:
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(2000):
        bits = rng.getrandbits(64)
        (double,) = struct.unpack("<d", bits.to_bytes(8, "little"))
        (single,) = struct.unpack("<f", (bits & 0xFFFFFFFF).to_bytes(4, "little"))
        if math.isfinite(double):
            assert float(double_to_string(double)) == double, f"seed {seed}"
        if math.isfinite(single):
            assert round_to_float(float(float_to_string(single))) == single, f"seed {seed}"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Types.LOCAL_DATE_TIME(), java_numbers.NOON, "2020-01-02T12:00"),
        (Types.LOCAL_DATE_TIME(), java_numbers.NOON.replace(second=1, microsecond=500_000), "2020-01-02T12:00:01.500"),
        (Types.LOCAL_TIME(), java_numbers.NOON.time(), "12:00"),
        (Types.LOCAL_DATE(), java_numbers.NOON.date(), "2020-01-02"),
        (Types.STRING(), None, "null"),
        (None, None, "None"),
        (Types.PICKLED_BYTE_ARRAY(), ("a", 1), "('a', 1)"),
    ],
)
def test_other_texts(kind: Any, value: Any, text: str) -> None:
    assert to_java_string(value, kind) == text
