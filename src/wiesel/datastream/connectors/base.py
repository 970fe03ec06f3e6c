"""Parts common to all connectors: the names of ``pyflink.datastream.connectors.base``, and the interfaces for custom connectors."""

from wiesel.connectors.base import DeliveryGuarantee
from wiesel.spi.sink import Committer, Sink, SinkWriter, WriterInitContext
from wiesel.spi.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SourceSplit,
    SplitEnumerator,
    SplitEnumeratorContext,
)

__all__ = [
    "Boundedness",
    "Committer",
    "DeliveryGuarantee",
    "InputStatus",
    "ReaderOutput",
    "Sink",
    "SinkWriter",
    "Source",
    "SourceReader",
    "SourceReaderContext",
    "SourceSplit",
    "SplitEnumerator",
    "SplitEnumeratorContext",
    "WriterInitContext",
]
