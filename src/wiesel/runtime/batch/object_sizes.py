"""Internal. Estimates of the memory of records, for the budgets of structures that hold objects."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof
from typing import Any

from wiesel.types.row import Row

__all__ = ["mean_size", "size_of"]

_DEEPEST = 4
_SAMPLE = 8


def size_of(value: Any, depth: int = 0) -> int:
    """Return the estimated size of an object with its parts, down to a few levels."""
    size = getsizeof(value)
    if depth >= _DEEPEST:
        return size
    if isinstance(value, (tuple, list, set, frozenset)):
        return size + sum(size_of(part, depth + 1) for part in value)
    if isinstance(value, dict):
        return size + sum(size_of(k, depth + 1) + size_of(v, depth + 1) for k, v in value.items())
    if isinstance(value, Row):
        return size + size_of(value._values, depth + 1)
    inner = getattr(value, "__dict__", None)
    return size if inner is None else size + size_of(inner, depth + 1)


def mean_size(values: Sequence[Any]) -> float:
    """Return the mean size of a sample of these objects, evenly spaced."""
    if not values:
        return 0.0
    step = max(1, len(values) // _SAMPLE)
    sample = values[::step]
    return sum(map(size_of, sample)) / len(sample)
