"""Internal. Packages to install by URI scheme, for hints of error messages."""

from __future__ import annotations

_EXTRAS = {"s3": "s3", "s3a": "s3", "webhdfs": "hdfs", "swebhdfs": "hdfs"}
_PACKAGES = {"http": "aiohttp", "https": "aiohttp", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs"}


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
