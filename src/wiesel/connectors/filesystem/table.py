"""Internal. The table connector ``filesystem``: files of a folder, read and written exactly once, in all table formats.

Partitioned tables store rows of equal values in nested folders ``column=value``; files do not contain these columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import unquote
from uuid import uuid4

import numpy as np

from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import RowBatch
from wiesel.connectors.filesystem.buckets import BucketAssigner, BucketContext
from wiesel.connectors.filesystem.compaction import FileCompactor, FileCompactStrategy
from wiesel.connectors.filesystem.enumeration import FileEnumeratorProvider
from wiesel.connectors.filesystem.metadata import FILE_METADATA, file_metadata
from wiesel.connectors.filesystem.partition_commit import CommitTimes, PartitionTracker, has_mark
from wiesel.connectors.filesystem.rolling import OutputFileConfig, RollingPolicy
from wiesel.connectors.filesystem.sink import FileSink
from wiesel.connectors.filesystem.sink_writer import FileWriter
from wiesel.connectors.filesystem.source import FileSource
from wiesel.connectors.filesystem.table_commit import TableCommit, TableCommitter
from wiesel.connectors.filesystem.table_files import Reading, files_of
from wiesel.connectors.filesystem.table_statistics import facts_of
from wiesel.core.config import ConfigOption
from wiesel.core.durations import Duration
from wiesel.core.errors import ConfigurationError
from wiesel.core.memory_size import MemorySize
from wiesel.formats.registry import find_format
from wiesel.formats.table.string_values import text_reader, text_writer
from wiesel.spi.file_formats import BulkWriter, BulkWriterFactory, StreamFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.sink import Committer, Sink, SinkWriter, WriterInitContext
from wiesel.spi.table.factory import (
    ScanTableSource,
    TableContext,
    TableOptions,
    TableSink,
    TableSinkFactory,
    TableSourceFactory,
)
from wiesel.spi.table.statistics import Facts
from wiesel.types.logical import DataType, RowField, RowType

__all__ = ["FileSystemTableFactory"]

_PATH = ConfigOption[str]("path", "str", None, "The file or folder.")
_FORMAT = ConfigOption[str]("format", "str", None, "The format of the files.")
_MONITOR = ConfigOption[Duration | None]("source.monitor-interval", "duration", None, "Interval of file discovery; unset for once.")
_PATH_PATTERN = ConfigOption[str | None]("source.path.regex-pattern", "str", None, "Regular expression for the paths of the files to read.")
_REPORT = ConfigOption[str](
    "source.report-statistics", "str", "ALL", "ALL or NONE: whether statistics of files are used."
)
_SOURCE_PARALLELISM = ConfigOption[int]("scan.parallelism", "int", None, "Number of readers.", minimum=1)
_SINK_PARALLELISM = ConfigOption[int]("sink.parallelism", "int", None, "Number of writers.", minimum=1)
_FILE_SIZE = ConfigOption[MemorySize | None]("sink.rolling-policy.file-size", "memory", None, "Size at which a file is closed.")
_ROLLOVER = ConfigOption[Duration | None]("sink.rolling-policy.rollover-interval", "duration", None, "Age at which a file is closed.")
_INACTIVITY = ConfigOption[Duration | None]("sink.rolling-policy.inactivity-interval", "duration", None, "Idleness at which it is closed.")
_CHECK = ConfigOption[Duration | None]("sink.rolling-policy.check-interval", "duration", None, "Interval of checking these.")
_DEFAULT_PARTITION = ConfigOption[str](
    "partition.default-name", "str", "__DEFAULT_PARTITION__", "The folder of rows whose partition column is NULL or empty."
)
_COMMIT_POLICY = ConfigOption[str | None]("sink.partition-commit.policy.kind", "str", None, "What marks a partition: success-file.")
_SUCCESS_FILE = ConfigOption[str]("sink.partition-commit.success-file.name", "str", "_SUCCESS", "The name of the file that does.")
_COMPACTION = ConfigOption[bool]("auto-compaction", "bool", False, "Whether the files of a checkpoint are compacted.")
_COMPACTION_SIZE = ConfigOption[MemorySize | None]("compaction.file-size", "memory", None, "Size at which they are compacted immediately.")
_SHUFFLE = ConfigOption[bool]("sink.shuffle-by-partition.enable", "bool", False, "Whether rows of a partition go to the same writer.")
_ESCAPED = re.compile("[\x00-\x1f\"#%'*/:=?\\\\\x7f{}\\[\\]^]")


class FileSystemTableFactory(TableSourceFactory, TableSinkFactory):
    """Creates sources and sinks of files."""

    identifier = "filesystem"
    metadata = FILE_METADATA
    forward_options = frozenset(
        (
            "path",
            "partition.default-name",
            "sink.rolling-policy.file-size",
            "sink.rolling-policy.rollover-interval",
            "sink.rolling-policy.check-interval",
            "sink.partition-commit.trigger",
            "sink.partition-commit.delay",
            "sink.partition-commit.watermark-time-zone",
            "sink.partition-commit.policy.kind",
            "sink.partition-commit.success-file.name",
            "compaction.file-size",
        )
    )
    supports_overwrite = True
    supports_projection = supports_nested_projection = supports_filters = supports_limit = True

    def create_source(self, context: TableContext) -> ScanTableSource:
        """Return the source: all files below the path."""
        options = TableOptions(self.identifier, context.table.options)
        path, form = options.require(_PATH), find_format(options.require(_FORMAT))
        partitions = _Partitions.of(context, options.get(_DEFAULT_PARTITION))
        files = files_of(form, options, partitions.reading(context))
        builder = (
            FileSource.for_record_stream_format(files, path)
            if isinstance(files, StreamFormat)
            else FileSource.for_bulk_file_format(files, path)  # type: ignore[arg-type]
        )
        interval, parallelism = options.get(_MONITOR), options.get(_SOURCE_PARALLELISM)
        if interval is not None:
            builder.monitor_continuously(interval)
        builder.set_file_enumerator(FileEnumeratorProvider(path_pattern=options.get(_PATH_PATTERN)))
        _reports_statistics(options)
        _sink_options(options)
        _commit_options(options)
        _compaction(options)
        options.get(_SHUFFLE)
        options.refuse_unknown()
        return ScanTableSource(builder.build(), parallelism, is_columnar=True, kinds=form.kinds)

    def facts(self, context: TableContext) -> Facts | None:
        """Return statistics from the metadata of the files and from their folders."""
        options = TableOptions(self.identifier, context.table.options)
        path, form = options.require(_PATH), find_format(options.require(_FORMAT))
        partitions = _Partitions.of(context, options.get(_DEFAULT_PARTITION))
        describe = form.create_describer(options, partitions.stored)
        if describe is None or options.get(_MONITOR) is not None or not _reports_statistics(options):
            return None
        return facts_of(path, options.get(_PATH_PATTERN), describe, partitions.reading(context), partitions.keys)

    def create_sink(self, context: TableContext) -> TableSink:
        """Return the sink: files in a folder, visible when they are complete."""
        options = TableOptions(self.identifier, context.table.options)
        path, form = options.require(_PATH), find_format(options.require(_FORMAT))
        partitions = _Partitions.of(context, options.get(_DEFAULT_PARTITION))
        writer = form.create_writer(options, partitions.stored)
        policy, check_ms, parallelism = _sink_options(options)
        success_file, times = _commit_options(options)
        compaction = _compaction(options)
        shuffle_by = partitions.keys if options.get(_SHUFFLE) else ()
        options.get(_MONITOR)
        options.get(_SOURCE_PARALLELISM)
        options.get(_PATH_PATTERN)
        _reports_statistics(options)
        options.refuse_unknown()
        builder = (
            FileSink.for_row_format(path, _BucketEncoder(writer)).with_rolling_policy(policy)
            if isinstance(writer, Encoder)
            else FileSink.for_bulk_format(path, _BucketWriters(writer))
        )
        builder = builder.with_bucket_assigner(_ByPartition())
        if check_ms is not None:
            builder = builder.with_bucket_check_interval(check_ms)
        if compaction is not None:
            if not isinstance(writer, Encoder):
                raise ConfigurationError("auto-compaction: files of this format cannot be compacted", hint="leave 'auto-compaction' out")
            builder = builder.enable_compact(compaction, FileCompactor.concat_file_compactor())
        # The names of files that replace others show it.
        mark = f"part-{uuid4().hex[:12]}" if context.overwrite else None
        if mark is not None:
            builder = builder.with_output_file_config(OutputFileConfig(mark))
        commit = TableCommit(path, bool(partitions.keys), mark, success_file, times)
        sink = _PartitioningSink(builder.build(), partitions, commit)
        return TableSink(sink, form.kinds, parallelism, shuffle_by)


def _reports_statistics(options: TableOptions) -> bool:
    given = options.get(_REPORT).upper()
    if given not in ("ALL", "NONE"):
        raise ConfigurationError(f"option {_REPORT.key} is {given!r}", hint="write 'ALL' or 'NONE'", key=_REPORT.key)
    return given == "ALL"


def _sink_options(options: TableOptions) -> tuple[RollingPolicy, int | None, int | None]:
    size, rollover, inactivity = options.get(_FILE_SIZE), options.get(_ROLLOVER), options.get(_INACTIVITY)
    check = options.get(_CHECK)
    policy = RollingPolicy.default_rolling_policy(
        128 << 20 if size is None else int(size),
        30 * 60_000 if rollover is None else rollover.to_millis(),
        30 * 60_000 if inactivity is None else inactivity.to_millis(),
    )
    return policy, None if check is None else check.to_millis(), options.get(_SINK_PARALLELISM)


def _commit_options(options: TableOptions) -> tuple[str | None, CommitTimes | None]:
    """Return the name of the success file of a partition, None if there is none; and the commit trigger, None for immediately."""
    kinds, name, times = options.get(_COMMIT_POLICY), options.get(_SUCCESS_FILE), CommitTimes.of(options)
    for kind in filter(None, map(str.strip, (kinds or "").split(","))):
        if kind in ("metastore", "custom"):
            hint = "write 'success-file'; tables of a catalog of Spark get their partitions by MSCK REPAIR TABLE"
            raise ConfigurationError(f"the policy {kind!r} for '{_COMMIT_POLICY.key}' is not supported", hint=hint)
        if kind != "success-file":
            raise ConfigurationError(f"there is no policy {kind!r} for '{_COMMIT_POLICY.key}'", hint="write 'success-file'")
    return name if kinds else None, times


def _compaction(options: TableOptions) -> FileCompactStrategy | None:
    size = options.get(_COMPACTION_SIZE)
    if not options.get(_COMPACTION):
        return None
    builder = FileCompactStrategy.builder().enable_compaction_on_checkpoint(1)
    return (builder if size is None else builder.set_size_threshold(int(size))).build()


@dataclass(frozen=True)
class _Partitions:
    """The columns of a table, and the partition columns. Plain picklable data."""

    rows: RowType
    keys: tuple[str, ...]
    default: str
    metadata: tuple[tuple[str, str], ...] = ()
    """Metadata columns of files."""

    @staticmethod
    def of(context: TableContext, default: str) -> _Partitions:
        table = context.table
        found = _Partitions(table.schema.physical_row_type, table.partition_keys, default, tuple(table.metadata.items()))
        for key in found.keys:
            text_reader(found.rows[key].data_type)
        return found

    @property
    def told(self) -> tuple[str, ...]:
        """The partition columns."""
        return (*self.keys, *(name for name, _ in self.metadata))

    @property
    def stored(self) -> RowType:
        """The columns in files."""
        return RowType([field for field in self.rows if field.name not in self.told], nullable=False)

    def reading(self, context: TableContext) -> Reading:
        """Return the specification of the read."""
        names = tuple(context.row_type.get_field_names())
        rows = RowType([RowField(each.name, context.parts.get(each.name, each.data_type)) for each in self.rows], nullable=False)
        return Reading(rows, self.told, self.values, names, context.filters, context.limit)

    def type_of(self, key: str) -> DataType:
        return self.rows[key].data_type

    def values(self, path: str) -> dict[str, Any]:
        """Return the partition values of a path."""
        parts = dict(part.split("=", 1) for part in path.split("/")[:-1] if "=" in part)
        found: dict[str, Any] = {}
        for key in self.keys:
            text = unquote(parts[key]) if key in parts else self.default
            found[key] = None if text == self.default else text_reader(self.type_of(key))(text)
        return found | file_metadata(path, self.metadata)

    def folder(self, values: Sequence[Any]) -> str:
        """Return the folder of values."""
        return "/".join(f"{_escaped(key)}={self._text(key, value)}" for key, value in zip(self.keys, values, strict=True))

    def _text(self, key: str, value: Any) -> str:
        text = "" if value is None else text_writer(self.type_of(key))(value)
        return _escaped(text) if text else self.default


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)


# Writing


@dataclass(frozen=True)
class _Part:
    """Rows of one partition, without its columns."""

    folder: str
    rows: RowBatch


class _ByPartition(BucketAssigner):
    def get_bucket_id(self, element: _Part, context: BucketContext) -> str:
        return element.folder


class _BucketEncoder(Encoder):
    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode(self, element: _Part, stream: BinaryIO) -> None:
        self._encoder.encode(element.rows, stream)

    def encode_many(self, elements: Sequence[_Part]) -> bytes:
        return self._encoder.encode_many([element.rows for element in elements])


class _BucketWriters(BulkWriterFactory):
    def __init__(self, writers: BulkWriterFactory) -> None:
        self._writers = writers

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _BucketWriter(self._writers.create(stream))


class _BucketWriter(BulkWriter):
    def __init__(self, writer: BulkWriter) -> None:
        self._writer = writer

    def add_batch(self, values: Sequence[_Part]) -> None:
        self._writer.add_batch([value.rows for value in values])

    def finish(self) -> None:
        self._writer.finish()

    def abandon(self) -> None:
        self._writer.abandon()


class _PartitioningSink(Sink):
    def __init__(self, files: FileSink, partitions: _Partitions, commit: TableCommit) -> None:
        self._files = files
        self._partitions = partitions
        self._commit = commit

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        commit = self._commit
        if commit.times is None or commit.success_file is None or not self._partitions.keys:
            return _PartitioningWriter(self._files.create_writer(context, [_parted(each)[0] for each in state]), self._partitions)
        tracker = PartitionTracker(commit.times, has_mark(commit.base, commit.success_file), context.now_ms)
        for each in state:
            tracker.open.update(_parted(each)[1])
        files = self._files.create_writer(context, [_parted(each)[0] for each in state])
        assert isinstance(files, FileWriter)  # noqa: S101 - for the type checker
        return _ReportingWriter(files, self._partitions, tracker)

    def create_committer(self) -> Committer[Any]:
        files = self._files.create_committer()
        return files if self._commit.is_plain else TableCommitter(files, self._commit)


def _parted(state: Any) -> tuple[Any, dict[str, int]]:
    """Return the state of a writer of files, and the partitions that are not complete; a job may have reported none before."""
    return state if isinstance(state, tuple) else (state, {})


class _PartitioningWriter(SinkWriter):
    """Splits batches by partition, and delegates to the writer of files."""

    def __init__(self, writer: SinkWriter, partitions: _Partitions) -> None:
        self._writer = writer
        self._partitions = partitions
        names = partitions.rows.names
        self._keys = [names.index(key) for key in partitions.keys]
        self._stored = [index for index in range(len(names)) if index not in self._keys]

    def write_batch(self, values: list[RowBatch], timestamps: list[int] | None) -> None:
        self._write([part for batch in values for part in self._parts(batch)])

    def _write(self, parts: list[_Part]) -> None:
        if parts:
            self._writer.write_batch(parts, None)

    def _parts(self, batch: RowBatch) -> Iterator[_Part]:
        if not self._keys:
            yield _Part("", batch)
            return
        places: dict[tuple[Any, ...], list[int]] = {}
        for place, key in enumerate(key_tuples(batch.rows, self._keys)):
            places.setdefault(key, []).append(place)
        stored = RowBatch(batch.rows.select(self._stored), batch.kinds)
        for key, at in places.items():
            yield _Part(self._partitions.folder(key), stored.take(np.array(at)))

    def write_watermark(self, timestamp: int) -> None:
        self._writer.write_watermark(timestamp)

    def on_processing_time(self, now_ms: int) -> None:
        self._writer.on_processing_time(now_ms)

    def flush(self, end_of_input: bool) -> None:
        self._writer.flush(end_of_input)

    def prepare_commit(self) -> list[Any]:
        return self._writer.prepare_commit()

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return self._writer.snapshot_state(checkpoint_id)

    def close(self) -> None:
        self._writer.close()


class _ReportingWriter(_PartitioningWriter):
    """Also reports complete partitions."""

    def __init__(self, writer: FileWriter, partitions: _Partitions, tracker: PartitionTracker) -> None:
        super().__init__(writer, partitions)
        self._files = writer
        self._tracker = tracker

    def _write(self, parts: list[_Part]) -> None:
        self._tracker.wrote({part.folder for part in parts})
        super()._write(parts)

    def write_watermark(self, timestamp: int) -> None:
        self._tracker.advance(timestamp)
        super().write_watermark(timestamp)

    def flush(self, end_of_input: bool) -> None:
        if end_of_input:
            self._tracker.end()
        self._files.close_buckets(self._tracker.complete())
        super().flush(end_of_input)

    def prepare_commit(self) -> list[Any]:
        return [*super().prepare_commit(), *self._tracker.report()]

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return super().snapshot_state(checkpoint_id), dict(self._tracker.open)
