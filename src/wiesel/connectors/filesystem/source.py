"""The file source: all files under some paths, once or continuously.

>>> source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/data/logs").build()

A split is a byte range of a file with the read position. The enumerator finds files and assigns splits on request, ordered by path and
name; readers read one split after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from wiesel.connectors.filesystem.compression import DECOMPRESSION_ERRORS, decompressed, is_compressed
from wiesel.connectors.filesystem.enumeration import FileEnumeratorProvider, FileSourceSplit, FileSplitAssignerProvider, find_splits
from wiesel.connectors.filesystem.file_systems import filesystem_for
from wiesel.core.durations import Duration
from wiesel.core.errors import ArgumentTypeError, ConnectorError, ProgramError, WieselError
from wiesel.core.logs import get_logger
from wiesel.spi.file_formats import BulkFormat, FileFormat, FilePiece, RecordReader, StreamFormat
from wiesel.spi.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from wiesel.types.typeinfo import TypeInformation

__all__ = ["FileSource", "FileSourceBuilder"]

_CHUNK = 4096
"""Maximal number of records emitted by one poll."""


_log = get_logger("wiesel.connectors.files")


class FileSource(Source[FileSourceSplit]):
    """Reads files. Created by :meth:`for_record_stream_format` or :meth:`for_bulk_file_format`, which return builders.

    Hidden files and folders (names that start with ``.`` or ``_``) are ignored, folders are searched recursively, and compressed files
    (``.gz .gzip .bz2 .xz .deflate .zst``) of stream formats are decompressed. Large plain files are split if the format allows it. Paths
    may be local or URIs of any file system supported by fsspec or pyarrow; all workers must see the files.
    """

    def __init__(self, file_format: FileFormat, paths: Sequence[str], enumeration: FileEnumeratorProvider, interval_ms: int | None) -> None:
        self._format = file_format
        self._paths = tuple(paths)
        self._enumeration = enumeration
        self._interval_ms = interval_ms

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Return a builder of a source whose files are read front to back, such as text, CSV and JSON lines."""
        given: object = stream_format
        if not isinstance(given, StreamFormat):
            raise _wrong_format("for_record_stream_format", given, "StreamFormat")
        return FileSourceBuilder(stream_format, paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Return a builder of a source whose files are read in bulk, such as Parquet."""
        given: object = bulk_format
        if not isinstance(given, BulkFormat):
            raise _wrong_format("for_bulk_file_format", given, "BulkFormat")
        return FileSourceBuilder(bulk_format, paths)

    @property
    def boundedness(self) -> Boundedness:
        """Return BOUNDED unless the paths are monitored."""
        return Boundedness.BOUNDED if self._interval_ms is None else Boundedness.CONTINUOUS_UNBOUNDED

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the format's records."""
        return self._format.produced_type

    def create_enumerator(
        self, context: SplitEnumeratorContext[FileSourceSplit], state: Any | None = None
    ) -> SplitEnumerator[FileSourceSplit]:
        """Create the enumerator; at a first start it finds the files at once.

        Raises:
            ConnectorError: If a path does not exist or cannot be listed.
        """
        return _FileEnumerator(context, self, state if state is not None else _Found.first(self.find()))

    def find(self) -> list[FileSourceSplit]:
        """Return splits for all files that are there now, in order."""
        return find_splits(self._paths, self._enumeration, splittable=self._format.splittable)

    @property
    def discovery_interval_ms(self) -> int | None:
        """Return the interval (ms) of the discovery of new files, None for a static set of files."""
        return self._interval_ms

    def create_reader(self, context: SourceReaderContext) -> SourceReader[FileSourceSplit]:
        """Create the reader of one subtask."""
        return _FileReader(context, self._format)


def _wrong_format(method: str, given: object, expected: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"FileSource.{method} got {given!r}, not a {expected}", hint="text, CSV and JSON lines are stream formats, Parquet is a bulk format"
    )


class FileSourceBuilder:
    """Settings of a :class:`FileSource`; bounded unless :meth:`monitor_continuously` is called."""

    def __init__(self, file_format: FileFormat, paths: Sequence[str]) -> None:
        given: Sequence[object] = paths
        if not given or not all(isinstance(path, str) and path for path in given):
            raise ProgramError(f"FileSource: {list(paths)!r} are not paths", hint="give one or more paths of files or folders")
        self._format = file_format
        self._paths = paths
        self._interval_ms: int | None = None
        self._enumeration = FileEnumeratorProvider.default_splittable_file_enumerator()

    def monitor_continuously(self, discovery_interval: Duration | int) -> FileSourceBuilder:
        """Discover new files continuously.

        A file is read once, when it is first found, so it must be complete when it appears: write it elsewhere and move it there.

        Args:
            discovery_interval: Interval of discovery (a number is milliseconds).

        Raises:
            ProgramError: If the interval is not positive.
        """
        interval_ms = discovery_interval if isinstance(discovery_interval, int) else discovery_interval.to_millis()
        if interval_ms <= 0:
            raise ProgramError(f"monitor_continuously({discovery_interval!r})", hint="give a positive interval")
        self._interval_ms = interval_ms
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that exist at the start, then end; the default."""
        self._interval_ms = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set the discovery and splitting of files."""
        given: object = file_enumerator
        if not isinstance(given, FileEnumeratorProvider):
            raise ArgumentTypeError(f"set_file_enumerator got {file_enumerator!r}", hint="give one of FileEnumeratorProvider")
        self._enumeration = file_enumerator
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set the assignment of splits to readers. There is one: in order, on request."""
        return self

    def build(self) -> FileSource:
        """Return the source."""
        return FileSource(self._format, self._paths, self._enumeration, self._interval_ms)


@dataclass(frozen=True)
class _Found:
    """State of the enumerator: unassigned splits, and all files found so far."""

    waiting: tuple[FileSourceSplit, ...]
    known: frozenset[str]

    @staticmethod
    def first(splits: Sequence[FileSourceSplit]) -> _Found:
        return _Found(tuple(splits), frozenset(split.path for split in splits))


class _FileEnumerator(SplitEnumerator[FileSourceSplit]):
    def __init__(self, context: SplitEnumeratorContext[FileSourceSplit], source: FileSource, state: _Found) -> None:
        self._context = context
        self._source = source
        self._waiting = list(state.waiting)
        self._known = set(state.known)
        self._asking: list[int] = []

    def start(self) -> None:
        self._context.metric_group.set_unassigned_splits_gauge(lambda: len(self._waiting))
        interval_ms = self._source.discovery_interval_ms
        if interval_ms is not None:
            self._context.call_async(self._source.find, self._found, initial_delay_ms=interval_ms, period_ms=interval_ms)

    def add_reader(self, subtask: int) -> None:
        # Readers send requests when they are idle.
        return

    def handle_split_request(self, subtask: int) -> None:
        if self._waiting:
            self._context.assign_splits({subtask: self._take()})
        elif self._source.discovery_interval_ms is None:
            self._context.signal_no_more_splits(subtask)
        elif subtask not in self._asking:
            self._asking.append(subtask)

    def _take(self) -> list[FileSourceSplit]:
        """Return one split, or several small ones: requesting a thousand small files one by one would take longer than reading them."""
        most = max(1, min(_SPLITS_AT_ONCE, len(self._waiting) // (4 * self._context.parallelism)))
        taken, size = 0, 0
        for split in self._waiting[:most]:
            size += split.end - split.start
            if taken and size > _BYTES_AT_ONCE:
                break
            taken += 1
        given, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return given

    def _found(self, found: list[FileSourceSplit] | None, error: BaseException | None) -> None:
        if found is None:
            _log.warning("the discovery of new files failed and is retried: %s", error)
            return
        new = [split for split in found if split.path not in self._known]
        # Oldest first, by the clock of the file system.
        new.sort(key=lambda split: (split.modified_ms, split.path, split.start))
        self._known.update(split.path for split in new)
        self._waiting += new
        while self._asking and self._waiting:
            self._context.assign_splits({self._asking.pop(0): self._take()})

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return _Found(tuple(self._waiting), frozenset(self._known))


_SPLITS_AT_ONCE = 64
_BYTES_AT_ONCE = 4 << 20


class _FileReader(SourceReader[FileSourceSplit]):
    def __init__(self, context: SourceReaderContext, file_format: FileFormat) -> None:
        self._context = context
        self._format = file_format
        self._splits: list[FileSourceSplit] = []
        self._open: _OpenSplit | None = None
        self._no_more = False

    def start(self) -> None:
        if not self._splits:
            self._context.request_split()

    def poll(self, output: ReaderOutput) -> InputStatus:
        if self._open is None:
            if not self._splits:
                return InputStatus.END_OF_INPUT if self._no_more else InputStatus.NOTHING_AVAILABLE
            self._open = _OpenSplit(self._splits[0], self._format)
        values = self._open.next(output.wanted)
        if values is not None:
            output.collect(values, None, self._open.split.split_id)
            return InputStatus.MORE_AVAILABLE
        self._open.close()
        self._open = None
        output.split_finished(self._splits.pop(0).split_id)
        if self._splits:
            return InputStatus.MORE_AVAILABLE
        self._context.request_split()
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Sequence[FileSourceSplit]) -> None:
        self._splits.extend(splits)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        # One split is read at a time: while it is ahead the subtask is, which then waits as a whole.
        return

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def snapshot_state(self, checkpoint_id: int) -> list[FileSourceSplit]:
        if self._open is None:
            return list(self._splits)
        return [self._open.at_position(), *self._splits[1:]]

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


class _OpenSplit:
    """A split being read: emits chunks of the reader's blocks and tracks the position after the last one."""

    def __init__(self, split: FileSourceSplit, file_format: FileFormat) -> None:
        self.split = split
        self._streams: list[BinaryIO] = []
        self._block: list[Any] = []
        self._taken = 0
        self._position = split.position
        self._skip = split.skip
        self._to_skip = split.skip
        piece = FilePiece(split.path, split.start, split.end, split.file_size, split.position)
        with _Blaming(split.path):
            try:
                self._reader: RecordReader = file_format.create_reader(self._open(isinstance(file_format, StreamFormat)), piece)
            except BaseException:
                self._close_streams()
                raise

    def _open(self, decompress: bool) -> BinaryIO:
        files, path = filesystem_for(self.split.path)
        stream = files.open_read(path)
        self._streams.append(stream)
        if decompress and is_compressed(path):
            stream = decompressed(path, stream)
            self._streams.append(stream)
        return stream

    def next(self, most: int) -> list[Any] | None:
        """Return records (possibly none, up to a limit), or None at the end of the split."""
        if self._taken >= len(self._block):
            skipping = self._to_skip > 0
            more = self._next_block()
            # After a restart the records read before are skipped at once.
            while more and skipping and not self._block:
                more = self._next_block()
            if not more:
                return None
        values = self._block[self._taken : self._taken + min(_CHUNK, most)]
        self._taken += len(values)
        self._skip += len(values)
        return values

    def _next_block(self) -> bool:
        with _Blaming(self.split.path):
            position = self._reader.position
            block = self._reader.read_block()
        if block is None:
            return False
        if position != self._position and not self._to_skip:
            self._position, self._skip = position, 0
        if self._to_skip:
            left_out = min(self._to_skip, len(block))
            block = block[left_out:]
            self._to_skip -= left_out
        self._block, self._taken = block, 0
        return True

    def at_position(self) -> FileSourceSplit:
        """Return the split to restore after a restart."""
        if self._taken >= len(self._block) and not self._to_skip and self._reader.position != self._position:
            return replace(self.split, position=self._reader.position, skip=0)
        return replace(self.split, position=self._position, skip=self._skip)

    def close(self) -> None:
        self._reader.close()
        self._close_streams()

    def _close_streams(self) -> None:
        for stream in reversed(self._streams):
            stream.close()


class _Blaming:
    """Adds the file to read errors."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise ConnectorError(
                f"file {self._path} is no longer there",
                hint="files must stay until they are read; on a cluster all workers must see them under the same path",
                path=self._path,
            ) from error
        if isinstance(error, (*DECOMPRESSION_ERRORS, ValueError)) and not isinstance(error, WieselError):
            raise ConnectorError(
                f"cannot read file {self._path}: {error}", hint="the file is damaged, or it is not of this format", path=self._path
            ) from error
