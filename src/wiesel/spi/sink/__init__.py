"""The sink interface, after FLIP-143/191: writers in the tasks, committables in the acknowledgement, committers in the JobMaster.

An idempotent sink needs a :class:`SinkWriter` only: ``flush`` makes everything durable before the checkpoint is acknowledged. A
two-phase sink returns committables from ``prepare_commit``; they are stored in the checkpoint, and the :class:`Committer` makes
them visible when the checkpoint is complete, again after a recovery if that is not known, so commits must be idempotent.
"""

from wiesel.spi.sink.async_writer import AsyncSinkWriter, AsyncSinkWriterConfig, ResultHandler
from wiesel.spi.sink.committer import CommitRequest, Committer
from wiesel.spi.sink.writer import Sink, SinkWriter, WriterInitContext

__all__ = [
    "AsyncSinkWriter",
    "AsyncSinkWriterConfig",
    "CommitRequest",
    "Committer",
    "ResultHandler",
    "Sink",
    "SinkWriter",
    "WriterInitContext",
]
