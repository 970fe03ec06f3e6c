"""Internal. Compressed files, recognised by their suffix as in Flink."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, cast

__all__ = ["DECOMPRESSION_ERRORS", "decompressed", "is_compressed"]

DECOMPRESSION_ERRORS: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""Errors raised when a damaged compressed file is read."""

_INPUT_BYTES = 1 << 16


class _Inflating(io.RawIOBase):
    """Reads a zlib stream, the format of ``.deflate``."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._inflate = zlib.decompressobj()
        self._eof = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._eof:
            data = self._inflate.unconsumed_tail or self._stream.read(_INPUT_BYTES)
            out = self._inflate.decompress(data, len(buffer)) if data else self._inflate.flush()
            self._eof = not data or self._inflate.eof
            if self._eof and not self._inflate.eof:
                raise EOFError("the compressed file ends before its end-of-stream marker")
            if out:
                buffer[: len(out)] = out
                return len(out)
        return 0


def _gzip(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=stream, mode="rb"))


def _bzip2(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, bz2.BZ2File(stream, "rb"))


def _xz(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(stream, "rb"))


def _deflate(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Inflating(stream)))


def _zstandard(stream: BinaryIO) -> BinaryIO:
    import pyarrow

    # Not seekable; a restart reads on from the start.
    return cast(BinaryIO, pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, "r"), "zstd"))


_BY_SUFFIX: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    "gz": _gzip,
    "gzip": _gzip,
    "bz2": _bzip2,
    "xz": _xz,
    "deflate": _deflate,
    "zst": _zstandard,
    "zstd": _zstandard,
}


def _suffix(path: str) -> str:
    return path.rsplit("/", 1)[-1].rpartition(".")[2].lower()


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its name."""
    return _suffix(path) in _BY_SUFFIX


def decompressed(path: str, stream: BinaryIO) -> BinaryIO:
    """Return a decompressed stream of a file; the stream itself if it is not compressed."""
    opener = _BY_SUFFIX.get(_suffix(path))
    return stream if opener is None else opener(stream)
