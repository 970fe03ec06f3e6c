"""Internal. Estimates of the number and size of records: measured at sources, guessed for functions, or set by the user.

Guesses: a filter keeps half of its records, flat_map returns five for one, a group has ten records, a join has as many results as its
larger input. Guesses are only compared with each other, so the sizes of the data dominate.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.connectors.collection import CollectionSource
from wiesel.connectors.filesystem.source import FileSource
from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.dataset._plan import Node

__all__ = ["Estimate", "estimate_of"]

_SAMPLE_BYTES = 64 << 10
_NUMBER_BYTES = 9.0
_DEFAULT_RECORD_BYTES = 64.0
_FILTER_FACTOR = 0.5
_FLAT_MAP_FACTOR = 5.0
_GROUP_SIZE = 10.0
_COMPRESSED = (".gz", ".gzip", ".bz2", ".xz", ".deflate", ".zst")


@dataclass(frozen=True)
class Estimate:
    """The number of records, and their mean size in bytes; None if unknown."""

    records: float | None = None
    record_bytes: float | None = None

    @property
    def bytes(self) -> float | None:
        """Return the size of all."""
        return None if self.records is None else self.records * (self.record_bytes or _DEFAULT_RECORD_BYTES)

    def times(self, factor: float) -> Estimate:
        """Return the estimate for another number of records."""
        return Estimate(None if self.records is None else self.records * factor, self.record_bytes)

    def __str__(self) -> str:
        if self.records is None or self.bytes is None:
            return "size unknown"
        return f"~{_rounded(self.records)} records, {_size(self.bytes)}"


def _rounded(number: float) -> str:
    return f"{math.ceil(number):,}" if number < 1e6 else f"{number:.3g}"


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return ""


def estimate_of(node: Node, inputs: Sequence[Estimate]) -> Estimate:
    """Return the estimate for the results of an operation; hints of the user take precedence."""
    guessed = _guessed(node, inputs)
    said = node.hints
    return Estimate(
        guessed.records if said.records is None else said.records,
        guessed.record_bytes if said.record_bytes is None else said.record_bytes,
    )


def _guessed(node: Node, inputs: Sequence[Estimate]) -> Estimate:
    match node.kind:
        case "source":
            return _source(node.params["source"])
        case "filter":
            return inputs[0].times(_FILTER_FACTOR)
        case "flat_map":
            return inputs[0].times(_FLAT_MAP_FACTOR)
        case "reduce" | "group_reduce" | "group_combine":
            return inputs[0].times(1 / _GROUP_SIZE) if node.keys else Estimate(1.0, inputs[0].record_bytes)
        case "union":
            return _united(inputs)
        case "join" | "co_group" | "cross":
            return _paired(node, inputs)
        case "first":
            n = float(node.params["n"])
            return Estimate(n if inputs[0].records is None else min(n, inputs[0].records), inputs[0].record_bytes)
        case "delta_result":
            return inputs[2]
        case "count":
            return Estimate(1.0, _NUMBER_BYTES)
    return inputs[0]


def _united(inputs: Sequence[Estimate]) -> Estimate:
    known = [e for e in inputs if e.records is not None]
    if len(known) < len(inputs):
        return Estimate()
    records = sum(e.records or 0.0 for e in known)
    total = sum(e.bytes or 0.0 for e in known)
    return Estimate(records, total / records if records else None)


def _paired(node: Node, inputs: Sequence[Estimate]) -> Estimate:
    first, second = inputs
    if first.records is None or second.records is None:
        return Estimate()
    records = first.records * second.records if node.kind == "cross" else max(first.records, second.records)
    return Estimate(records, (first.record_bytes or _DEFAULT_RECORD_BYTES) + (second.record_bytes or _DEFAULT_RECORD_BYTES))


def _source(source: Any) -> Estimate:
    if isinstance(source, CollectionSource):
        count = source._count
        return Estimate(float(count), sum(map(len, source._chunks)) / count if count else None)
    if isinstance(source, NumberSequenceSource):
        return Estimate(float(source._end - source._start + 1), _NUMBER_BYTES)
    if isinstance(source, FileSource):
        return _files(source._paths)
    return Estimate()


def _files(paths: Sequence[str]) -> Estimate:
    """Measure the sizes of local files and the lines of the first one; remote files are not accessed."""
    total = 0
    line_bytes: float | None = None
    try:
        for path in _local_files(paths):
            total += os.path.getsize(path)
            if line_bytes is None and not path.endswith(_COMPRESSED):
                line_bytes = _mean_line(path)
    except OSError:
        return Estimate()
    if line_bytes is None:
        return Estimate()
    return Estimate(total / line_bytes, line_bytes)


def _local_files(paths: Sequence[str]) -> Iterator[str]:
    for given in paths:
        path = given.removeprefix("file://")
        if "://" in path:
            raise OSError(path)
        if os.path.isdir(path):
            for directory, _, names in os.walk(path):
                yield from (os.path.join(directory, name) for name in sorted(names) if not name.startswith((".", "_")))
        else:
            yield path


def _mean_line(path: str) -> float | None:
    with open(path, "rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    return len(sample) / max(1, sample.count(b"\n")) if sample else None
