"""Internal. Keys whose equality dicts do not recognise: NaN, lists, dicts, sets, byte arrays, and tuples and rows containing them.

Flink compares such keys by their serialised form. Here each is wrapped into a :class:`ValueKey`, which is compared by its canonical bytes,
where keys are computed; user functions get the unwrapped value.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import math
import uuid
from itertools import chain
from typing import Any

from wiesel.state.key_codec import canonical_bytes, register_encoder
from wiesel.types.row import Row

__all__ = ["ValueKey", "comparable_keys", "key_value"]

_PLAIN: frozenset[type] = frozenset(
    (int, str, bytes, bool, type(None), decimal.Decimal, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, uuid.UUID)
)
_all_plain = _PLAIN.issuperset
_CONTAINERS = (list, dict, set, bytearray)


class ValueKey:
    """A key that is compared by its canonical bytes.

    Attributes:
        value: The key as passed to user functions.
        data: Its canonical bytes.
    """

    __slots__ = ("data", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.data = canonical_bytes(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueKey) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return repr(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueKey, (self.value,)


register_encoder(ValueKey, lambda key: key.data)


def comparable_keys(keys: list[Any]) -> list[Any]:
    """Return the keys, wrapping those that dicts cannot look up; the same list if there is none.

    Raises:
        ProgramError: A key contains something that cannot be part of one.
    """
    if _all_plain(map(type, keys)):
        return keys
    kinds = set(map(type, keys))
    if kinds == {float} and not math.isnan(sum(keys)):
        return keys
    if kinds == {tuple} and _all_plain(map(type, chain.from_iterable(keys))):
        return keys
    return [key if _is_comparable(key) else ValueKey(copy.deepcopy(key)) for key in keys]


def _is_comparable(key: Any) -> bool:
    if type(key) in _PLAIN:
        return True
    if isinstance(key, float | decimal.Decimal):
        return key == key
    if isinstance(key, tuple | Row):
        return all(map(_is_comparable, key))
    return not isinstance(key, _CONTAINERS)


def key_value(key: Any) -> Any:
    """Return the key as passed to user functions."""
    return key.value if type(key) is ValueKey else key
