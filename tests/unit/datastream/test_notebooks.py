"""How streams, configurations and results show in a notebook, and the preview of a stream."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wiesel.common import Configuration, JobExecutionResult, JobID, Row, Types, WatermarkStrategy
from wiesel.core.errors import JobExecutionError, ProgramError
from wiesel.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource
from wiesel.datastream.connectors.number_seq import NumberSequenceSource

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)


def texts(html: str, tag: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(html).iter(tag)]


def test_a_preview_has_the_first_records_in_their_order(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection(list(range(100))).map(lambda n: n * n)
    found = stream.preview(n=4)
    assert list(found) == [0, 1, 4, 9]
    assert found[1:3] == [1, 4]
    assert not found.complete


@pytest.mark.parametrize("records", [[], [1, 2, 3]])
def test_a_preview_of_a_short_stream_is_complete(env: StreamExecutionEnvironment, records: list[int]) -> None:
    found = env.from_collection(records, Types.INT()).preview(n=3, seconds=30)
    assert (list(found), found.complete) == (records, True)


def test_a_preview_of_a_stream_that_never_ends_returns_in_time(env: StreamExecutionEnvironment) -> None:
    source = DataGeneratorSource(lambda index: index, 2**62, type_info=Types.LONG())
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "endless")
    assert sorted(numbers.preview(n=5, seconds=60)) == [0, 1, 2, 3, 4]
    started_s = time.monotonic()
    found = numbers.filter(lambda _: False).preview(seconds=0.5)
    assert (list(found), found.complete) == ([], False)
    assert time.monotonic() - started_s < 60  # a busy machine is slow; without the limit it would be for ever


def test_a_preview_runs_nothing_else_and_leaves_the_program_as_it_was(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    env.enable_checkpointing(1000)
    stream = env.from_collection([1, 2])
    stream.map(lambda _: touched.touch()).print()
    plan = env.get_execution_plan()
    assert list(stream.preview()) == [1, 2]
    assert not touched.exists()
    assert env.get_execution_plan() == plan
    assert env.get_checkpoint_interval() == 1000


def test_a_preview_of_a_side_output_and_a_keyed_stream(env: StreamExecutionEnvironment) -> None:
    tag = OutputTag("odd", Types.INT())

    class Split(ProcessFunction):
        def process_element(self, value: int, ctx: ProcessFunction.Context) -> Iterator[object]:
            yield (tag, value) if value % 2 else value

    split = env.from_collection([1, 2, 3], Types.INT()).process(Split(), Types.INT())
    assert list(split.get_side_output(tag).preview()) == [1, 3]
    assert list(split.key_by(lambda n: n).preview()) == [2]


def test_a_function_that_fails_fails_the_preview(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
        env.from_collection([0]).map(lambda n: 1 / n).preview()


@pytest.mark.parametrize("wrong", [{"n": 0}, {"n": 2.5}, {"seconds": 0}, {"seconds": "2"}])
def test_wrong_limits_are_refused(env: StreamExecutionEnvironment, wrong: dict[str, object]) -> None:
    with pytest.raises(ProgramError, match=next(iter(wrong))):
        env.from_collection([1]).preview(**wrong)  # type: ignore[arg-type]


def test_a_preview_shows_fields_as_columns(env: StreamExecutionEnvironment) -> None:
    rows = env.from_collection([Row(n=1, text="<b>")], Types.ROW_NAMED(["n", "text"], [Types.INT(), Types.STRING()]))
    html = rows.preview()._repr_html_()
    assert texts(html, "td") == ["1", "<b>"]
    assert len(texts(html, "th")) == 2
    assert texts(env.from_collection([(1, "a")]).preview()._repr_html_(), "th") == ["f0", "f1"]
    assert texts(env.from_collection(["a"]).preview()._repr_html_(), "td") == ["'a'"]


def test_a_stream_shows_the_operators_before_it(env: StreamExecutionEnvironment) -> None:
    source = env.from_source(NumberSequenceSource(1, 9), WatermarkStrategy.no_watermarks(), "numbers & more").set_parallelism(2)
    left = source.map(lambda n: n).name("left").set_parallelism(2)
    stream = left.union(source.rebalance().filter(bool).name("right").set_parallelism(3)).key_by(lambda n: n)
    source.map(lambda n: n).name("not before it")
    html = stream._repr_html_()
    drawn = texts(html, SVG + "text")
    assert html.startswith("<div><div>KeyedStream of any objects</div>")
    assert source._repr_html_().startswith("<div><div>DataStream of Long</div>")
    assert [name for name in drawn if name in ("Source: numbers & more", "left", "right", "not before it")] == [
        "Source: numbers & more",
        "left",
        "right",
    ]
    assert sorted(t for t in drawn if t.startswith("parallelism")) == ["parallelism 2", "parallelism 2", "parallelism 3"]
    assert {"forward", "rebalance"} <= set(drawn)
    assert any(f"made at {Path(__file__)}" in title or Path(__file__).name in title for title in texts(html, SVG + "title"))


def test_a_configuration_shows_its_settings_but_no_secrets() -> None:
    html = Configuration.from_dict({"parallelism.default": "3", "user.password": "hidden"})._repr_html_()
    assert texts(html, "td") == ["parallelism.default", "3", "user.password", "******"]


def test_the_result_of_a_job_shows_its_facts() -> None:
    job_id = JobID("00" * 16)
    html = JobExecutionResult(job_id, 1234, {"seen": 5}, {"numRecordsIn": 7})._repr_html_()
    assert texts(html, "td") == ["job", str(job_id), "runtime", "1234 ms", "seen", "5", "numRecordsIn", "7"]
