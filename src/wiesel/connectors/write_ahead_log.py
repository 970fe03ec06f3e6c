"""Internal. A log on disk for a source that cannot be asked again: what it has received is written here before anyone sees it.

A log is a folder of numbered files. Each reader that begins makes a file of its own, behind those that are there, so none is ever
written to by two of them. A file is a row of frames: length and checksum, then the pickled records. The last frame of a file may be
torn; nobody has seen its records.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from wiesel.core.errors import ConnectorError
from wiesel.core.folders import make_folder, sync_folder

__all__ = ["BEGINNING", "LogPosition", "WriteAheadLog"]

_HEAD = struct.Struct(">II")
_SUFFIX = ".log"
_FILE_BYTES = 64 << 20


@dataclass(frozen=True, order=True)
class LogPosition:
    """Behind the first ``offset`` bytes of the file of this number."""

    file: int
    offset: int


BEGINNING = LogPosition(0, 0)


class WriteAheadLog:
    """See the module.

    Args:
        folder: A local folder, or one that all workers share.
        file_bytes: From this size on a file is followed by the next one.
    """

    def __init__(self, folder: str, file_bytes: int = _FILE_BYTES) -> None:
        self._folder = Path(folder)
        self._file_bytes = file_bytes
        self._stream: BinaryIO | None = None
        self._position = BEGINNING

    def _files(self) -> list[int]:
        names = [path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"*{_SUFFIX}")]
        return sorted(int(name) for name in names if name.isdigit())

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:010d}{_SUFFIX}"

    def after(self, position: LogPosition) -> Iterator[tuple[LogPosition, list[Any]]]:
        """Yield the records behind a position, frame by frame, each with the position behind it.

        Raises:
            ConnectorError: The log does not reach back to the position, or is damaged.
        """
        there = [number for number in self._files() if number >= position.file]
        if position != BEGINNING and there[:1] != [position.file]:
            raise self._lacking(position)
        for number in there:
            begin = position.offset if number == position.file else 0
            with self._path(number).open("rb") as stream:
                if os.fstat(stream.fileno()).st_size < begin:
                    raise self._lacking(position)
                stream.seek(begin)
                for end, records in self._frames(stream, begin):
                    yield LogPosition(number, end), records

    def _lacking(self, position: LogPosition) -> ConnectorError:
        return ConnectorError(
            f"the write-ahead log {self._folder} does not reach back to byte {position.offset} of {self._path(position.file).name}",
            hint="start from a newer checkpoint, or keep the log for more checkpoints (log_retention)",
        )

    def _frames(self, stream: BinaryIO, begin: int) -> Iterator[tuple[int, list[Any]]]:
        while len(head := stream.read(_HEAD.size)) == _HEAD.size:
            length, checksum = _HEAD.unpack(head)
            data = stream.read(length)
            if len(data) < length:
                return
            if crc32(data) != checksum:
                if not stream.read(1):
                    return
                raise ConnectorError(
                    f"the write-ahead log {stream.name} is damaged at byte {begin}", hint="the disk lost data that it had confirmed"
                )
            begin += _HEAD.size + length
            yield begin, pickle.loads(data)

    def append(self, records: list[Any]) -> LogPosition:
        """Write records, durably; return the position behind them."""
        stream = self._stream if self._position.offset < self._file_bytes else None
        if stream is None:
            stream = self._stream = self._begin_file()
        data = pickle.dumps(records, 5)
        stream.write(_HEAD.pack(len(data), crc32(data)) + data)
        stream.flush()
        os.fsync(stream.fileno())
        self._position = LogPosition(self._position.file, self._position.offset + _HEAD.size + len(data))
        return self._position

    def _begin_file(self) -> BinaryIO:
        self.close()
        make_folder(self._folder)
        while True:
            number = max(self._files(), default=0) + 1
            try:
                stream = self._path(number).open("xb")
                break
            except FileExistsError:
                continue
        self._position = LogPosition(number, 0)
        sync_folder(self._folder)
        return stream

    def prune(self, position: LogPosition) -> None:
        """Delete the files that lie wholly before a position."""
        for number in self._files():
            if number < position.file:
                self._path(number).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file that is being written."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
