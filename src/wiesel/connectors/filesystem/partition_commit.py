"""Internal. Partition commit triggers of file tables: by the time of the partition and the watermark, or by the clock.

Writers report their partitions, the time at which each is complete, and their own progress. They continue until they see the success file
of a complete partition, so none is lost when a job fails. The committer has the reports of all writers of a checkpoint, and commits the
partitions that are complete by the slowest of them.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from wiesel.columnar.functions.reading import read_timestamp
from wiesel.columnar.functions.time_patterns import parse_strictly
from wiesel.connectors.filesystem.file_systems import filesystem_for
from wiesel.core.config import ConfigOption
from wiesel.core.durations import Duration
from wiesel.core.errors import ConfigurationError, UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.spi.table.factory import TableOptions

__all__ = ["CommitTimes", "PartitionReport", "PartitionTracker", "SlowestReport", "has_mark"]

_TRIGGER = ConfigOption[str]("sink.partition-commit.trigger", "str", "process-time", "The kind of time for completeness of a partition.")
_DELAY = ConfigOption[Duration]("sink.partition-commit.delay", "duration", Duration.of_millis(0), "Delay after the time of the partition.")
_ZONE = ConfigOption[str]("sink.partition-commit.watermark-time-zone", "str", "UTC", "The time zone of the times in partition values.")
_KIND = ConfigOption[str]("partition.time-extractor.kind", "str", "default", "The kind of time extractor.")
_CLASS = ConfigOption[str | None]("partition.time-extractor.class", "str", None, "The class of the time extractor; not supported.")
_PATTERN = ConfigOption[str | None]("partition.time-extractor.timestamp-pattern", "str", None, "Pattern of the partition time.")
_FORMATTER = ConfigOption[str | None]("partition.time-extractor.timestamp-formatter", "str", None, "The format of that time.")
_DATE = re.compile(r"[+-]?\d{1,10}-\d{1,2}-\d{1,2}")


@dataclass(frozen=True)
class CommitTimes:
    """Completion times of partitions. Plain picklable data.

    Attributes:
        by_clock: Use processing time, from the first write to a partition; else the time in the partition values.
        delay_ms: Delay after that time.
        zone: Time zone of the times in partition values.
        pattern: Pattern of the time from their columns; None for the first column.
        formatter: Java's pattern of the time, None for dates with or without time of day.
    """

    by_clock: bool
    delay_ms: int
    zone: str = "UTC"
    pattern: str | None = None
    formatter: str | None = None

    @staticmethod
    def of(options: TableOptions) -> CommitTimes | None:
        """Read the options; None if a partition is complete immediately.

        Raises:
            ConfigurationError: If they have unsupported values.
        """
        trigger, delay, zone, kind = options.get(_TRIGGER), options.get(_DELAY), options.get(_ZONE), options.get(_KIND)
        own_class, pattern, formatter = options.get(_CLASS), options.get(_PATTERN), options.get(_FORMATTER)
        if trigger not in ("process-time", "partition-time"):
            hint = "write 'process-time' or 'partition-time'"
            raise ConfigurationError(f"there is no trigger {trigger!r} for '{_TRIGGER.key}'", hint=hint, key=_TRIGGER.key)
        if kind != "default" or own_class is not None:
            hint = f"leave both out, and set '{_PATTERN.key}'"
            raise ConfigurationError(f"'{_KIND.key}' = '{kind}' with a class of Java is not supported", hint=hint, key=_KIND.key)
        try:
            zoneinfo.ZoneInfo(zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            hint = "write a name such as 'UTC' or 'Europe/Vienna'"
            raise ConfigurationError(f"'{_ZONE.key}': there is no time zone {zone!r}", hint=hint, key=_ZONE.key) from None
        if trigger == "process-time" and not delay.to_millis():
            return None
        return CommitTimes(trigger == "process-time", delay.to_millis(), zone, pattern, formatter)

    def complete_at(self, folder: str, now_ms: int) -> int:
        """Return the completion time (ms) of a partition first written to now.

        Raises:
            UserFunctionError: If its folder has no time.
        """
        if self.by_clock:
            return now_ms + self.delay_ms
        values = dict(part.split("=", 1) for part in folder.split("/"))
        values = {unquote(key): unquote(value) for key, value in values.items()}
        text = next(iter(values.values())) if self.pattern is None else self.pattern
        for key, value in values.items() if self.pattern is not None else ():
            text = text.replace(f"${key}", value)
        nanoseconds = self._read(text)
        if nanoseconds is None:
            hint = f"set '{_PATTERN.key}' and '{_FORMATTER.key}' so that they make a time of all partitions"
            raise UserFunctionError(f"partition {folder} tells no time: {text!r}", hint=hint)
        shown = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=nanoseconds // 1000)
        offset = shown.replace(tzinfo=zoneinfo.ZoneInfo(self.zone)).utcoffset() or datetime.timedelta()
        return nanoseconds // 1_000_000 - round(offset.total_seconds() * 1000) + self.delay_ms

    def _read(self, text: str) -> int | None:
        if self.formatter is not None:
            return parse_strictly(text, self.formatter)
        return read_timestamp(f"{text} 00:00:00" if _DATE.fullmatch(text) else text)


@dataclass(frozen=True)
class PartitionReport:
    """Committable: the time of a writer (ms), and the completion times of its partitions."""

    time: int
    complete_at: Mapping[str, int]


@dataclass
class PartitionTracker:
    """Tracks the partitions that a writer writes to.

    Attributes:
        times: Their completion times.
        is_marked: Returns whether a folder has a success file.
        now_ms: Returns the processing time.
        open: The partitions without known success file.
    """

    times: CommitTimes
    is_marked: Callable[[str], bool]
    now_ms: Callable[[], int]
    open: dict[str, int] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)
    _watermark: int = MIN_TIMESTAMP
    _ended: bool = False

    def wrote(self, folders: Iterable[str]) -> None:
        """Record partitions with new rows."""
        for folder in folders:
            if folder not in self.open:
                self.open[folder] = self.times.complete_at(folder, self.now_ms())
            self._reported.discard(folder)

    def advance(self, watermark: int) -> None:
        """Record the watermark."""
        self._watermark = watermark

    def end(self) -> None:
        """Record the end of the input, which completes all partitions."""
        self._ended = True

    @property
    def _time(self) -> int:
        return MAX_TIMESTAMP if self._ended else self.now_ms() if self.times.by_clock else self._watermark

    def complete(self) -> set[str]:
        """Return the partitions that are complete to this writer."""
        time = self._time
        return {folder for folder, at in self.open.items() if at < time}

    def report(self) -> list[Any]:
        """Return the report for a checkpoint."""
        # One that was reported as complete before, and has got no rows since, may have its mark by now.
        for folder in [each for each in self._reported if self.is_marked(each)]:
            del self.open[folder]
            self._reported.discard(folder)
        self._reported |= self.complete()
        return [PartitionReport(self._time, dict(self.open))]


class SlowestReport:
    """Tracks the reports of writers; those of finished writers are retained."""

    def __init__(self) -> None:
        self._ended: dict[str, int] = {}

    def complete(self, committables: Sequence[Any]) -> list[str]:
        """Return the partitions that are complete by all reports of a checkpoint."""
        reports = [each for each in committables if isinstance(each, PartitionReport)]
        if not reports:
            return []
        slowest = min(report.time for report in reports)
        known = dict(self._ended)
        for report in reports:
            known.update(report.complete_at)
            if report.time == MAX_TIMESTAMP:
                self._ended.update(report.complete_at)
        found = [folder for folder, at in known.items() if at < slowest]
        for folder in found:
            self._ended.pop(folder, None)
        return found


def has_mark(base: str, name: str) -> Callable[[str], bool]:
    """Return the function that checks whether a folder of a table has a file of a name."""
    files, root = filesystem_for(base)
    return lambda folder: files.size(files.join(root, folder, name)) is not None
