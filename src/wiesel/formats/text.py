"""Lines of text."""

from __future__ import annotations

import codecs
from typing import BinaryIO

from wiesel.core.errors import ProgramError
from wiesel.formats.line_blocks import LineBlocks, split_lines
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.types.typeinfo import BasicType, BasicTypeInfo, TypeInformation

__all__ = ["TextLineFormat", "is_line_safe"]

_CHARS = 1 << 17


def is_line_safe(charset: str) -> bool:
    r"""Return whether the bytes of ``\n`` and ``\r`` always are a line end in this charset, so that lines can be decoded separately.

    Not so with two or four bytes per character, with EBCDIC, and with charsets that switch between alphabets.
    """
    name = codecs.lookup(charset).name
    if name.startswith(("utf-16", "utf-32", "utf-7", "iso2022", "hz")):
        return False
    return "\n\r".encode(charset) == b"\n\r"


class TextLineFormat(StreamFormat):
    r"""Each line is a record, without its line end (``\n``, ``\r\n`` or ``\r``).

    Args:
        charset_name: The charset; as in Java, what cannot be decoded is replaced.

    Raises:
        ProgramError: If the charset is not known.
    """

    def __init__(self, charset_name: str = "UTF-8") -> None:
        try:
            self._line_safe = is_line_safe(charset_name)
        except LookupError as error:
            raise ProgramError(f"unknown charset {charset_name!r}", hint="use a name such as UTF-8, ISO-8859-1 or US-ASCII") from error
        self._charset = charset_name

    @property
    def produced_type(self) -> TypeInformation:
        """Return ``Types.STRING()``."""
        return BasicTypeInfo(BasicType.STRING)

    @property
    def splittable(self) -> bool:
        """Return whether line ends can be found from the middle of a file."""
        return self._line_safe

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        """Create the reader of one piece."""
        if self._line_safe:
            return _LineReader(LineBlocks(stream, piece), self._charset)
        return _DecodingReader(stream, self._charset)


class _LineReader(RecordReader):
    def __init__(self, blocks: LineBlocks, charset: str) -> None:
        self._blocks = blocks
        self._charset = charset

    @property
    def position(self) -> int:
        return self._blocks.offset

    def read_block(self) -> list[str] | None:
        block = self._blocks.next()
        return None if block is None else split_lines(block.decode(self._charset, "replace"))


class _DecodingReader(RecordReader):
    """For charsets whose line ends show only when the file is decoded from its start: lines are counted."""

    position = 0

    def __init__(self, stream: BinaryIO, charset: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(charset)("replace")
        self._rest = ""
        self._eof = False

    def read_block(self) -> list[str] | None:
        if self._eof:
            return None
        data = self._stream.read(_CHARS)
        self._eof = not data
        text = self._rest + self._decoder.decode(data, final=self._eof)
        # A \r as the last character may be half of a \r\n.
        cut = len(text) if self._eof else max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1)) + 1
        self._rest = text[cut:]
        return split_lines(text[:cut])
