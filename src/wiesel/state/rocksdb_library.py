"""Internal. Import of rocksdict, an optional dependency."""

from __future__ import annotations

from typing import Any

from wiesel.core.errors import ConfigurationError
from wiesel.core.optional import require

__all__ = ["rocksdict"]


def rocksdict() -> Any:
    """Return the module.

    Raises:
        ConfigurationError: If it is not installed.
    """
    return require(
        "rocksdict",
        "the state backend rocksdb",
        "rocksdb",
        error_type=ConfigurationError,
        alternative="set state.backend.type to lmdb",
    )
