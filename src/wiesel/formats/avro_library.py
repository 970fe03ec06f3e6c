"""Internal. The library fastavro, which is an extra of the installation, and what it raises."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

from wiesel.core.optional import require

__all__ = ["fastavro", "read_errors", "write_errors"]


def fastavro() -> Any:
    """Return the module.

    Raises:
        ProgramError: If it is not installed.
    """
    return require("fastavro", "Avro", "avro")


def read_errors() -> tuple[type[BaseException], ...]:
    """Return what reading raises for data that do not fit or are damaged."""
    resolution = importlib.import_module("fastavro.read").SchemaResolutionError
    return (ValueError, TypeError, LookupError, ArithmeticError, EOFError, OSError, zlib.error, RecursionError, MemoryError, resolution)


def write_errors() -> tuple[type[BaseException], ...]:
    """Return what writing raises for a record that does not match its schema."""
    return (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
