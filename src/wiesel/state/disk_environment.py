"""Internal. Interface of an embedded key-value store on the local disk, as needed by the backends that store state there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

__all__ = ["DiskEnvironment", "DiskSnapshot"]


class DiskSnapshot(Protocol):
    """Contents that any thread can read while writes continue."""

    def chunks(self, start: bytes = b"", stop: bytes | None = None) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield runs of (key, value) in order, from ``start`` on, as long as the key is below ``stop``."""
        ...


class DiskEnvironment(Protocol):
    """Keys and values on disk, in the order of the keys' bytes."""

    @property
    def path(self) -> str:
        """The directory of working files."""
        ...

    def get(self, key: bytes) -> bytes | None:
        """Return a value, or None."""
        ...

    def snapshot(self) -> DiskSnapshot:
        """Return the present contents."""
        ...

    def live(self) -> DiskSnapshot:
        """Return a reader of the contents as they are at each run."""
        ...

    def first_key(self, start: bytes) -> bytes | None:
        """Return the first key at or after ``start``, None if there is none."""
        ...

    def write(self, removed: Iterable[bytes], removed_prefixes: Iterable[bytes], entries: list[tuple[bytes, bytes]]) -> None:
        """Remove keys and all keys with certain prefixes, then set entries, all at once.

        Raises:
            ResourceError: If the disk is full.
        """
        ...

    def drop_pages(self) -> None:
        """Release mapped pages; called periodically by readers of much data."""
        ...

    def size_bytes(self) -> int:
        """Return an estimate of the bytes in use."""
        ...

    def close(self) -> None:
        """Close the environment and remove its directory."""
        ...
