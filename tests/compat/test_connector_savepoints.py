"""Positions, writer states and committables of connectors that older versions wrote are read by this one."""

from __future__ import annotations

import pickletools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compat.record_connectors import SAVEPOINTS
from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.metadata import unpacked
from wiesel.checkpoint.savepoint import Savepoint

KEPT = sorted(p.name for p in SAVEPOINTS.iterdir())


def pickled_modules(savepoint: Path) -> set[str]:
    """Return the modules that the pickles in the metadata name."""
    packed = [value.data for value in values(Savepoint(str(savepoint)).load_metadata()[0]) if hasattr(value, "data")]
    texts = {argument for data in packed for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)}
    return {text for text in texts if text.startswith("wiesel.")}


def values(checkpoint: Checkpoint) -> Iterator[Any]:
    yield from checkpoint.enumerators.values()
    for task in checkpoint.tasks.values():
        for state in task.operators.values():
            yield from (state.reader_splits, state.writer_state, state.committables)


def test_there_is_one_of_the_flat_modules() -> None:
    assert pickled_modules(SAVEPOINTS / "flat-modules") == {
        "wiesel.connectors.file_parts", "wiesel.connectors.file_source", "wiesel.connectors.hybrid_source",
        "wiesel.connectors.index_ranges",
    }  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_c23_values_of_connectors_are_read(name: str) -> None:
    read = list(values(unpacked(Savepoint(str(SAVEPOINTS / name)).load_metadata()[0])))
    found = {type(part).__name__ for value in read for part in (value if isinstance(value, list | tuple) else [value])}
    assert {"WriterState", "HybridSplit", "_Found"} <= found
    (files,) = (value for value in read if type(value).__name__ == "_Found")
    assert len(str(files).split(".txt")) > 3
