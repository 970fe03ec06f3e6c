"""Memory sizes. Expected values come from Flink 2.3's ``MemorySize``."""

from __future__ import annotations

import pytest

from wiesel.core.errors import ConfigurationError
from wiesel.core.memory_size import MemorySize


@pytest.mark.parametrize(
    ("text", "written", "size"),
    [
        ("32kb", "32 kb", 32768),
        ("64mb", "64 mb", 67108864),
        ("1 g", "1 gb", 1073741824),
        ("5", "5 bytes", 5),
        ("0", "0 bytes", 0),
        ("7 bytes", "7 bytes", 7),
        ("1t", "1099511627776 bytes", 1099511627776),
        ("3 GB", "3 gb", 3221225472),
        ("12 tebibytes", "13194139533312 bytes", 13194139533312),
    ],
)
def test_sizes_are_read_and_written_as_in_flink(text: str, written: str, size: int) -> None:
    assert MemorySize.parse(text).bytes == size
    assert str(MemorySize.parse(text)) == written
    assert MemorySize.parse(written) == MemorySize(size)


@pytest.mark.parametrize("text", ["1.5g", "x", "-1", "", "1 parsec"])
def test_what_flink_refuses_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a memory size"):
        MemorySize.parse(text)


def test_sizes_compare() -> None:
    assert MemorySize.parse("1kb") < MemorySize.parse("1025")
    assert int(MemorySize(3)) == 3
