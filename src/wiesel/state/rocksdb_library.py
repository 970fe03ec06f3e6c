"""Internal. Import of rocksdict, an optional dependency."""

from __future__ import annotations

import importlib
from typing import Any

from wiesel.core.errors import ConfigurationError

__all__ = ["rocksdict"]


def rocksdict() -> Any:
    """Return the module.

    Raises:
        ConfigurationError: If it is not installed.
    """
    try:
        return importlib.import_module("rocksdict")
    except ImportError as error:
        raise ConfigurationError(
            f"the state backend rocksdb needs the library rocksdict: {error}",
            hint="install it where the program and all workers run: pip install 'wiesel[rocksdb]'; or set state.backend.type to lmdb",
        ) from error
