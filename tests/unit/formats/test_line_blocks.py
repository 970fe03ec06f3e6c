"""Lines are those of Java's BufferedReader, however a file is cut into pieces, blocks and restarts."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from wiesel.formats import line_blocks
from wiesel.formats.line_blocks import LineBlocks, line_number, split_lines
from wiesel.spi.file_formats import FilePiece


def java_lines(data: bytes) -> list[bytes]:
    """Lines by the definition: each ends with the first of \\r\\n, \\n, \\r, the last one perhaps with nothing."""
    lines = re.findall(rb"([^\r\n]*)(?:\r\n|\n|\r)|([^\r\n]+)\Z", data)
    return [a or b for a, b in lines]


class Dribbling(io.BytesIO):
    """Gives a few bytes at a time, as a network may."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self.most = most

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.most if size is None or size < 0 else min(size, self.most))

    def readinto(self, buffer: Any) -> int:
        return super().readinto(memoryview(buffer)[: self.most])


files = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\n\r", b"defgh"]), max_size=30).map(b"".join)


def read(stream: io.BytesIO, piece: FilePiece, block_bytes: int = 1 << 17, *, lent: bool = False) -> list[tuple[int, bytes]]:
    blocks, found = LineBlocks(stream, piece, block_bytes), []
    while (offset := blocks.offset, block := blocks.next_lent() if lent else blocks.next())[1] is not None:
        assert block is not None
        found.append((offset, bytes(block)))
    return found


@given(files, st.lists(st.integers(0, 60), max_size=5), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_pieces_share_the_lines(data: bytes, cuts: list[int], block: int, most: int, lent: bool) -> None:
    borders = sorted({0, len(data), *(c for c in cuts if c < len(data))})
    lines: list[bytes] = []
    for start, end in pairwise(borders):
        found = read(Dribbling(data, most), FilePiece("f", start, end, len(data)), block, lent=lent)
        for at, content in found:
            # A block is where it says it is, and can be read again from there.
            assert data[at : at + len(content)] == content
            if content:
                again = read(Dribbling(data, most), FilePiece("f", start, end, len(data), at), block, lent=lent)
                assert b"".join(c for _, c in again) == b"".join(c for a, c in found if a >= at)
        lines += [line.encode("latin-1") for line in split_lines(b"".join(c for _, c in found).decode("latin-1"))]
    assert lines == java_lines(data)


@given(files, st.integers(1, 7))
def test_line_numbers(data: bytes, block: int) -> None:
    starts, at = [0], 0
    for match in re.finditer(rb"\r\n|\n|\r", data):
        starts.append(match.end())
        at = match.end()
    assert at <= len(data)
    with mock.patch.object(line_blocks, "_BLOCK_BYTES", block):
        assert [line_number(io.BytesIO(data), start) for start in starts] == list(range(1, len(starts) + 1))


def test_a_file_without_line_ends_is_one_line() -> None:
    data = b"x" * 3_000_000
    assert [len(c) for _, c in read(io.BytesIO(data), FilePiece("f", 0, len(data), len(data)))] == [3_000_000]
    assert read(io.BytesIO(data), FilePiece("f", 10, 20, len(data))) == []
