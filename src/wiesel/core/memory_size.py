"""Internal. Memory sizes in Flink's notation of options (``32kb``, ``64 mb``)."""

from __future__ import annotations

import functools
import re

from wiesel.core.errors import ConfigurationError

__all__ = ["MemorySize"]

_UNIT_BYTES: dict[str, int] = {
    label: size
    for labels, size in (
        ("b bytes", 1),
        ("k kb kibibytes", 1 << 10),
        ("m mb mebibytes", 1 << 20),
        ("g gb gibibytes", 1 << 30),
        ("t tb tebibytes", 1 << 40),
    )
    for label in labels.split()
}
_NUMBER_AND_UNIT = re.compile(r"(\d+)\s*(.*)", re.DOTALL)


@functools.total_ordering
class MemorySize:
    """A number of bytes. Units are powers of 1024.

    >>> MemorySize.parse("32kb").bytes
    32768
    >>> print(MemorySize(32768))
    32 kb
    """

    __slots__ = ("bytes",)

    def __init__(self, size_bytes: int) -> None:
        self.bytes = int(size_bytes)

    @staticmethod
    def parse(text: str) -> MemorySize:
        """Parse a size; a bare number is bytes.

        Raises:
            ConfigurationError: If the string is not a whole number with a known unit.
        """
        match = _NUMBER_AND_UNIT.fullmatch(text.strip())
        unit = _UNIT_BYTES.get(match[2].strip().lower() or "b") if match else None
        if match is None or unit is None:
            raise ConfigurationError(
                f"{text!r} is not a memory size", hint="write a whole number and a unit: '32kb', '64 mb', '1g' (no unit means bytes)"
            )
        return MemorySize(int(match[1]) * unit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySize) and self.bytes == other.bytes

    def __lt__(self, other: MemorySize) -> bool:
        if not isinstance(other, MemorySize):
            return NotImplemented
        return self.bytes < other.bytes

    def __hash__(self) -> int:
        return hash((MemorySize, self.bytes))

    def __int__(self) -> int:
        return self.bytes

    def __str__(self) -> str:
        # Flink falls back to bytes if even the largest unit divides the size: 1t prints as "1099511627776 bytes".
        whole_terabytes = self.bytes % _UNIT_BYTES["tb"] == 0
        for unit in () if whole_terabytes else ("gb", "mb", "kb"):
            if self.bytes % _UNIT_BYTES[unit] == 0:
                return f"{self.bytes // _UNIT_BYTES[unit]} {unit}"
        return f"{self.bytes} bytes"

    def __repr__(self) -> str:
        return f"MemorySize({self.bytes})"
