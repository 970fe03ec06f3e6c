"""Into which folder (bucket) of a file sink a record goes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from wiesel.core.errors import ConnectorError, ProgramError

__all__ = ["BucketAssigner", "BucketContext", "group_by_bucket"]


@dataclass
class BucketContext:
    """Times (ms) at which a record is assigned: processing time, the watermark, and the record's own timestamp if it has one."""

    processing_time: int = 0
    watermark: int = -(2**63)
    element_timestamp: int | None = None

    def current_processing_time(self) -> int:
        """Return the processing time."""
        return self.processing_time

    def current_watermark(self) -> int:
        """Return the watermark."""
        return self.watermark

    def timestamp(self) -> int | None:
        """Return the timestamp of the record, or None."""
        return self.element_timestamp


class BucketAssigner(ABC):
    """Names the bucket of each record: a folder below the base path, ``""`` for the base path itself. May contain slashes."""

    @abstractmethod
    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        """Return the bucket of a record."""

    def bucket_of_batch(self, context: BucketContext) -> str | None:
        """Return the bucket of all records that are written at this time; None if it depends on the record."""
        return None

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """No buckets: all parts are in the base path."""
        return _BasePath()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Name buckets by the processing time.

        Args:
            format_str: A pattern of Java's ``DateTimeFormatter``: y M d H m s S and text (in single quotes if it has letters).
            timezone_id: Such as ``Europe/Vienna``, ``UTC`` or ``GMT-08:00``; the machine's own if it is None.

        Raises:
            ProgramError: If the pattern has other letters or the time zone is not known.
        """
        return _DateTime(format_str, timezone_id)


class _BasePath(BucketAssigner):
    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        return ""

    def bucket_of_batch(self, context: BucketContext) -> str:
        return ""


class _DateTime(BucketAssigner):
    def __init__(self, format_str: str, timezone_id: str | None) -> None:
        self._fields = _compile_pattern(format_str)
        self._zone_id = timezone_id
        self._zone = None if timezone_id is None else _zone(timezone_id)
        self._last: tuple[int, str] = (-1, "")

    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        return self.bucket_of_batch(context)

    def bucket_of_batch(self, context: BucketContext) -> str:
        now_ms = context.processing_time
        if self._last[0] != now_ms:
            moment = datetime.fromtimestamp(now_ms / 1e3, self._zone) if self._zone else datetime.fromtimestamp(now_ms / 1e3).astimezone()
            self._last = (now_ms, "".join(text if digits == 0 else _field(moment, text, digits) for text, digits in self._fields))
        return self._last[1]


_PATTERN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z']+)")


def _compile_pattern(pattern: str) -> list[tuple[str, int]]:
    """Return the parts of a pattern: (letter, number of digits), or (text, 0)."""
    fields: list[tuple[str, int]] = []
    at = 0
    while at < len(pattern):
        match = _PATTERN.match(pattern, at)
        if match is None:
            raise ProgramError(f"date pattern {pattern!r}: a quote at {at} is not closed", hint="put text in single quotes")
        at = match.end()
        if match[2] is None:
            quoted = match[1]
            fields.append((match[3] if quoted is None else quoted.replace("''", "'") or "'", 0))
        elif match[2] not in "yuMdHmsS" or (match[2] == "M" and len(match[0]) > 2):
            raise ProgramError(
                f"date pattern {pattern!r}: {match[0]!r} is not supported", hint="use numbers of y M d H m s S, and text in single quotes"
            )
        else:
            fields.append((match[2], len(match[0])))
    return fields


def _field(moment: datetime, letter: str, digits: int) -> str:
    if letter in "yu":
        return f"{moment.year % 100:02d}" if digits == 2 else f"{moment.year:0{digits}d}"
    if letter == "S":
        return f"{moment.microsecond:06d}"[:digits].ljust(digits, "0")
    value = {"M": moment.month, "d": moment.day, "H": moment.hour, "m": moment.minute, "s": moment.second}[letter]
    return f"{value:0{digits}d}"


def _zone(zone_id: str) -> tzinfo:
    match = re.fullmatch(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?", zone_id)
    if match:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return timezone(offset if match[1] == "+" else -offset)
    try:
        return ZoneInfo("UTC" if zone_id == "Z" else zone_id)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ProgramError(f"unknown time zone {zone_id!r}", hint="use a name such as Europe/Vienna, UTC or GMT-08:00") from error


def group_by_bucket(
    assigner: BucketAssigner, values: list[Any], timestamps: list[int] | None, context: BucketContext
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the records of each bucket, in order. ``timestamps`` in ms.

    Raises:
        ConnectorError: If the assigner gives something that is not a folder below the base path.
    """
    context.element_timestamp = None
    bucket = assigner.bucket_of_batch(context)
    if bucket is not None:
        yield _checked(bucket), values
        return
    groups: dict[str, list[Any]] = {}
    get = assigner.get_bucket_id
    for i, value in enumerate(values):
        if timestamps is not None:
            context.element_timestamp = timestamps[i]
        bucket = get(value, context)
        group = groups.get(bucket)
        if group is None:
            group = groups[_checked(bucket)] = []
        group.append(value)
    yield from groups.items()


def _checked(bucket: Any) -> str:
    if not isinstance(bucket, str) or bucket.startswith("/") or ".." in bucket.split("/"):
        raise ConnectorError(
            f"the bucket assigner gave {bucket!r}", hint="give a path relative to the base path, without '..'; '' means the base path"
        )
    return bucket
