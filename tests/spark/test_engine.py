"""The engine on Spark as a user meets it: jobs of all shapes, their errors, their ends, time without input, restarts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pydantic
import pytest

from tests.parity.conftest import time_limit
from wiesel.common import Configuration, Encoder, JobStatus, Time, Types, WatermarkStrategy
from wiesel.common.time import Duration
from wiesel.core.errors import JobCancelledError, JobExecutionError, SerializationError
from wiesel.datastream import KeyedProcessFunction, ProcessWindowFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors.base import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.engine.registry import ENVIRONMENT_VARIABLE
from wiesel.graph.execution_graph import build_execution_graph
from wiesel.graph.job_graph import build_job_graph
from wiesel.graph.stage_plan import build_stage_plan

SECONDS = 300
"""A job that hangs fails its test; a busy machine makes everything slow."""

PROMPT_S = 60
"""What has to happen within seconds does so within this on a busy machine, too."""


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with time_limit(SECONDS):
        yield


def environment(parallelism: int = 2, **settings: str) -> StreamExecutionEnvironment:
    options = {"restart-strategy.type": "none", "wiesel.spark.master": "local[64]"}
    options.update({key.replace("__", "-").replace("_", "."): value for key, value in settings.items()})
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    return env.set_parallelism(parallelism)


@dataclass(frozen=True)
class Script:
    """A split: what is emitted, one record per ``pause_ms``, and how far that has come."""

    number: int
    records: tuple[Any, ...]
    position: int = 0

    @property
    def split_id(self) -> str:
        return str(self.number)


class ScriptedSource(Source[Script]):
    """One script per subtask. An endless one is silent behind its last record."""

    def __init__(self, *scripts: Sequence[Any], endless: bool = False, pause_ms: int = 0) -> None:
        self.scripts = [Script(i, tuple(records)) for i, records in enumerate(scripts)]
        self.endless, self.pause_ms = endless, pause_ms

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED if self.endless else Boundedness.BOUNDED

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Script]:
        return Handout(context, self.scripts if state is None else state)

    def create_reader(self, context: Any) -> SourceReader[Script]:
        return ScriptReader(context, self)


class Handout(SplitEnumerator[Script]):
    def __init__(self, context: Any, scripts: Sequence[Script]) -> None:
        self.context, self.scripts = context, list(scripts)

    def add_reader(self, subtask: int) -> None:
        mine = [s for s in self.scripts if s.number == subtask]
        self.scripts = [s for s in self.scripts if s.number != subtask]
        if mine:
            self.context.assign_splits({subtask: mine})
        self.context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return list(self.scripts)


class ScriptReader(SourceReader[Script]):
    def __init__(self, context: Any, source: ScriptedSource) -> None:
        self.context, self.source = context, source
        self.scripts: list[Script] = []
        self.no_more = False
        self.next_ms = 0

    def add_splits(self, splits: Sequence[Script]) -> None:
        self.scripts.extend(splits)

    def notify_no_more_splits(self) -> None:
        self.no_more = True

    def poll(self, output: Any) -> InputStatus:
        now_ms = self.context.now_ms()
        if not self.no_more or now_ms < self.next_ms:
            return InputStatus.NOTHING_AVAILABLE
        self.next_ms = now_ms + self.source.pause_ms
        for i, script in enumerate(self.scripts):
            if script.position < len(script.records):
                output.collect([script.records[script.position]], None, script.split_id)
                self.scripts[i] = replace(script, position=script.position + 1)
        if all(s.position == len(s.records) for s in self.scripts):
            return InputStatus.NOTHING_AVAILABLE if self.source.endless else InputStatus.END_OF_INPUT
        return InputStatus.NOTHING_AVAILABLE if self.source.pause_ms else InputStatus.MORE_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[Script]:
        return list(self.scripts)


def scripted(env: StreamExecutionEnvironment, source: ScriptedSource, strategy: WatermarkStrategy | None = None) -> Any:
    stream = env.from_source(source, strategy or WatermarkStrategy.no_watermarks(), "scripted")
    return stream.set_parallelism(len(source.scripts))


def collected(stream: Any) -> Counter[Any]:
    with stream.execute_and_collect() as results:
        return Counter(results)


# Shapes of jobs


def test_word_count() -> None:
    lines = ["to be or not to be", "that is the question", "be"] * 50
    words = environment().from_collection(lines).flat_map(str.split).map(lambda word: (word, 1))
    counts = words.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    totals = Counter(word for line in lines for word in line.split())
    assert collected(counts) == Counter((word, n) for word, total in totals.items() for n in range(1, total + 1))


def diamond(env: StreamExecutionEnvironment) -> Any:
    """Both arms of a diamond; the short one skips a level and has to be relayed."""
    numbers = env.from_collection(list(range(300))).rebalance().map(lambda n: n)
    long = numbers.key_by(lambda n: n % 7).map(lambda n: ("long", n)).rebalance().map(lambda pair: pair)
    short = numbers.map(lambda n: ("short", n)).set_parallelism(3)
    return long.union(short).key_by(lambda pair: pair[1] % 5).map(lambda pair: (pair[0], pair[1] * 10))


def test_diamond_with_a_skipped_level() -> None:
    env = environment()
    diamond(env).print()
    job = build_job_graph(env._generate_stream_graph())
    (region,) = build_stage_plan(build_execution_graph(job)).regions
    level = {s.vertex: at for at, subtasks in enumerate(region.levels) for s in subtasks}
    assert any(level[e.target_vertex] - level[e.source_vertex] > 1 for e in job.edges), "no edge skips a level"
    assert collected(diamond(environment())) == Counter((arm, n * 10) for arm in ("long", "short") for n in range(300))


def to_files(stream: Any, directory: Path) -> None:
    sink = FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
    stream.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())


def lines_of(directory: Path) -> Counter[str]:
    return Counter(line for p in directory.iterdir() if not p.name.startswith((".", "_")) for line in p.read_text().splitlines())


def test_two_independent_pipelines(tmp_path: Path) -> None:
    env = environment()
    to_files(env.from_collection([1, 2, 3]).map(lambda n: f"left {n}", Types.STRING()), tmp_path / "left")
    right = env.from_collection([4, 5]).key_by(lambda n: n).map(lambda n: f"right {n}", Types.STRING())
    to_files(right, tmp_path / "right")
    env.execute("two pipelines")
    assert lines_of(tmp_path / "left") == Counter(f"left {n}" for n in (1, 2, 3))
    assert lines_of(tmp_path / "right") == Counter(f"right {n}" for n in (4, 5))


@dataclass(frozen=True)
class Order:
    customer: str
    amount: int


def test_records_of_classes_of_the_program() -> None:
    orders = environment().from_collection([Order("a", 3), Order("b", 4), Order("a", 5)])
    doubled = orders.key_by(lambda order: order.customer).map(lambda order: replace(order, amount=order.amount * 2))
    assert collected(doubled) == Counter([Order("a", 6), Order("b", 8), Order("a", 10)])


class Click(msgspec.Struct):
    page: str
    seconds: int = 1


class Visitor(pydantic.BaseModel):
    name: str
    clicks: list[int] = []


class Latest(KeyedProcessFunction):
    """Keeps records of both kinds in state, and makes new ones."""

    def open(self, runtime_context: Any) -> None:
        self.click = runtime_context.get_state(ValueStateDescriptor("click", Click))
        self.visitor = runtime_context.get_state(ValueStateDescriptor("visitor", Visitor))

    def process_element(self, value: Click, ctx: Any) -> Any:
        before = self.click.value() or Click(value.page, 0)
        visitor = self.visitor.value() or Visitor(name=value.page)
        self.click.update(Click(value.page, seconds=before.seconds + value.seconds))
        self.visitor.update(Visitor(name=value.page, clicks=[*visitor.clicks, value.seconds]))
        yield str(self.click.value()), str(self.visitor.value())


def test_structs_and_models_of_the_program_are_made_on_the_workers() -> None:
    clicks = environment(1).from_collection([Click("/", 2), Click("/"), Click("/", 4)])
    latest = clicks.key_by(lambda click: click.page).process(Latest())
    sums, seen = [2, 3, 7], [[2], [2, 1], [2, 1, 4]]
    assert collected(latest) == Counter(
        (f"Click(page='/', seconds={total})", f"name='/' clicks={given}") for total, given in zip(sums, seen, strict=True)
    )


def leaving(value: int) -> int:
    os._exit(3) if value == 3 else None
    return value


@pytest.mark.parametrize("behind", [False, True])
def test_a_process_that_ends_without_a_word_is_named(behind: bool) -> None:
    stream = environment(1).from_collection([1, 2, 3, 4]).key_by(lambda n: n).map(leaving).name("leaving")
    with pytest.raises(JobExecutionError) as raised:
        collected(stream.key_by(lambda n: n).map(lambda n: n) if behind else stream)
    assert re.search(r"the process of task leaving.* \(1/1\) on \S+ ended without reporting an error", str(raised.value)), raised.value
    assert "broke off" not in str(raised.value)


def test_batch_mode_gives_final_results_only() -> None:
    env = environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    numbers = env.from_collection([(n % 3, n) for n in range(100)]).rebalance().map(lambda pair: pair)
    sums = numbers.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert collected(sums) == Counter((key, sum(range(key, 100, 3))) for key in range(3))


def test_a_cached_stream_is_computed_once(tmp_path: Path) -> None:
    env = environment().set_runtime_mode(RuntimeExecutionMode.BATCH)
    calls = tmp_path / "calls"

    def order(number: int) -> Order:
        with calls.open("a") as file:
            file.write(f"{number}\n")
        return Order(f"{number % 3}", number)

    orders = env.from_collection(list(range(2_000)), Types.LONG()).rebalance().map(order).cache()
    expected = Counter(Order(f"{n % 3}", n) for n in range(2_000))
    for _ in range(2):
        assert collected(orders) == expected
    assert len(calls.read_text().splitlines()) == 2_000
    orders.invalidate()
    assert collected(orders) == expected
    assert len(calls.read_text().splitlines()) == 4_000
    env.close()


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_buffer_timeout(timeout_ms: int) -> None:
    env = environment().set_buffer_timeout(timeout_ms)
    assert collected(env.from_collection(list(range(500))).key_by(lambda n: n % 11).map(lambda n: n + 1)) == Counter(range(1, 501))


# Errors


def failing(value: int) -> int:
    if value == 3:
        raise ValueError("three is too much")
    return value


def test_user_exception_comes_with_the_users_line_first() -> None:
    stream = environment().from_collection([1, 2, 3, 4]).key_by(lambda n: n).map(failing)
    with pytest.raises(JobExecutionError) as raised:
        collected(stream)
    text = str(raised.value)
    line = failing.__code__.co_firstlineno + 2
    assert "ValueError: three is too much" in text
    first = re.search(r"([\w.]+\.py):(\d+)", text)
    assert first is not None and first.groups() == ("test_engine.py", str(line)), text
    assert not re.search("py4j|org.apache.spark|SparkContext", text, re.IGNORECASE)


def test_closure_that_cannot_be_shipped_is_named_before_the_start() -> None:
    lock = threading.Lock()
    stream = environment().from_collection([1]).map(lambda n: (lock, n))
    with pytest.raises(SerializationError, match=r"test_engine\.py.*cannot be shipped"):
        stream.execute_and_collect()


@pytest.fixture
def temporary() -> Iterator[str]:
    """Give an empty directory with a short path: the names of sockets in it may not be long."""
    with tempfile.TemporaryDirectory(prefix="t-") as directory:
        yield directory


def program(tmp_path: Path, text: str, temporary: str) -> subprocess.Popen[str]:
    """Start a program in a process and session of its own, with a directory of its own for what is temporary."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    places = {"TMPDIR": temporary, "SPARK_LOCAL_DIRS": temporary, "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary}"}
    return subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, **places, ENVIRONMENT_VARIABLE: str(tmp_path / "jobs")},
    )


def session_of(pid: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def kill_session_of(process: subprocess.Popen[str]) -> None:
    for member in session_of(process.pid):
        with suppress(psutil.NoSuchProcess):  # it has ended since
            member.kill()
    process.wait()


def test_too_few_slots(tmp_path: Path, temporary: str) -> None:
    process = program(
        tmp_path,
        """
        from wiesel.common import Configuration
        from wiesel.datastream import StreamExecutionEnvironment
        config = Configuration.from_dict({"wiesel.spark.master": "local[2]"})
        env = StreamExecutionEnvironment.get_execution_environment(config)
        env.set_parallelism(2)
        env.from_collection([1, 2]).key_by(lambda n: n).map(lambda n: n).print()
        env.execute()
        """,
        temporary,
    )
    try:
        out, _ = process.communicate(timeout=SECONDS)
    finally:
        kill_session_of(process)
    assert process.returncode == 1
    assert re.search(r"the job needs \d slots at the same time, local\[2\] has 2", out), out[-2000:]
    assert "py4j" not in out.lower()


# Ends


def test_cancel_while_the_source_is_silent() -> None:
    env = environment()
    scripted(env, ScriptedSource([1], [2], endless=True)).key_by(lambda n: n).map(lambda n: n).print()
    client = env.execute_async("silent")
    deadline_s = time.monotonic() + SECONDS
    while not all(task["pid"] for task in client.get_job_metrics().result()["tasks"]):
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    started_s = time.monotonic()
    client.cancel()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(PROMPT_S)
    assert client.get_job_status().result() == JobStatus.CANCELED
    assert time.monotonic() - started_s < PROMPT_S


def test_a_task_that_is_stuck_in_user_code_is_killed_when_its_attempt_is_over(tmp_path: Path) -> None:
    stuck, failed, went_on = tmp_path / "stuck", tmp_path / "failed", tmp_path / "went on"

    def trouble(value: str) -> str:
        if value == "sticks" and not stuck.exists():
            stuck.with_suffix(".tmp").write_text(str(os.getpid()))
            stuck.with_suffix(".tmp").rename(stuck)
            time.sleep(600)
        if value == "fails" and not failed.exists():
            while not stuck.exists():
                time.sleep(0.01)
            failed.touch()
            raise RuntimeError("fails once")
        if value == "sticks":
            went_on.touch()
        return value

    env = environment(restart__strategy_type="fixed-delay", restart__strategy_fixed__delay_delay="10 ms", task_cancellation_timeout="1 s")
    scripted(env, ScriptedSource(["sticks"], ["fails"], endless=True)).map(trouble).print()
    client = env.execute_async("stuck")
    while not went_on.exists():
        time.sleep(0.05)
    pid, started_s = int(stuck.read_text()), time.monotonic()
    while psutil.pid_exists(pid):
        assert time.monotonic() - started_s < PROMPT_S, "the process of the first attempt is still there"
        time.sleep(0.05)
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()


def test_ctrl_c_ends_a_silent_job_and_all_its_processes(tmp_path: Path, temporary: str) -> None:
    process = program(
        tmp_path,
        """
        import time
        from wiesel.common import Configuration, WatermarkStrategy
        from wiesel.datastream import StreamExecutionEnvironment
        from wiesel.datastream.connectors.base import Boundedness, InputStatus, Source, SourceReader, SplitEnumerator

        class Silent(Source):
            boundedness = Boundedness.CONTINUOUS_UNBOUNDED
            def create_enumerator(self, context, state=None):
                return Nothing()
            def create_reader(self, context):
                return Mute()

        class Nothing(SplitEnumerator):
            def add_reader(self, subtask):
                pass
            def snapshot_state(self, checkpoint_id):
                return None

        class Mute(SourceReader):
            said = False
            def poll(self, output):
                if not self.said:
                    output.collect(["running"])
                self.said = True
                return InputStatus.NOTHING_AVAILABLE
            def add_splits(self, splits):
                pass
            def snapshot_state(self, checkpoint_id):
                return []

        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_source(Silent(), WatermarkStrategy.no_watermarks(), "silent").key_by(lambda v: v).map(str.upper).print()
        env.execute()
        """,
        temporary,
    )
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "RUNNING" in line:
                break
        assert "RUNNING" in said, said[-2000:]
        started_s = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=PROMPT_S)
        while left := session_of(process.pid):
            assert time.monotonic() - started_s < PROMPT_S, [p.cmdline()[:5] for p in left]
            time.sleep(0.05)
        print(f"ended after {time.monotonic() - started_s:.1f} s")
        assert process.returncode in (1, 130, -signal.SIGINT)
        assert "KeyboardInterrupt" in rest and "py4j" not in rest.lower(), rest[-2000:]
        assert not os.listdir(temporary), "temporary files were left behind"
    finally:
        kill_session_of(process)


# Time without input


class Alarm(KeyedProcessFunction):
    def process_element(self, value: str, ctx: Any) -> None:
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 300)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        yield f"alarm of {ctx.get_current_key()}"


def test_processing_time_timer_fires_without_input() -> None:
    stream = scripted(environment(), ScriptedSource(["a"], endless=True)).key_by(lambda v: v).process(Alarm())
    with stream.execute_and_collect() as results:
        assert next(results) == "alarm of a"


class Count(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[tuple[Any, int, int]]:
        yield key, context.window().start, len(list(elements))


def test_idle_source_lets_windows_fire() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByValue()).with_idleness(Duration.of_millis(300))
    # The second subtask never says anything, and neither does the first one behind its last record.
    source = ScriptedSource([100, 200, 1100, 5000], [], endless=True)
    windows = scripted(environment(), source, strategy).key_by(lambda n: "k").window(TumblingEventTimeWindows.of(Time.seconds(1)))
    with windows.process(Count()).execute_and_collect() as results:
        assert [next(results), next(results)] == [("k", 0, 2), ("k", 1000, 1)]


from wiesel.common.watermark_strategy import TimestampAssigner  # noqa: E402


class ByValue(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


# Checkpoints and restarts


def checkpointed(tmp_path: Path, **settings: str) -> StreamExecutionEnvironment:
    return environment(execution_checkpointing_dir=str(tmp_path / "checkpoints"), execution_checkpointing_interval="100 ms", **settings)


class RunningCount(KeyedProcessFunction):
    """Counts per key; fails once, in the middle of the stream, if a marker is given."""

    def __init__(self, marker: Path | None = None) -> None:
        self.marker = marker

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[str, int], ctx: Any) -> Iterator[tuple[str, int]]:
        if self.marker is not None and value[1] == 60 and not self.marker.exists():
            self.marker.touch()
            raise RuntimeError("fails once")
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


def paced() -> ScriptedSource:
    return ScriptedSource(*([(f"k{n % 5}", n) for n in range(100)] for _ in range(2)), pause_ms=15)


COUNTS = Counter((f"k{k}", n) for k in range(5) for n in range(1, 41))


def test_collect_with_checkpoints(tmp_path: Path) -> None:
    stream = scripted(checkpointed(tmp_path), paced())
    assert collected(stream.key_by(lambda v: v[0]).process(RunningCount())) == COUNTS


def test_function_that_fails_once_with_a_fixed_delay_is_exactly_once(tmp_path: Path) -> None:
    env = checkpointed(
        tmp_path,
        **{
            "restart__strategy_type": "fixed-delay",
            "restart__strategy_fixed__delay_attempts": "1",
            "restart__strategy_fixed__delay_delay": "50 ms",
        },
    )
    marker = tmp_path / "failed"
    assert collected(scripted(env, paced()).key_by(lambda v: v[0]).process(RunningCount(marker))) == COUNTS
    assert marker.exists()
    (attempts,) = (tmp_path / "checkpoints").glob("*/attempts")
    assert [p.name for p in attempts.iterdir()] == ["2"], "the newest one only"


def test_function_that_fails_once_without_restarts_fails_the_job(tmp_path: Path) -> None:
    marker = tmp_path / "failed"
    stream = scripted(checkpointed(tmp_path), paced()).key_by(lambda v: v[0]).process(RunningCount(marker))
    with pytest.raises(JobExecutionError, match="fails once"):
        collected(stream)
    assert marker.exists()


class WaitsForTheOneBeforeLast:
    """A slow map that does not return before the result of the last call but one has arrived downstream."""

    def __init__(self, arrived: Path) -> None:
        self.arrived = str(arrived)

    def __call__(self, value: int) -> int:
        time.sleep(0.1)
        deadline_s = time.monotonic() + SECONDS / 3
        while value > 1 and not Path(self.arrived, str(value - 2)).exists():
            assert time.monotonic() < deadline_s, f"{value - 2} has not arrived"
            time.sleep(0.01)
        return value


@pytest.mark.parametrize("chained", [True, False], ids=["in the source's task", "behind an exchange"])
def test_records_wait_for_no_more_than_the_call_that_runs(chained: bool, tmp_path: Path) -> None:
    env = environment(parallelism=1).set_buffer_timeout(50)
    numbers = env.from_collection(list(range(6)), Types.LONG())
    slow = (numbers if chained else numbers.rebalance()).map(WaitsForTheOneBeforeLast(tmp_path), Types.LONG())

    def arrive(value: int) -> int:
        (tmp_path / str(value)).touch()
        return value

    slow.rebalance().map(arrive, Types.LONG()).filter(lambda value: False).print()
    env.execute("slow calls")
    assert sorted(p.name for p in tmp_path.iterdir()) == list("012345")
