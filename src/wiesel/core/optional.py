"""Internal. Optional packages: their import, and what to install for them."""

from __future__ import annotations

import importlib
from typing import Any

from wiesel.core.errors import ProgramError, WieselError

__all__ = ["require", "to_install"]

_EXTRAS = {"s3": "s3", "s3a": "s3", "webhdfs": "hdfs", "swebhdfs": "hdfs"}
_PACKAGES = {"http": "aiohttp", "https": "aiohttp", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs"}


def require(
    module: str, feature: str, extra: str, *, error_type: type[WieselError] = ProgramError, alternative: str | None = None
) -> Any:
    """Return the module of an optional package.

    Args:
        module: Full name of the module.
        feature: What needs it, for the message.
        extra: The extra of Wiesel that installs the package.
        error_type: Class of the error.
        alternative: What else the user can do.

    Raises:
        WieselError: Of ``error_type``, if the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        hint = f"install it where the program and all workers run: pip install 'wiesel[{extra}]'"
        hint += f"; or {alternative}" if alternative else ""
        raise error_type(f"{feature} needs the package {package}: {error}", hint=hint) from error


def to_install(scheme: str) -> str:
    """Return a hint on the package needed for URIs of this scheme."""
    if scheme in _EXTRAS:
        return f"pip install 'wiesel[{_EXTRAS[scheme]}]', on the workers too"
    if scheme in _PACKAGES:
        return f"pip install {_PACKAGES[scheme]}, on the workers too"
    if scheme in ("hdfs", "viewfs"):
        return (
            "this address needs Hadoop's libhdfs (ARROW_LIBHDFS_DIR) and CLASSPATH on all machines; "
            "webhdfs://user@namenode:9870/path needs only pip install 'wiesel[hdfs]'"
        )
    return f"check the address, or install the package of fsspec for {scheme}://, on the workers too"
