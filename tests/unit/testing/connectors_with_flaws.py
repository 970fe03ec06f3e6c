"""A source and a sink that keep their guarantee, and what becomes of them when their authors make common mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiesel.spi.sink import Sink, SinkWriter
from wiesel.spi.source import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator
from wiesel.testing.connectors import SinkTarget, SourceTarget

PARTITIONS = 4
RECORDS = [(partition, number) for partition in range(PARTITIONS) for number in range(15)]


@dataclass(frozen=True)
class Partition:
    number: int
    position: int = 0

    @property
    def split_id(self):
        return str(self.number)


class Partitions(Source):
    """Reads partitions of 15 records each, two records at a time."""

    def __init__(self, flaw="", bounded=True):
        self.flaw = flaw
        self.bounded = bounded

    @property
    def boundedness(self):
        return Boundedness.BOUNDED if self.bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, context, state=None):
        return PartitionEnumerator(context, [Partition(n) for n in range(PARTITIONS)] if state is None else state, self)

    def create_reader(self, context):
        return PartitionReader(context, self)


class PartitionEnumerator(SplitEnumerator):
    def __init__(self, context, splits, source):
        self.context = context
        self.splits = list(splits)
        self.source = source

    def add_reader(self, subtask):
        pass

    def handle_split_request(self, subtask):
        if self.splits:
            self.context.assign_splits({subtask: [self.splits.pop()]})
        elif self.source.bounded:
            self.context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id):
        return [] if self.source.flaw == "forgets what is not assigned" else list(self.splits)


class PartitionReader(SourceReader):
    def __init__(self, context, source):
        self.context = context
        self.source = source
        self.splits = []
        self.asked = self.no_more = False

    def add_splits(self, splits):
        self.splits.extend(splits)
        self.asked = False

    def notify_no_more_splits(self):
        self.no_more = True

    def poll(self, output):
        if not self.splits:
            if self.no_more:
                return InputStatus.END_OF_INPUT
            if not self.asked:
                self.asked = True
                self.context.request_split()
            return InputStatus.NOTHING_AVAILABLE
        split = self.splits[0]
        values = [record for record in RECORDS if record[0] == split.number][split.position : split.position + 2]
        if not values:
            self.splits.pop(0)
            output.split_finished(split.split_id)
            return InputStatus.MORE_AVAILABLE
        self.splits[0] = Partition(split.number, split.position + 2)
        output.collect(values[::-1] if self.source.flaw == "mixes records up" else values, split_id=split.split_id)
        return InputStatus.MORE_AVAILABLE

    def snapshot_state(self, checkpoint_id):
        ahead = {"goes back": -1, "skips": 1}.get(self.source.flaw, 0)
        return [Partition(split.number, max(0, split.position + ahead)) for split in self.splits]


def partitions(flaw="", bounded=True):
    return lambda: SourceTarget(Partitions(flaw, bounded), RECORDS, order_of=lambda record: record[0])


TABLES: dict[int, Any] = {}
"""The tables of another system, which lives in this process, by number."""


class TableSink(Sink):
    """Has no committer: writes when it is flushed, by key if the table is a dict."""

    def __init__(self, table, flaw=""):
        self.table = table
        self.flaw = flaw

    def create_writer(self, context, state=()):
        return TableWriter(TABLES[self.table], self.flaw)


class TableWriter(SinkWriter):
    def __init__(self, table, flaw):
        self.table = table
        self.flaw = flaw
        self.buffer = []

    def write_batch(self, values, timestamps):
        self.buffer.extend(values)
        if self.flaw == "keeps the last" or len(self.buffer) > 5:
            self.write(len(self.buffer) - 1 if self.flaw == "keeps the last" else 5)

    def flush(self, end_of_input):
        if self.flaw != "keeps the last":
            self.write(len(self.buffer))

    def write(self, count):
        for value in self.buffer[:count]:
            if isinstance(self.table, dict):
                self.table[value] = value
            else:
                self.table.append(value if self.flaw != "changes records" or value != 3 else 1_000)
        del self.buffer[:count]


def table(kind, flaw=""):
    def make():
        number = len(TABLES)
        TABLES[number] = kind()
        return SinkTarget(TableSink(number, flaw), lambda: list(TABLES[number]))

    return make
