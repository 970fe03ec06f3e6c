"""The source interface, after FLIP-27: a source hands out splits, readers read them, positions are stored in the checkpoint.

Three roles and where they run:

* :class:`Source` is plain data, pickled into every task and kept by the JobMaster.
* :class:`SplitEnumerator` runs in the JobMaster (one per source operator). All its methods are called from one thread, which serves the
  whole job: requests to other systems go through :meth:`SplitEnumeratorContext.call_async`.
* :class:`SourceReader` runs in each source subtask, in the task's mailbox thread; it must never block. A client that blocks is a
  :class:`SplitReader`, which :class:`SourceReaderBase` runs in a thread.
"""

from wiesel.spi.source.enumerator import SplitEnumerator, SplitEnumeratorContext
from wiesel.spi.source.metrics import SourceReaderMetricGroup, SplitEnumeratorMetricGroup
from wiesel.spi.source.reader import FetcherThread, InputStatus, ReaderOutput, SourceReader, SourceReaderContext
from wiesel.spi.source.reader_base import SourceReaderBase
from wiesel.spi.source.source import Boundedness, Source
from wiesel.spi.source.split import SourceSplit
from wiesel.spi.source.split_reader import RecordsBySplits, SplitReader, SplitRecords

__all__ = [
    "Boundedness",
    "FetcherThread",
    "InputStatus",
    "ReaderOutput",
    "RecordsBySplits",
    "Source",
    "SourceReader",
    "SourceReaderBase",
    "SourceReaderContext",
    "SourceReaderMetricGroup",
    "SourceSplit",
    "SplitEnumerator",
    "SplitEnumeratorContext",
    "SplitEnumeratorMetricGroup",
    "SplitReader",
    "SplitRecords",
]
