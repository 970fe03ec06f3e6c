"""Internal. State files: sections of changes, applied one after the other.

Layout, little endian: magic ``WSLSTATE``, format version u16, then sections. A section: operation u8, flags u8 (1: entries have a
namespace, 2: values are pickled one by one), length of the name u16, number of entries u32, length of the payload u64, crc32 of all
of the section but these four bytes u32; name; payload. The last section has operation ``END`` and counts the others, so that a cut
is noticed. A payload is a pickled tuple of columns of equal length:

========== =================================================================================================
REMOVE     keys, namespaces | None
SET        keys, namespaces | None, values (whole lists and maps as well)
APPEND     keys, namespaces | None, where in the list the new elements begin (-1: at its end), lists of new elements
ENTRIES    keys, namespaces | None, lists of map keys, lists of values (``REMOVED`` removes an entry)
TIMERS     timestamps, keys, namespaces, whether added or removed
OPERATOR   one element: the operator state
ROWS       rows as columns, which stand for SET or APPEND of lists of tuples: see ``row_sections``
========== =================================================================================================

With flag 2 the last column has the pickle of each value (of ENTRIES: lists with the pickle of each entry's value).

Sections of one file are in the order in which they are to be applied; the same file serves all backends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zlib_ng.zlib_ng import crc32

from wiesel.core.errors import CorruptCheckpointError, StateMigrationError
from wiesel.state.paged_buffer import PagedBuffer
from wiesel.state.pickling import dump, load

__all__ = [
    "APPEND",
    "CHUNK_ENTRIES",
    "ENTRIES",
    "FORMAT_VERSION",
    "OPERATOR",
    "REMOVE",
    "ROWS",
    "SET",
    "TIMERS",
    "Section",
    "StateFileBuffer",
    "encode_section",
    "encoded_section",
    "read_file",
]

END, REMOVE, SET, APPEND, ENTRIES, TIMERS, OPERATOR, ROWS = range(8)
FORMAT_VERSION = 2
CHUNK_ENTRIES = 16384
"""Entries per section: few enough to be encoded in some ms, many enough to make the overhead vanish."""

_MAGIC = b"WSLSTATE"
_FILE_HEAD = struct.Struct("<8sH")
_SECTION_HEAD = struct.Struct("<BBHIQ")
_CRC = struct.Struct("<I")
_SPACED, _SINGLY = 1, 2


class Section:
    """A run of changes of one operation to one state.

    Attributes:
        operation: One of the operations above.
        name: Name of the state or timer queue.
        spaced: Entries have a namespace.
        singly: Values are pickled one by one (so that they can be stored as they are).
        count: Number of entries.
        settled: Values are known to be immutable, see ``dump``; not in the file.
        columns: See the module.
    """

    __slots__ = ("columns", "count", "name", "operation", "settled", "singly", "spaced")

    def __init__(
        self,
        operation: int,
        name: str,
        count: int,
        columns: tuple[Any, ...],
        *,
        spaced: bool = False,
        singly: bool = False,
        settled: bool = False,
    ) -> None:
        self.operation = operation
        self.name = name
        self.count = count
        self.columns = columns
        self.spaced = spaced
        self.singly = singly
        self.settled = settled

    def extend(self, other: Section) -> None:
        """Add the entries of another section of the same operation to the same state."""
        self.count += other.count
        for column, further in zip(self.columns, other.columns, strict=True):
            if column is not None:
                column.extend(further)


class StateFileBuffer:
    """Combines sections into the contents of a file, in a buffer that is reused for the next file.

    State is written at the rate at which it changes, so allocating and freeing memory for each section would cost as much as processing it.
    """

    def __init__(self) -> None:
        self._buffer = PagedBuffer()
        self._sections = 0
        self.clear()

    def clear(self) -> None:
        """Begin a new file."""
        self._buffer.seek(0)
        self._buffer.write(_FILE_HEAD.pack(_MAGIC, FORMAT_VERSION))
        self._sections = 0

    @property
    def size(self) -> int:
        """Number of bytes so far."""
        return self._buffer.tell()

    @property
    def empty(self) -> bool:
        """True if there is no section yet."""
        return not self._sections

    def add(self, section: Section | bytes | memoryview) -> None:
        """Add a section, or one that is encoded already.

        Raises:
            SerializationError: If a value cannot be pickled.
        """
        self._sections += 1
        if isinstance(section, bytes | memoryview):
            self._buffer.write(section)
        else:
            encode_section(section, self._buffer)

    @contextmanager
    def whole(self) -> Iterator[memoryview]:
        """End the file and yield its contents, page aligned; they are valid within the context only."""
        self._buffer.write(_head(END, 0, b"", self._sections, b""))
        with self._buffer.view(0, self._buffer.tell()) as contents:
            yield contents


def encode_section(section: Section, out: PagedBuffer) -> None:
    """Write the bytes of a section.

    Raises:
        SerializationError: If a value cannot be pickled.
    """
    label = section.name.encode()
    start = out.tell()
    # The head has the length and the checksum of what follows it.
    out.seek(start + _SECTION_HEAD.size + _CRC.size)
    out.write(label)
    body = out.tell()
    dump(section.columns, f"state {section.name!r}", out, settled=section.settled)
    end = out.tell()
    flags = _SPACED * section.spaced | _SINGLY * section.singly
    with out.view(body, end) as payload:
        head = _head(section.operation, flags, label, section.count, payload)
    out.seek(start)
    out.write(head)
    out.seek(end)


def encoded_section(section: Section) -> bytes:
    """Return the bytes of a section; see :func:`encode_section`."""
    out = PagedBuffer()
    encode_section(section, out)
    with out.view(0, out.tell()) as data:
        return bytes(data)


def _head(operation: int, flags: int, label: bytes, count: int, payload: bytes | memoryview) -> bytes:
    head = _SECTION_HEAD.pack(operation, flags, len(label), count, len(payload))
    return head + _CRC.pack(crc32(payload, crc32(label, crc32(head))))


def read_file(data: bytes, where: str) -> Iterator[Section]:
    """Yield the sections of a file; sections of ROWS are converted to those that they represent.

    Args:
        data: The contents.
        where: Names the file in an error.

    Raises:
        CorruptCheckpointError: If the file is cut or altered.
        StateMigrationError: If it was written by a newer version, or a value cannot be read back.
    """
    view = memoryview(data)
    if len(view) < _FILE_HEAD.size:
        raise _corrupt(where, "it is too short")
    magic, version = _FILE_HEAD.unpack_from(view)
    if magic != _MAGIC:
        raise _corrupt(where, "it does not begin like one")
    if version > FORMAT_VERSION:
        raise StateMigrationError(
            f"state file {where} has format {version}, this version reads up to {FORMAT_VERSION}", hint="use the version that wrote it"
        )
    at, seen = _FILE_HEAD.size, 0
    while True:
        operation, flags, label_bytes, count, payload_bytes, start = _read_head(view, at, where)
        label = start + label_bytes
        end = label + payload_bytes
        if operation == END:
            if count != seen or end != len(view):
                raise _corrupt(where, f"it has {seen} sections of {count}")
            return
        name = bytes(view[start:label]).decode()
        columns = load(view[label:end], f"state {name!r} in {where}")
        section = Section(operation, name, count, columns, spaced=bool(flags & _SPACED), singly=bool(flags & _SINGLY))
        yield section if operation != ROWS else _of_tuples(section)
        at = end
        seen += 1


def _of_tuples(section: Section) -> Section:
    from wiesel.state.row_sections import tuple_section  # with Arrow, which jobs without tables do not load

    return tuple_section(section)


def _read_head(view: memoryview, at: int, where: str) -> tuple[int, int, int, int, int, int]:
    start = at + _SECTION_HEAD.size + _CRC.size
    if start > len(view):
        raise _corrupt(where, "it ends early")
    operation, flags, label_bytes, count, payload_bytes = _SECTION_HEAD.unpack_from(view, at)
    if start + label_bytes + payload_bytes > len(view):
        raise _corrupt(where, "it ends early")
    (wanted,) = _CRC.unpack_from(view, at + _SECTION_HEAD.size)
    if crc32(view[start : start + label_bytes + payload_bytes], crc32(view[at : at + _SECTION_HEAD.size])) != wanted:
        raise _corrupt(where, f"the checksum of the section at byte {at} is wrong")
    return operation, flags, label_bytes, count, payload_bytes, start


def _corrupt(where: str, how: str) -> CorruptCheckpointError:
    return CorruptCheckpointError(f"state file {where} is not intact: {how}", hint="restore an older checkpoint or savepoint")
