"""The conformance kit passes connectors that keep their guarantee, and names what is wrong with those that do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.testing.connectors_with_flaws import partitions, table
from tests.unit.testing.programs import Outside, PartWriter, TwoPhaseSink
from wiesel.common import Encoder
from wiesel.connectors.filesystem.sink import FileSink
from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.spi.sink import CommitRequest
from wiesel.testing.connectors import ConformanceError, DeliveryGuarantee, SinkTarget, SourceTarget, check_sink, check_source

EXACTLY_ONCE, AT_LEAST_ONCE = DeliveryGuarantee.EXACTLY_ONCE, DeliveryGuarantee.AT_LEAST_ONCE


class Appended(Outside):
    """Adds whatever it is given: a second commit of a part is one too many."""

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        for request in requests:
            _, self.parts[len(self.parts)] = request.committable


class SameNames(TwoPhaseSink):
    """Gives parts of all attempts the same names."""

    def create_writer(self, context: Any, state: Any = ()) -> Any:
        writer = PartWriter(context)
        writer.name = (context.job_id, context.subtask_index)
        return writer

    def __reduce__(self) -> Any:
        return SameNames, (None,)


def two_phase(outside: Callable[[], Any], sink: Callable[[Any], Any] = TwoPhaseSink) -> Callable[[], SinkTarget]:
    def make() -> SinkTarget:
        system = outside()
        return SinkTarget(sink(system), lambda: system.values)

    return make


@pytest.mark.slow
def test_a_sink_with_two_phases_is_exactly_once() -> None:
    report = check_sink(two_phase(Outside), seeds=15)
    assert report.runs > 50
    assert {"writer.flush", "committer.commit", "before-publish", "after-commit"} <= report.faults.keys()
    assert report.calls.keys() == {
        "writer.write_batch", "writer.flush", "writer.prepare_commit", "writer.snapshot_state", "committer.commit"
    }  # fmt: skip


def test_a_sink_that_writes_by_key_is_exactly_once() -> None:
    assert "committer.commit" not in check_sink(table(dict), seeds=10).calls


@pytest.mark.slow
def test_a_sink_of_files_is_exactly_once(tmp_path: Path) -> None:
    numbers = itertools.count()

    def make() -> SinkTarget:
        folder = tmp_path / str(next(numbers))
        sink = FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).build()
        # Parts that are not committed are hidden.
        return SinkTarget(sink, lambda: [int(line) for part in folder.glob("[!._]*/[!._]*") for line in part.read_text().split()])

    assert check_sink(make, seeds=5).faults["committer.commit"] > 2


@pytest.mark.parametrize(
    ("make", "guarantee", "problem"),
    [
        (two_phase(Appended), EXACTLY_ONCE, r"exactly-once is broken: .* there too often"),
        (two_phase(Outside, SameNames), EXACTLY_ONCE, r"at-least-once is broken: .* missing"),
        (table(list), EXACTLY_ONCE, r"exactly-once is broken: .* there too often"),
        (table(dict, "keeps the last"), EXACTLY_ONCE, r"at-least-once is broken: .* missing"),
        (table(list, "keeps the last"), AT_LEAST_ONCE, r"at-least-once is broken: .* missing"),
        (table(list, "changes records"), AT_LEAST_ONCE, "there that nobody wrote: 1000"),
    ],
)
def test_flaws_of_sinks_are_found(make: Callable[[], SinkTarget], guarantee: DeliveryGuarantee, problem: str) -> None:
    with pytest.raises(ConformanceError, match=problem) as caught:
        check_sink(make, guarantee=guarantee)
    assert "start with parallelism 2; " in str(caught.value)


def test_a_sink_that_appends_is_at_least_once() -> None:
    check_sink(table(list), guarantee=AT_LEAST_ONCE, seeds=10)


@pytest.mark.slow
def test_a_source_of_numbers_is_exactly_once() -> None:
    check_source(lambda: SourceTarget(NumberSequenceSource(1, 20_000), range(1, 20_001)), seeds=2)


@pytest.mark.parametrize("bounded", [True, False])
def test_a_source_of_partitions_is_exactly_once_and_in_order(bounded: bool) -> None:
    report = check_source(partitions(bounded=bounded), seeds=15)
    assert {"reader.poll", "reader.snapshot_state", "enumerator.add_reader", "enumerator.handle_split_request"} <= report.faults.keys()


@pytest.mark.parametrize(
    ("flaw", "problem"),
    [
        ("goes back", r"exactly-once is broken: .* there too often"),
        ("skips", r"at-least-once is broken: .* missing"),
        ("forgets what is not assigned", r"at-least-once is broken: .* missing"),
        ("mixes records up", "the records of 0 came in the order"),
    ],
)
def test_flaws_of_sources_are_found(flaw: str, problem: str) -> None:
    with pytest.raises(ConformanceError, match=problem):
        check_source(partitions(flaw))


def test_a_failure_of_the_connector_itself_is_reported_with_the_events() -> None:
    def make() -> SinkTarget:
        target = table(dict)()
        target.sink.table = -1  # there is none
        return target

    with pytest.raises(ConformanceError, match=r"the job failed: .*KeyError") as caught:
        check_sink(make)
    assert "the run without failures" in str(caught.value)
