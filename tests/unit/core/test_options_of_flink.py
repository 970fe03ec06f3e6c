"""Our options against Flink's own, read from the classes of Flink 2.3 (``tests/differential/record_options.py``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wiesel.core.config import check_setting, declared_options, find_option
from wiesel.core.durations import Duration
from wiesel.core.memory_size import MemorySize
from wiesel.core.option_docs import render_markdown

HERE = Path(__file__).parent
FLINK: dict[str, dict[str, Any]] = json.loads((HERE / "flink_options.json").read_text())

ANOTHER_DEFAULT = {
    "execution.checkpointing.incremental": "all of our backends are incremental",
    "taskmanager.network.memory.buffer-debloat.enabled": "Spark's buffers are not divided by who needs them, and hold more small records",
    "state.backend.rocksdb.block.cache-size": "Flink's counts only where the managed memory is not RocksDB's, which is its default",
    "python.executable": "the interpreter that runs the program",
    "taskmanager.network.partition-request-timeout": "tasks are processes of their own, which a busy machine runs late",
}
SHARED_OLD_KEY = {
    "execution.checkpointing.local-backup.enabled": "Flink reads it under the keys of execution.state-recovery.from-local too"
}
TYPES = {
    "Integer": "int",
    "Long": "int",
    "Double": "float",
    "Float": "float",
    "Boolean": "bool",
    "String": "str",
    "String list": "list",
    "Duration": "duration",
    "MemorySize": "memory",
    "Map": "map",
}


def _as_flink_writes_it(value: Any) -> Any:
    return str(value) if isinstance(value, Duration | MemorySize) else value


@pytest.mark.parametrize("option", [o for o in declared_options() if not o.key.startswith("wiesel.")], ids=lambda o: o.key)
def test_option_is_flinks(option: Any) -> None:
    theirs = FLINK[option.key]
    assert option.type == TYPES.get(theirs["type"], "enum")
    if option.key not in ANOTHER_DEFAULT:
        assert _as_flink_writes_it(option.default) == theirs["default"]
    if option.key not in SHARED_OLD_KEY:
        assert set(option.deprecated_keys) == set(theirs["fallback"])


def test_every_key_of_flink_is_known() -> None:
    known: list[str] = []
    for key, theirs in FLINK.items():
        for name in (key, *theirs["fallback"]):
            if find_option(name) is None:
                check_setting(name, "x", lambda note: None)
            known.append(name)
    assert len(known) > 300


def test_the_page_of_options_is_current() -> None:
    page = HERE.parents[2] / "docs" / "configuration.md"
    assert page.read_text() == render_markdown(), "run: python -m wiesel.core.option_docs > docs/configuration.md"
