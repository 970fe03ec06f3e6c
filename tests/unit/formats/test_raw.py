"""Lines of the table format ``raw`` as columns."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from wiesel.formats.table.raw import lines_of

PIECES = [b"", b"a", b"some text", "gr\u00fc\u00df".encode(), "\U0001f600".encode(), b"\r", b"\x00", b" "]
BROKEN = [b"\xff", "\u00fc".encode()[:1], "\U0001f600".encode()[:3]]


def one_by_one(block: bytes) -> list[bytes]:
    lines = block.split(b"\n")
    return lines if lines[-1] else lines[:-1]


@pytest.mark.parametrize("pieces", [PIECES, PIECES + BROKEN])
@pytest.mark.parametrize("charset", ["UTF-8", "utf8", "latin-1"])
def test_lines_are_those_that_are_cut_and_decoded_one_by_one(pieces: list[bytes], charset: str) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(200):
        block = b"".join(chance.choice([*pieces, b"\n", b"\n"]) for _ in range(chance.randrange(20)))
        lines = one_by_one(block)
        texts = lines_of(block, pa.string(), charset)
        texts.validate(full=True)
        assert texts.to_pylist() == [line.decode(charset, "replace") for line in lines]
        assert lines_of(block, pa.binary(), charset).to_pylist() == lines
