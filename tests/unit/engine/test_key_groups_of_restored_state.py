"""How many key groups a job has that starts from the state of one with another parallelism."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.engine.stored_job import StoredJob, totals
from wiesel.core.errors import StateMigrationError
from wiesel.testing import ManualSource

FEW, MANY = 2, 3


@pytest.fixture(autouse=True)
def _few_key_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a setting there are 128 key groups up to 85 subtasks, and 256 from 86 on; as many subtasks would be slow."""
    monkeypatch.setattr("wiesel.graph.job_graph.default_max_parallelism", lambda parallelism: 4 if parallelism < MANY else 8)


def groups_of(job: StoredJob) -> int:
    """Return the number of key groups of the totals."""
    (vertex,) = (v for v in job.master.plan.graph.job.vertices if any(o.node.uid == "total" for o in v.operators))
    return int(vertex.max_parallelism)


def stopped(directory: Path, numbers: ManualSource, parallelism: int, **config: str) -> tuple[str, int]:
    """Return the savepoint of a job that has added one to each of ten keys, and its number of key groups."""
    job, _ = totals(numbers, None, parallelism=parallelism, **config)
    with job:
        numbers.push_all([(str(key), 1) for key in range(10)])
        job.settle()
        return job.savepoint(directory, stop=True), groups_of(job)


# Flink 2.3 starts all of them: SELECT a, COUNT(*) ... GROUP BY a, stopped with a savepoint at the first parallelism, started at the other.
@pytest.mark.parametrize(("before", "after", "groups"), [(FEW, MANY, 4), (MANY, FEW, 8)])
def test_key_groups_that_nothing_sets_are_those_of_the_state(tmp_path: Path, before: int, after: int, groups: int) -> None:
    numbers = ManualSource()
    path, had = stopped(tmp_path, numbers, before)
    assert had == groups
    job, results = totals(numbers, tmp_path / "checkpoints", path, parallelism=after)
    with job:
        numbers.push_all([(str(key), 10) for key in range(10)])
        job.settle()
        assert sorted(results.values) == sorted((str(key), 11) for key in range(10))
        assert groups_of(job) == groups
        again = job.store()
    # What the job says of itself in its own checkpoints is true, too.
    job, results = totals(numbers, tmp_path / "checkpoints", again, "CLAIM", parallelism=before)
    with job:
        numbers.push_all([(str(key), 100) for key in range(10)])
        job.settle()
        assert sorted(results.values) == sorted((str(key), 111) for key in range(10))


def test_key_groups_that_are_set_have_to_be_those_of_the_state(tmp_path: Path) -> None:
    numbers = ManualSource()
    path, _ = stopped(tmp_path, numbers, FEW)
    with pytest.raises(StateMigrationError, match="had maximum parallelism 4 and has 64 now"):
        totals(numbers, None, path, parallelism=FEW, pipeline_max__parallelism="64")


def test_more_subtasks_than_the_state_has_key_groups_are_refused(tmp_path: Path) -> None:
    numbers = ManualSource()
    path, _ = stopped(tmp_path, numbers, FEW, pipeline_max__parallelism="4")
    with pytest.raises(StateMigrationError, match="has parallelism 5, and its state is of maximum parallelism 4") as refused:
        totals(numbers, None, path, parallelism=5)
    assert "at most 4" in str(refused.value.hint)
