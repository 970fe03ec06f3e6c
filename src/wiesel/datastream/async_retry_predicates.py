"""Retry predicates: the names of ``pyflink.datastream.async_retry_predicates``."""

from __future__ import annotations

from typing import Any

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]


def empty_result_predicate(result: list[Any] | None) -> bool:
    """Return whether there are no results."""
    return result is None or len(result) == 0


def has_exception_predicate(error: Exception | None) -> bool:
    """Return whether there is an exception."""
    return error is not None


def exception_type_predicate(error: Exception | None, expected_error_type: type[Exception]) -> bool:
    """Return whether there is an exception of this type; bind the type with ``functools.partial``."""
    return isinstance(error, expected_error_type)
