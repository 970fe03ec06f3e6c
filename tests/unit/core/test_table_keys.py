"""The options of tables: those that the code reads are known as such, and none of Flink's is taken for a misspelt one."""

from __future__ import annotations

import re
from pathlib import Path

import wiesel
from wiesel.core import table_keys

FLINKS = (Path(__file__).parent / "flink_table_options.txt").read_text().split()
"""From the classes of Flink 2.3's Table API and planner."""


def test_what_the_code_reads_is_known() -> None:
    read: set[str] = set()
    for path in Path(wiesel.__file__).parent.rglob("*.py"):
        if path.name not in {"table_keys.py", "moved_modules.py"}:
            read |= set(re.findall(r'"(table\.[a-z0-9-]+(?:\.[a-z0-9-]+)*)"', path.read_text()))
    assert read == table_keys.KEYS


def test_every_key_of_flink_is_read_or_has_a_reason() -> None:
    assert [key for key in FLINKS if key not in table_keys.KEYS and table_keys.reason(key) is None] == []
    assert [(key, table_keys.misspelt(key)) for key in FLINKS if table_keys.misspelt(key)] == []
