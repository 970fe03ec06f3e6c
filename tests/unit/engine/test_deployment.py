"""What the subtasks of an operator are given of a checkpoint, with the same and with another parallelism."""

from __future__ import annotations

from typing import Any

import pytest

from wiesel.checkpoint.snapshot import OperatorRestore, OperatorStateSnapshot
from wiesel.engine.deployment import share_out
from wiesel.graph.job_graph import JobVertex
from wiesel.state.backend import StateFile, StateHandle
from wiesel.state.key_groups import key_group_range
from wiesel.state.operator_state import OPERATOR_STATE

MAX_PARALLELISM = 8


def vertex(parallelism: int) -> JobVertex:
    return JobVertex("id", 0, "name", [], [], parallelism, MAX_PARALLELISM, "default", False, True)


def file(name: str) -> StateFile:
    return StateFile(name, 1, 0)


def handle(subtask: int, parallelism: int, facts: dict[str, Any] | None) -> StateHandle:
    """A handle with a file of keyed state and, if there are facts, one of operator state."""
    groups = key_group_range(subtask, MAX_PARALLELISM, parallelism)
    files = [file(f"keyed-{subtask}")] + ([file(f"operator-{subtask}")] if facts else [])
    meta = {"subtask": subtask, "parallelism": parallelism, "operator_files": len(files) - 1, "states": {"s": {}}, "scopes": [[0, 8, True]]}
    return StateHandle(tuple(files), groups.start, groups.end, {**meta, OPERATOR_STATE: facts})


def facts(split: dict[str, int] | None = None, union: tuple[str, ...] = (), broadcast: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"split": split or {}, "union": list(union), "broadcast": list(broadcast), "types": {}}


def snapshots(given: list[dict[str, Any] | None]) -> dict[int, OperatorStateSnapshot]:
    return {i: OperatorStateSnapshot(state=handle(i, len(given), f)) for i, f in enumerate(given)}


def names(restore: OperatorRestore) -> list[str]:
    return [file.name for handle in restore.states for file in handle.files]


def test_keyed_state_goes_to_those_whose_key_groups_it_touches() -> None:
    old = snapshots([None, None])
    assert [names(share_out(vertex(3), i, old, 2)) for i in range(3)] == [["keyed-0"], ["keyed-0", "keyed-1"], ["keyed-1"]]
    assert [names(share_out(vertex(2), i, old, 2)) for i in range(2)] == [["keyed-0"], ["keyed-1"]]


@pytest.mark.parametrize(
    ("given", "parallelism", "expected"),
    [
        # A list of 10 entries on two subtasks, on three: 4, 3 and 3.
        (facts({"l": 5}), 3, [["operator-0"], ["operator-0", "operator-1"], ["operator-1"]]),
        (facts({"l": 5}), 2, [["operator-0"], ["operator-1"]]),
        (facts({"l": 5}), 1, [["operator-0", "operator-1"]]),
        (facts({"l": 0}), 3, [[], [], []]),
        # Everyone gets all of a union list, also where nothing changes.
        (facts(union=("u",)), 2, [["operator-0", "operator-1"]] * 2),
        (facts(union=("u",)), 3, [["operator-0", "operator-1"]] * 3),
        # One copy of a broadcast map each.
        (facts(broadcast=("b",)), 2, [["operator-0"], ["operator-1"]]),
        (facts(broadcast=("b",)), 4, [["operator-0"], ["operator-1"]] * 2),
        (facts(broadcast=("b",)), 1, [["operator-0"]]),
    ],
)
def test_operator_state_goes_by_its_kind(given: dict[str, Any], parallelism: int, expected: list[list[str]]) -> None:
    old = snapshots([given, given])
    found = [names(share_out(vertex(parallelism), i, old, 2)) for i in range(parallelism)]
    assert [[name for name in some if name.startswith("operator")] for some in found] == expected
    # The keyed state comes along as it does without.
    keyed = snapshots([None, None])
    plain = [names(share_out(vertex(parallelism), i, keyed, 2)) for i in range(parallelism)]
    assert [[name for name in some if name.startswith("keyed")] for some in found] == plain


def test_a_subtask_without_state_of_its_own_gets_the_map_of_another() -> None:
    old = snapshots([facts(broadcast=("b",)), facts(broadcast=("b",)), None])
    old[2] = OperatorStateSnapshot()
    assert names(share_out(vertex(3), 2, old, 3)) == ["operator-0"]


def test_handles_that_are_not_ours_are_given_whole() -> None:
    foreign = StateHandle((file("f"),), 0, 4, {"of": "another backend"})
    restore = share_out(vertex(4), 3, {0: OperatorStateSnapshot(state=foreign)}, 1)
    assert restore.states == (foreign,)


def test_positions_and_writer_states_stay_or_are_dealt_out() -> None:
    old = {i: OperatorStateSnapshot(reader_splits=[f"s{i}", f"t{i}"], writer_state=f"w{i}") for i in range(2)}
    same = [share_out(vertex(2), i, old, 2) for i in range(2)]
    assert [(r.reader_splits, r.writer_states) for r in same] == [(["s0", "t0"], ("w0",)), (["s1", "t1"], ("w1",))]
    three = [share_out(vertex(3), i, old, 2) for i in range(3)]
    assert [r.reader_splits for r in three] == [["s0", "t1"], ["t0"], ["s1"]]
    assert [r.writer_states for r in three] == [("w0",), ("w1",), ()]
