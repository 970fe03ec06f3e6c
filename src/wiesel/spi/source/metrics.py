"""Internal. Metric groups of readers and enumerators, with the names of FLIP-33."""

from __future__ import annotations

from collections.abc import Callable

from wiesel.core.metrics import Counter, Distribution, Meter, MetricGroup

__all__ = ["SourceReaderMetricGroup", "SplitEnumeratorMetricGroup"]


class _MetricGroupOf(MetricGroup):
    """A metric group with further methods."""

    def __init__(self, group: MetricGroup) -> None:
        self._group = group

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return a group inside this one."""
        return self._group.add_group(name, extra)

    def counter(self, name: str) -> Counter:
        """Return the counter of this name."""
        return self._group.counter(name)

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Report the result of ``obj()`` under this name."""
        self._group.gauge(name, obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of this name."""
        return self._group.meter(name, time_span_in_seconds)

    def distribution(self, name: str) -> Distribution:
        """Return the distribution of this name."""
        return self._group.distribution(name)

    def close(self) -> None:
        """Remove the metrics of this group."""
        self._group.close()


class SourceReaderMetricGroup(_MetricGroupOf):
    """The metrics of a reader (Flink: ``SourceReaderMetricGroup``).

    The engine reports ``numRecordsIn``, ``currentEmitEventTimeLag``, ``watermarkLag`` and ``sourceIdleTime``; all else is up to the
    connector. A counter must be incremented by one thread only, which may be a fetcher thread.
    """

    @property
    def num_records_in(self) -> Counter:
        """Return the counter ``numRecordsIn`` of emitted records, which the engine increments."""
        return self.counter("numRecordsIn")

    @property
    def num_bytes_in(self) -> Counter:
        """Return the counter ``numBytesIn`` of bytes read from the external system."""
        return self.counter("numBytesIn")

    @property
    def num_records_in_errors(self) -> Counter:
        """Return the counter ``numRecordsInErrors`` of records that could not be read."""
        return self.counter("numRecordsInErrors")

    def set_pending_bytes_gauge(self, pending_bytes: Callable[[], int]) -> None:
        """Report ``pendingBytes``: the bytes of the splits that were not fetched."""
        self.gauge("pendingBytes", pending_bytes)

    def set_pending_records_gauge(self, pending_records: Callable[[], int]) -> None:
        """Report ``pendingRecords``: the records of the splits that were not fetched."""
        self.gauge("pendingRecords", pending_records)


class SplitEnumeratorMetricGroup(_MetricGroupOf):
    """The metrics of an enumerator (Flink: ``SplitEnumeratorMetricGroup``), which the metrics of the job contain under ``sources``."""

    def set_unassigned_splits_gauge(self, unassigned_splits: Callable[[], int]) -> None:
        """Report ``unassignedSplits``: the number of splits that no reader has. Any thread may call the function."""
        self.gauge("unassignedSplits", unassigned_splits)
