"""The collection source: all elements once and in order, also when readers stop and go on elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiesel.common import Row, Types
from wiesel.connectors.collection import CollectionSource, CollectionSplit
from wiesel.core.errors import SerializationError, TypeMismatchError
from wiesel.spi.source import Boundedness, InputStatus, SourceReader


class Output:
    wanted = 1 << 20

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.finished: list[str] = []

    def collect(self, values: list[Any], timestamps: Any = None, split_id: str = "") -> None:
        assert timestamps is None
        self.values += values

    def split_finished(self, split_id: str) -> None:
        self.finished.append(split_id)


class Job:
    """Readers and their enumerator, connected as an engine does it."""

    def __init__(
        self,
        source: CollectionSource,
        parallelism: int,
        state: Any = None,
        splits: Mapping[int, Sequence[Any]] | None = None,
    ) -> None:
        self.parallelism = parallelism
        self.output = Output()
        self.enumerator = source.create_enumerator(self, state)  # type: ignore[arg-type]
        self.readers: list[SourceReader[CollectionSplit]] = []
        for subtask in range(parallelism):
            self.readers.append(source.create_reader(Reader(self, subtask)))  # type: ignore[arg-type]
            self.readers[subtask].add_splits((splits or {}).get(subtask, []))
        for subtask, reader in enumerate(self.readers):
            self.enumerator.add_reader(subtask)
            reader.start()

    def assign_splits(self, splits: Mapping[int, Sequence[CollectionSplit]]) -> None:
        for subtask, assigned in splits.items():
            self.readers[subtask].add_splits(assigned)

    def signal_no_more_splits(self, subtask: int) -> None:
        self.readers[subtask].notify_no_more_splits()

    def snapshot(self) -> tuple[Any, dict[int, Any]]:
        taken = self.enumerator.snapshot_state(1), {i: r.snapshot_state(1) for i, r in enumerate(self.readers)}
        copied: tuple[Any, dict[int, Any]] = pickle.loads(pickle.dumps(taken))
        return copied

    def run(self, polls: int = 1000) -> bool:
        """Poll in turn; returns whether all readers have ended."""
        open_readers = list(self.readers)
        for _ in range(polls):
            if not open_readers:
                return True
            reader = open_readers.pop(0)
            if reader.poll(self.output) is not InputStatus.END_OF_INPUT:  # type: ignore[arg-type]
                open_readers.append(reader)
        return not open_readers


class Reader:
    def __init__(self, job: Job, subtask: int) -> None:
        self._job = job
        self.subtask_index = subtask
        self.parallelism = job.parallelism

    def request_split(self) -> None:
        self._job.enumerator.handle_split_request(self.subtask_index)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 4500])
def test_one_reader_reads_all_in_order(count: int) -> None:
    source = CollectionSource(list(range(count)))
    job = Job(source, 1)
    assert job.run()
    assert job.output.values == list(range(count))
    assert source.boundedness is Boundedness.BOUNDED


@given(st.integers(0, 9000), st.integers(1, 5), st.integers(0, 12))
def test_several_readers_read_each_element_once_also_over_a_restart(count: int, parallelism: int, polls: int) -> None:
    source = CollectionSource(list(range(count)))
    first = Job(source, parallelism)
    first.run(polls)
    state, splits = first.snapshot()
    second = Job(source, parallelism, state, splits)
    assert second.run()
    assert sorted(first.output.values + second.output.values) == list(range(count))


def test_splits_of_lost_readers_are_read_by_others() -> None:
    source = CollectionSource(list(range(5000)))
    first = Job(source, 3)
    first.run(3)
    state, splits = first.snapshot()
    second = Job(source, 1, state, {0: [*splits[0], *splits[2], *splits[1]]})
    assert second.run()
    assert sorted(first.output.values + second.output.values) == list(range(5000))


def test_elements_are_checked_coerced_and_copied() -> None:
    elements: list[Any] = [("a", 1), Row("b", 2)]
    kind = Types.ROW_NAMED(["name", "x"], [Types.STRING(), Types.DOUBLE()])
    source = CollectionSource(elements, kind)
    elements.append("later")
    job = Job(source, 1)
    assert job.run()
    assert job.output.values == [Row(name="a", x=1.0), Row(name="b", x=2.0)]
    assert source.produced_type == kind


def test_the_wrong_element_and_the_place_in_it_are_named() -> None:
    with pytest.raises(TypeMismatchError, match=r"element\[1\].*x") as caught:
        CollectionSource([("a", 1.0), ("b", "?")], Types.ROW_NAMED(["name", "x"], [Types.STRING(), Types.DOUBLE()]))
    assert "Double" in str(caught.value)


def test_an_element_that_cannot_be_pickled_is_named() -> None:
    with pytest.raises(SerializationError, match="element 1001 of the collection"):
        CollectionSource([*range(1001), (i for i in ())])


def test_a_source_can_be_pickled() -> None:
    job = Job(pickle.loads(pickle.dumps(CollectionSource(["a", "b"], Types.STRING()))), 1)
    assert job.run()
    assert job.output.values == ["a", "b"]
