"""Parts common to all connectors: the names of ``pyflink.datastream.connectors.base``, and the interfaces for custom connectors."""

from wiesel.connectors.base import DeliveryGuarantee
from wiesel.spi.sink import (
    AsyncSinkWriter,
    AsyncSinkWriterConfig,
    CommitRequest,
    Committer,
    ResultHandler,
    Sink,
    SinkWriter,
    WriterInitContext,
)
from wiesel.spi.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    RecordsBySplits,
    Source,
    SourceReader,
    SourceReaderBase,
    SourceReaderContext,
    SourceSplit,
    SplitEnumerator,
    SplitEnumeratorContext,
    SplitReader,
    SplitRecords,
)

__all__ = [
    "AsyncSinkWriter",
    "AsyncSinkWriterConfig",
    "Boundedness",
    "CommitRequest",
    "Committer",
    "DeliveryGuarantee",
    "InputStatus",
    "ReaderOutput",
    "RecordsBySplits",
    "ResultHandler",
    "Sink",
    "SinkWriter",
    "Source",
    "SourceReader",
    "SourceReaderBase",
    "SourceReaderContext",
    "SourceSplit",
    "SplitEnumerator",
    "SplitEnumeratorContext",
    "SplitReader",
    "SplitRecords",
    "WriterInitContext",
]
