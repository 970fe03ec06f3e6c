"""Key selectors and partitioners are functions like others: opened before the first record, closed at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wiesel.common import Configuration, Types
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import KeySelector, Partitioner, StreamExecutionEnvironment


def environment() -> StreamExecutionEnvironment:
    options = {"wiesel.engine": "local", "restart-strategy.type": "none"}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(2)


class Noted:
    def __init__(self, notes: Path, name: str) -> None:
        self.notes, self.name = notes, name

    def open(self, runtime_context: Any) -> None:
        self.subtasks = runtime_context.get_number_of_parallel_subtasks()
        (self.notes / f"{self.name}-{runtime_context.get_index_of_this_subtask()}-open").touch()
        self.index = runtime_context.get_index_of_this_subtask()

    def close(self) -> None:
        (self.notes / f"{self.name}-{self.index}-close").touch()


class Selector(Noted, KeySelector):
    def get_key(self, value: int) -> float:
        return float(value % self.subtasks)


class Parity(Noted, Partitioner):
    def partition(self, key: float, num_partitions: int) -> int:
        return int(key) % self.subtasks


def all_notes(*names: str) -> set[str]:
    return {f"{name}-{subtask}-{what}" for name in names for subtask in (0, 1) for what in ("open", "close")}


@pytest.mark.parametrize("key_type", [None, Types.FLOAT()])  # a declared type wraps the selector
def test_a_key_selector_is_opened_and_closed(tmp_path: Path, key_type: Any) -> None:
    numbers = environment().from_collection(list(range(10))).map(lambda n: n)
    sums = numbers.key_by(Selector(tmp_path, "selector"), key_type).reduce(lambda a, b: a + b)
    with sums.execute_and_collect() as found:
        assert {20, 25} <= set(found)
    assert {note.name for note in tmp_path.iterdir()} == all_notes("selector")


def test_a_partitioner_and_its_selector_are_opened_and_closed(tmp_path: Path) -> None:
    numbers = environment().from_collection(list(range(10))).map(lambda n: n)
    shared_out = numbers.partition_custom(Parity(tmp_path, "partitioner"), Selector(tmp_path, "selector")).map(lambda n: n)
    with shared_out.execute_and_collect() as found:
        assert sorted(found) == list(range(10))
    assert {note.name for note in tmp_path.iterdir()} == all_notes("selector", "partitioner")


def test_an_error_in_the_open_of_a_key_selector_fails_the_job_with_its_name() -> None:
    class Broken(KeySelector):
        def open(self, runtime_context: Any) -> None:
            raise ValueError("no such table")

        def get_key(self, value: int) -> int:
            return value

    with pytest.raises(JobExecutionError, match="no such table") as failure:
        list(environment().from_collection([1]).key_by(Broken()).map(lambda n: n).execute_and_collect())
    assert "Broken.open" in str(failure.value.__cause__)
