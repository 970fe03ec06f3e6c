"""The file sink: part files in folders (buckets), committed when complete, with each record exactly once.

>>> sink = FileSink.for_row_format("/data/out", Encoder.simple_string_encoder()).build()
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeVar

from wiesel.connectors.filesystem.buckets import BucketAssigner
from wiesel.connectors.filesystem.compaction import FileCompactor, FileCompactStrategy
from wiesel.connectors.filesystem.file_systems import filesystem_for
from wiesel.connectors.filesystem.parts import FileCommitter
from wiesel.connectors.filesystem.rolling import OnCheckpointRollingPolicy, OutputFileConfig, RollingPolicy
from wiesel.connectors.filesystem.sink_writer import FileSinkSettings, FileWriter
from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.spi.file_formats import BulkWriterFactory
from wiesel.spi.serialization import Encoder
from wiesel.spi.sink import Committer, Sink, SinkWriter, WriterInitContext

__all__ = ["FileSink", "StreamingFileSink"]

_CHECK_INTERVAL_MS = 60_000
_Builder = TypeVar("_Builder", bound="FileSink.BaseBuilder")
_Setting = TypeVar("_Setting")


def _checked(given: _Setting, expected: type, method: str, hint: str | None = None) -> _Setting:
    if not isinstance(given, expected):
        raise ArgumentTypeError(f"{method} got {given!r}, not a {expected.__name__}", hint=hint or f"give a {expected.__name__}")
    return given


class FileSink(Sink):
    """Writes files, exactly once. Created by :meth:`for_row_format` or :meth:`for_bulk_format`, which return builders.

    An unfinished part is hidden. When the rolling policy closes it, it is committed with the next checkpoint as
    ``<base>/<bucket>/<prefix>-<id>-<number><suffix>``; at the end of a bounded job all parts are. Without checkpoints an unbounded job
    commits nothing. The base path may be local (a folder shared by the driver and all workers) or a URI of a file system supported by
    fsspec or pyarrow, where every checkpoint closes all parts.
    """

    def __init__(self, settings: FileSinkSettings) -> None:
        self._settings = settings

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Return a builder of a sink that concatenates encoded records, such as lines of text."""
        return FileSink.RowFormatBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Return a builder of a sink of whole files, such as Parquet; every checkpoint closes them."""
        return FileSink.BulkFormatBuilder(base_path, writer_factory)

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        """Create the writer of one subtask."""
        return FileWriter(context, self._settings, state)

    def create_committer(self) -> Committer[Any]:
        """Create the committer, which shows parts under their names."""
        return FileCommitter(self._settings.base_path)

    class BaseBuilder:
        """Settings of both kinds of sink."""

        def __init__(self, base_path: str, encoder: Encoder | None, bulk: BulkWriterFactory | None, policy: RollingPolicy) -> None:
            given: object = base_path
            if not isinstance(given, str) or not given:
                raise ProgramError(f"FileSink: {base_path!r} is not a path", hint="give a folder, local or as a URI")
            files, path = filesystem_for(base_path)
            # A relative path refers to the folder of the program, not those of the workers.
            self._base_path = path if files.local else base_path
            self._encoder = encoder
            self._bulk = bulk
            self._policy = policy
            self._assigner = BucketAssigner.date_time_bucket_assigner()
            self._names = OutputFileConfig()
            self._check_interval_ms = _CHECK_INTERVAL_MS
            self._compaction: tuple[FileCompactStrategy, FileCompactor] | None = None

        def with_bucket_check_interval(self: _Builder, interval: int) -> _Builder:
            """Set the interval at which the rolling policy checks the time (ms, one minute by default)."""
            if interval <= 0:
                raise ProgramError(f"with_bucket_check_interval({interval})", hint="give a positive number of milliseconds")
            self._check_interval_ms = interval
            return self

        def with_bucket_assigner(self: _Builder, bucket_assigner: BucketAssigner) -> _Builder:
            """Set the assigner of records to buckets; one per hour of processing time by default."""
            self._assigner = _checked(bucket_assigner, BucketAssigner, "with_bucket_assigner")
            return self

        def with_output_file_config(self: _Builder, output_file_config: OutputFileConfig) -> _Builder:
            """Set prefix and suffix of the files' names."""
            self._names = _checked(output_file_config, OutputFileConfig, "with_output_file_config")
            return self

        def enable_compact(self: _Builder, strategy: FileCompactStrategy, compactor: FileCompactor) -> _Builder:
            """Merge small files before they are committed, as ``compacted-<prefix>-<id>-<number><suffix>``.

            Files of one bucket and one subtask are merged. Pending files are retained over checkpoints and failures.

            Raises:
                ArgumentTypeError: If the arguments are no strategy and no compactor.
            """
            hint = "give a strategy of FileCompactStrategy.builder() and a compactor such as FileCompactor.concat_file_compactor()"
            _checked(strategy, FileCompactStrategy, "enable_compact", hint)
            self._compaction = (strategy, _checked(compactor, FileCompactor, "enable_compact", hint))
            return self

        def disable_compact(self: _Builder) -> _Builder:
            """Disable compaction, the default. Pending files of a restored checkpoint are committed unchanged."""
            self._compaction = None
            return self

        def build(self) -> FileSink:
            """Return the sink."""
            return FileSink(
                FileSinkSettings(
                    self._base_path,
                    self._encoder,
                    self._bulk,
                    self._assigner,
                    self._policy,
                    self._names,
                    self._check_interval_ms,
                    self._compaction,
                )
            )

    class RowFormatBuilder(BaseBuilder):
        """Builder of a sink with a row format."""

        def __init__(self, base_path: str, encoder: Encoder) -> None:
            given: object = encoder
            if not isinstance(given, Encoder):
                raise ArgumentTypeError(
                    f"FileSink.for_row_format got {encoder!r}, not an Encoder", hint="use Encoder.simple_string_encoder()"
                )
            super().__init__(base_path, encoder, None, RollingPolicy.default_rolling_policy())

        def with_rolling_policy(self: _Builder, rolling_policy: RollingPolicy) -> _Builder:
            """Set when parts are closed; when they are large, old or idle by default."""
            self._policy = _checked(rolling_policy, RollingPolicy, "with_rolling_policy")
            return self

    class BulkFormatBuilder(BaseBuilder):
        """Builder of a sink with a bulk format."""

        def __init__(self, base_path: str, writer_factory: BulkWriterFactory) -> None:
            given: object = writer_factory
            if not isinstance(given, BulkWriterFactory):
                raise ArgumentTypeError(
                    f"FileSink.for_bulk_format got {writer_factory!r}, not a BulkWriterFactory",
                    hint="use ParquetBulkWriters, OrcBulkWriters, AvroBulkWriters or CsvBulkWriters",
                )
            super().__init__(base_path, None, writer_factory, RollingPolicy.on_checkpoint_rolling_policy())

        def with_rolling_policy(self: _Builder, rolling_policy: OnCheckpointRollingPolicy) -> _Builder:
            """Accept the only policy that bulk formats have.

            Raises:
                ValueError: If it is another one.
            """
            given: object = rolling_policy
            if not isinstance(given, OnCheckpointRollingPolicy):
                raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
            return self


class StreamingFileSink:
    """The older name of :class:`FileSink`; its builders create one."""

    BaseBuilder = FileSink.BaseBuilder
    DefaultRowFormatBuilder = FileSink.RowFormatBuilder
    DefaultBulkFormatBuilder = FileSink.BulkFormatBuilder

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """See :meth:`FileSink.for_row_format`."""
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        return FileSink.for_row_format(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """See :meth:`FileSink.for_bulk_format`."""
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        return FileSink.for_bulk_format(base_path, writer_factory)
