"""Operator state when the parallelism changes: split lists, union lists, broadcast maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.state.backends import new_backend
from tests.unit.state.memory_files import MemoryFiles
from wiesel.core.errors import StateMigrationError


def taken(directory: Path, files: MemoryFiles, contents: list[list[int]], kind: str = "hashmap") -> list[Any]:
    handles = []
    for subtask, entries in enumerate(contents):
        backend = new_backend(kind, directory, subtask=subtask, parallelism=len(contents))
        backend.operator_state.get_list("split").extend(entries)
        backend.operator_state.get_union_list("union").extend(entries)
        backend.operator_state.get_broadcast("rules").update({"n": 1, "from": subtask})
        handles.append(backend.snapshot(1).run(files))
        backend.close()
    return handles


def restored(directory: Path, files: MemoryFiles, handles: list[Any], parallelism: int, kind: str = "hashmap") -> list[Any]:
    backends = [new_backend(kind, directory, subtask=subtask, parallelism=parallelism) for subtask in range(parallelism)]
    for backend in backends:
        backend.restore(handles, files)
    return backends


@pytest.mark.parametrize("kind", ["hashmap", "lmdb"])
def test_same_parallelism_keeps_lists_where_they_are(tmp_path: Path, kind: str) -> None:
    files = MemoryFiles()
    backends = restored(tmp_path, files, taken(tmp_path, files, [[1, 2, 3], [], [4]], kind), 3, kind)
    assert [backend.operator_state.get_list("split") for backend in backends] == [[1, 2, 3], [], [4]]
    assert [backend.operator_state.get_union_list("union") for backend in backends] == [[1, 2, 3, 4]] * 3
    assert [backend.operator_state.get_broadcast("rules")["from"] for backend in backends] == [0, 1, 2]
    for backend in backends:
        backend.close()


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, [[1, 2, 3, 4, 5]]), (2, [[1, 2, 3], [4, 5]]), (4, [[1, 2], [3], [4], [5]]), (6, [[1], [2], [3], [4], [5], []])],
)
def test_rescaling_shares_split_lists_out_evenly(tmp_path: Path, parallelism: int, expected: list[list[int]]) -> None:
    files = MemoryFiles()
    backends = restored(tmp_path, files, taken(tmp_path, files, [[1, 2, 3], [4], [5]]), parallelism)
    assert [backend.operator_state.get_list("split") for backend in backends] == expected
    assert all(backend.operator_state.get_union_list("union") == [1, 2, 3, 4, 5] for backend in backends)
    # Flink's rule: subtask i takes the copy of old subtask i mod old parallelism.
    assert [backend.operator_state.get_broadcast("rules")["from"] for backend in backends] == [i % 3 for i in range(parallelism)]


def test_changes_after_the_snapshot_are_not_in_it(tmp_path: Path) -> None:
    files = MemoryFiles()
    backend = new_backend("hashmap", tmp_path)
    entries = backend.operator_state.get_list("split")
    entries.append([1])
    task = backend.snapshot(1)
    entries[0].append(2)
    entries.append(3)
    (again,) = restored(tmp_path, files, [task.run(files)], 1)
    assert again.operator_state.get_list("split") == [[1]]


def test_one_name_cannot_be_two_kinds(tmp_path: Path) -> None:
    backend = new_backend("hashmap", tmp_path)
    backend.operator_state.get_list("x")
    with pytest.raises(StateMigrationError, match=r"'x'.*split.*union"):
        backend.operator_state.get_union_list("x")
