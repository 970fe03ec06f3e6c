"""Internal. The lines of a piece of a file, as blocks of bytes that end where a line ends."""

from __future__ import annotations

from typing import BinaryIO

from wiesel.spi.file_formats import FilePiece

__all__ = ["COLUMNAR_BLOCK_BYTES", "LineBlocks", "line_number", "skip_to", "split_lines"]

_BLOCK_BYTES = 1 << 17
COLUMNAR_BLOCK_BYTES = 1 << 21
"""So much at once where a block becomes columns: what it costs to handle a batch is shared by ten thousand rows or so."""

_LF, _CR = b"\n", b"\r"


def skip_to(stream: BinaryIO, offset: int) -> None:
    """Move a stream to an offset, by reading where it cannot jump."""
    if stream.seekable():
        stream.seek(offset)
        return
    left = offset
    while left and (block := stream.read(min(left, _BLOCK_BYTES))):
        left -= len(block)


def line_number(stream: BinaryIO, offset: int) -> int | None:
    """Return the number (from 1) of the line that begins at a byte, None if the stream cannot go back to find out."""
    if not stream.seekable():
        return None
    stream.seek(0)
    lines, left, last = 1, offset, b""
    while left > 0 and (block := stream.read(min(left, _BLOCK_BYTES))):
        # A line ends with \n, \r\n or \r; \r\n may lie across two blocks.
        lines += block.count(_LF) + block.count(_CR) - block.count(b"\r\n") - (last == _CR and block.startswith(_LF))
        last = block[-1:]
        left -= len(block)
    return lines


def split_lines(text: str) -> list[str]:
    r"""Cut text into lines without their ends, which are ``\n``, ``\r\n`` and ``\r`` (``str.splitlines`` knows more)."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class LineBlocks:
    """Reads the lines that begin in the range of a piece.

    A line belongs to the piece in which its first byte is, so neighbouring pieces agree without knowing of each other.

    Args:
        stream: The file.
        piece: The range.
        block_bytes: About how large blocks are.

    Attributes:
        offset: Where the next block begins, in bytes from the start of the (decompressed) file.
    """

    def __init__(self, stream: BinaryIO, piece: FilePiece, block_bytes: int = _BLOCK_BYTES) -> None:
        self._stream = stream
        self._block_bytes = block_bytes
        # A compressed file is one piece, and its size says nothing about its content.
        self._end = None if piece.is_whole_file else piece.end
        self._rest = b""
        self._eof = False
        self._lent: bytearray | None = None
        if piece.position is not None:
            self.offset = piece.position
            skip_to(stream, self.offset)
        elif piece.start == 0:
            self.offset = 0
        else:
            self._start_behind(piece.start)

    def _start_behind(self, start: int) -> None:
        """Begin behind the first line end at or after the byte before ``start``."""
        skip_to(self._stream, start - 1)
        self.offset = start - 1
        cut = self._fill_to_line_end(0)
        self._rest = self._rest[cut:]
        self.offset += cut

    def _cut_inside(self, block: bytes | bytearray, begin: int, end: int) -> int:
        """Return the place in a block behind the last line end that was read, 0 without one, or if the end of the piece is reached."""
        if self._end is not None and self.offset + len(self._rest) + end - begin >= self._end:
            return 0
        return block.rfind(_LF, begin, end) + 1

    def _inner_lines(self, block: bytes) -> bytes | None:
        """Return whole lines if what was read does not reach the end of the piece: the usual case, with no more than one copy."""
        cut = self._cut_inside(block, 0, len(block))
        if not cut:
            return None
        lines = b"".join((self._rest, memoryview(block)[:cut]))
        self._rest = block[cut:]
        self.offset += len(lines)
        return lines

    def _more(self, size: int = 0) -> None:
        self._take(self._stream.read(max(size, self._block_bytes)))

    def _take(self, block: bytes) -> None:
        if block:
            self._rest += block
        else:
            self._eof = True

    def _fill_to_line_end(self, at: int) -> int:
        """Return where the first line that ends at or after ``at`` ends, reading as far as it takes."""
        while True:
            end = _line_end(self._rest, at, self._eof)
            if end is not None:
                return end
            if self._eof:
                return len(self._rest)
            # A file without line ends must not cost the square of its length.
            self._more(len(self._rest))

    def next(self) -> bytes | None:
        """Return whole lines (the last one of a file may lack its end), or None at the end of the piece."""
        if self._end is not None and self.offset >= self._end:
            return None
        if not self._eof:
            block = self._stream.read(self._block_bytes)
            lines = self._inner_lines(block)
            if lines is not None:
                return lines
            self._take(block)
        return self._next_of_rest()

    def next_lent(self) -> bytes | memoryview | None:
        """Return what :meth:`next` does, perhaps in memory that the next call uses again: new memory costs as much as the reading."""
        if self._eof or (self._end is not None and self.offset >= self._end) or len(self._rest) > self._block_bytes:
            return self.next()
        if self._lent is None:
            self._lent = bytearray(2 * self._block_bytes)
        begin, view = len(self._rest), memoryview(self._lent)
        view[:begin] = self._rest
        end = begin + (self._stream.readinto(view[begin : begin + self._block_bytes]) or 0)  # type: ignore[attr-defined]
        cut = self._cut_inside(self._lent, begin, end)
        if not cut:
            self._take(bytes(view[begin:end]))
            return self._next_of_rest()
        self._rest = bytes(view[cut:end])
        self.offset += cut
        return view[:cut]

    def _next_of_rest(self) -> bytes | None:
        if not self._rest:
            return None if self._eof else b""
        if self._end is not None and self.offset + len(self._rest) >= self._end:
            cut = self._fill_to_line_end(max(0, self._end - 1 - self.offset))
        elif self._eof:
            cut = len(self._rest)
        else:
            cut = _last_line_end(self._rest) or self._fill_to_line_end(0)
        block, self._rest = self._rest[:cut], self._rest[cut:]
        self.offset += cut
        return block


def _line_end(data: bytes, at: int, eof: bool) -> int | None:
    """Return the index behind the first line end at or after ``at``, None if it is not to be seen yet."""
    lf = data.find(_LF, at)
    cr = data.find(_CR, at, lf if lf >= 0 else len(data))
    if cr < 0:
        return lf + 1 if lf >= 0 else None
    if cr + 1 < len(data):
        return cr + 2 if data[cr + 1 : cr + 2] == _LF else cr + 1
    return cr + 1 if eof else None


def _last_line_end(data: bytes) -> int:
    """Return the index behind the last line end, 0 if there is none."""
    end = data.rfind(_LF) + 1
    # A \r as the last byte may be half of a \r\n.
    return end or data.rfind(_CR, 0, len(data) - 1) + 1
