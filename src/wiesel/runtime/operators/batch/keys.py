"""Internal. Keys of records in operators of bounded data: received over a keyed exchange, or computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.runtime.batch.sort_keys import KeyEncoder, key_encoder, sort_encoder
from wiesel.runtime.user_code import map_all

__all__ = ["Keys", "SortFields"]


class Keys:
    """The keys of one input.

    Args:
        selector: Returns the key of a record, a callable or KeySelector.
        key_type: The declared type of the keys, or None.
    """

    def __init__(self, selector: Any, key_type: Any) -> None:
        self.select: Callable[[Any], Any] = selector.get_key if hasattr(selector, "get_key") else selector
        self.encode: KeyEncoder = key_encoder(key_type)

    def of(self, values: list[Any], keys: list[Any] | None) -> list[Any]:
        """Return the keys of records; ``keys`` are those received with them, or None."""
        return map_all(self.select, values) if keys is None else keys


class SortFields:
    """Sort keys of records: ``(selector, type, ascending)`` each."""

    def __init__(self, fields: list[tuple[Any, Any, bool]]) -> None:
        self._parts = [(selector, sort_encoder(declared, ascending=ascending)) for selector, declared, ascending in fields]

    def encode(self, value: Any) -> bytes:
        """Return the sort key of a record."""
        return b"".join([encode(select(value)) for select, encode in self._parts])
