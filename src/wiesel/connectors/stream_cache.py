"""Internal. Cached records of a stream in files, for later jobs of the program: written by a sink, read by a source.

Each subtask of the stream has a file of blocks, each the pickle of some records with their timestamps. The cache is complete when the files
of all subtasks are, as determined by the committer in the program's process.
"""

from __future__ import annotations

import contextlib
import glob
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from wiesel.core.errors import ConnectorError, ResourceError
from wiesel.core.logs import get_logger
from wiesel.core.temporary import make_directory, remove_directory
from wiesel.spi.sink import CommitRequest, Committer, Sink, SinkWriter, WriterInitContext
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
from wiesel.types.serializers import dumps

__all__ = ["CacheFile", "CacheSink", "CacheSource", "StreamCache"]

_log = get_logger(__name__)
_LENGTH_BYTES = 8
_UNFINISHED = ".part"


@dataclass(frozen=True)
class CacheFile:
    """The records of one subtask; ``position`` is the start of the next block. ``size`` is -1 if they could not be written."""

    path: str
    job: str
    subtask: int
    parallelism: int
    size: int
    position: int = 0

    @property
    def split_id(self) -> str:
        """Return the split's name."""
        return str(self.subtask)

    @property
    def is_there(self) -> bool:
        """Return whether the file exists with its complete contents."""
        try:
            return os.path.getsize(self.path) == self.size
        except OSError:
            return False


class StreamCache:
    """The program's handle of cached records of a stream."""

    def __init__(self) -> None:
        self.directory: str | None = None
        self._files: tuple[CacheFile, ...] = ()

    def files(self) -> tuple[CacheFile, ...]:
        """Return the files of all subtasks in order, none if they have not been written or were lost."""
        if not all(file.is_there for file in self._files):
            _log.warning("cached records in %s have been lost; they are computed again", self.directory)
            self._files = ()
        return self._files

    def prepare(self) -> None:
        """Ensure that the directory exists."""
        if self.directory is None or not os.path.isdir(self.directory):
            self.directory = make_directory("wiesel-cache-")

    def take(self, files: Sequence[CacheFile]) -> None:
        """Store the files of a job if they are complete; only those of the first such job are used."""
        if self.directory is None:
            return  # invalidated while the job ran
        if not all(file.is_there for file in files):
            _log.warning("a stream is not cached, as its records did not reach %s: all workers must see this directory", self.directory)
        elif len(files) == files[0].parallelism and not self._files:
            self._files = tuple(sorted(files, key=lambda file: file.subtask))
        self._remove_others(self.directory, files[0].job)

    def _remove_others(self, directory: str, job: str) -> None:
        """Remove what else the job has written, such as attempts that failed."""
        kept = {file.path for file in self._files}
        for path in glob.glob(os.path.join(glob.escape(directory), f"{job}-*")):
            if path not in kept:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    def invalidate(self) -> None:
        """Forget the records and remove their files."""
        self._files = ()
        if self.directory is not None:
            remove_directory(self.directory)
            self.directory = None


class CacheSink(Sink):
    """Writes the records of a stream to its cache."""

    def __init__(self, cache: StreamCache) -> None:
        self._cache: StreamCache | None = cache
        self._directory = ""

    def __getstate__(self) -> dict[str, Any]:
        return {"_cache": None, "_directory": self._cache.directory if self._cache is not None else self._directory}

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        """Create the writer of one subtask."""
        directory = self._directory if self._cache is None else self._cache.directory or ""
        return _CacheWriter(directory, context)

    def create_committer(self) -> Committer[CacheFile] | None:
        """Create the committer, in the program's own process."""
        return None if self._cache is None else _CacheCommitter(self._cache)


class _CacheWriter(SinkWriter):
    def __init__(self, directory: str, context: WriterInitContext) -> None:
        path = os.path.join(directory, f"{context.job_id}-{context.attempt}-{context.subtask_index}")
        self._file = CacheFile(path, context.job_id, context.subtask_index, context.parallelism, -1)
        self._stream: BinaryIO | None = None
        self._finished = False
        # Another machine than the program's may not have the directory: the job is right without a cache, too.
        with contextlib.suppress(FileNotFoundError):
            self._stream = open(path + _UNFINISHED, "wb")  # noqa: SIM115 - closed by flush() or close()

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        if self._stream is not None:
            block = dumps((values, timestamps))
            try:
                self._stream.write(len(block).to_bytes(_LENGTH_BYTES, "big"))
                self._stream.write(block)
            except OSError as error:
                raise self._failed(error) from error

    def _failed(self, error: OSError) -> ResourceError:
        return ResourceError(
            f"records of a cached stream could not be written to {self._file.path}: {error}",
            hint="free space on this disk, set TMPDIR to another one, or leave cache() out",
        )

    def flush(self, end_of_input: bool) -> None:
        if not end_of_input or self._finished:
            return
        self._finished = True
        if self._stream is not None:
            try:
                self._stream.close()
            except OSError as error:
                raise self._failed(error) from error
            self._stream = None
            with contextlib.suppress(FileNotFoundError):  # invalidated meanwhile
                os.replace(self._file.path + _UNFINISHED, self._file.path)
                self._file = replace(self._file, size=os.path.getsize(self._file.path))

    def prepare_commit(self) -> list[Any]:
        return [self._file] if self._finished else []

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._file.path + _UNFINISHED)


class _CacheCommitter(Committer[CacheFile]):
    def __init__(self, cache: StreamCache) -> None:
        self._cache = cache

    def commit(self, requests: Sequence[CommitRequest[CacheFile]]) -> None:
        if requests:
            self._cache.take([request.committable for request in requests])


class CacheSource(Source[CacheFile]):
    """Reads the records of a cache: each subtask those of the subtask that wrote them, in order."""

    def __init__(self, files: tuple[CacheFile, ...]) -> None:
        self.files = files

    @property
    def boundedness(self) -> Boundedness:
        """Return BOUNDED."""
        return Boundedness.BOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[CacheFile], state: Any | None = None) -> SplitEnumerator[CacheFile]:
        """Create the enumerator, which gives each reader its file."""
        return _CacheEnumerator(context, {file.subtask: file for file in self.files} if state is None else dict(state))

    def create_reader(self, context: SourceReaderContext) -> SourceReader[CacheFile]:
        """Create the reader of one subtask."""
        return _CacheReader(context)


class _CacheEnumerator(SplitEnumerator[CacheFile]):
    def __init__(self, context: SplitEnumeratorContext[CacheFile], files: dict[int, CacheFile]) -> None:
        self._context = context
        self._files = files

    def add_reader(self, subtask: int) -> None:
        # Readers ask when they have nothing to read.
        return

    def handle_split_request(self, subtask: int) -> None:
        file = self._files.pop(subtask, None)
        if file is not None:
            self._context.assign_splits({subtask: [file]})
        else:
            self._context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return dict(self._files)


class _CacheReader(SourceReader[CacheFile]):
    def __init__(self, context: SourceReaderContext) -> None:
        self._context = context
        self._file: CacheFile | None = None
        self._stream: BinaryIO | None = None
        self._no_more = False

    def start(self) -> None:
        if self._file is None:
            self._context.request_split()

    def poll(self, output: ReaderOutput) -> InputStatus:
        if self._file is None:
            return InputStatus.END_OF_INPUT if self._no_more else InputStatus.NOTHING_AVAILABLE
        try:
            block = self._next_block(self._file)
        except OSError as error:
            raise ConnectorError(
                f"cached records in {self._file.path} cannot be read: {error}",
                hint="run the job again, which computes them anew; all workers must see this directory, which invalidate() removes",
                path=self._file.path,
            ) from error
        if block is None:
            output.split_finished(self._file.split_id)
            self.close()
            self._file = None
            self._context.request_split()
            return InputStatus.NOTHING_AVAILABLE
        values, timestamps = pickle.loads(block)
        output.collect(values, timestamps, self._file.split_id)
        return InputStatus.MORE_AVAILABLE

    def _next_block(self, file: CacheFile) -> bytes | None:
        if self._stream is None:
            self._stream = open(file.path, "rb")  # noqa: SIM115 - closed by close()
            self._stream.seek(file.position)
        head = self._stream.read(_LENGTH_BYTES)
        if not head:
            return None
        block = self._stream.read(int.from_bytes(head, "big"))
        self._file = replace(file, position=self._stream.tell())
        return block

    def add_splits(self, splits: Sequence[CacheFile]) -> None:
        (self._file,) = splits

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def snapshot_state(self, checkpoint_id: int) -> list[CacheFile]:
        return [] if self._file is None else [self._file]

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
