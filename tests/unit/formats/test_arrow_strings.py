"""Columns of texts become timestamps if each is one by Flink's form, whatever it looks like to Arrow."""

from __future__ import annotations

import re
from random import Random
from unittest import mock

import pyarrow as pa
import pytest

from wiesel.formats.table import arrow_strings
from wiesel.formats.table.arrow_strings import finished

FORM = {False: re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?"), True: re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?")}
TIME = "2026-01-02{}03:04:05.123456789"


def read(texts: list[str | None], *, iso: bool) -> pa.RecordBatch | None:
    column = pa.array(texts, pa.string())
    schema = pa.schema([("t", pa.timestamp("ns"))])
    return finished(pa.RecordBatch.from_arrays([column], names=["t"]), schema, iso=iso)


@pytest.mark.parametrize("iso", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_only_texts_of_the_form_are_taken(iso: bool, seed: int) -> None:
    random = Random(seed)
    taken = 0
    for turn in range(400):
        full = TIME.format("T" if iso else " ")
        length = random.choice([16, 19, 20, 21, 23, 29])
        texts: list[str | None] = [random.choice([full[:length], full[:length], None]) for _ in range(random.choice([1, 3, 8]))]
        if random.random() < 0.5:
            # One text differs in one character, with as many bytes or not.
            place = random.randrange(length)
            texts.append(full[:place] + random.choice(["0", ":", "-", " ", "T", ".", "x", "é", "", "Z"]) + full[place + 1 : length])
        if random.random() < 0.2:
            texts.append(full[: random.choice([19, 23])])
        fits = all(text is None or FORM[iso].fullmatch(text) for text in texts)
        try:
            with mock.patch.object(arrow_strings, "_PIECE", random.choice([1, 60, 1 << 14])):
                found = read(texts, iso=iso)
        except pa.ArrowInvalid:  # a month 00, say
            assert fits
            continue
        assert (found is not None) == fits, f"seed {seed}, turn {turn}: {texts}"
        if found is not None:
            taken += 1
            expected = pa.array([None if text is None else text.replace("T", " ") for text in texts], pa.string())
            assert found.column(0) == expected.cast(pa.timestamp("ns"))
    assert taken > 50
