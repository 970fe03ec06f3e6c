"""Loops as programs build them: what goes round, what leaves, what the plan shows, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wiesel.common import Types, WatermarkStrategy
from wiesel.core.errors import ProgramError
from wiesel.datastream import CoMapFunction, KeyedCoProcessFunction, ProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.testing import ManualSource, local_environment


@pytest.mark.parametrize("parallelism", [1, 2])
def test_numbers_go_round_until_they_are_zero(parallelism: int) -> None:
    env = local_environment(parallelism=parallelism)
    loop = env.from_collection(range(10)).iterate()
    less = loop.map(lambda n: n - 1)
    loop.close_with(less.filter(lambda n: n > 0))
    left = env.collect(less.filter(lambda n: n <= 0))
    env.execute()
    assert sorted(left.values) == [-1] + [0] * 9


def test_an_empty_input_ends_the_loop() -> None:
    env = local_environment()
    loop = env.from_collection([], Types.INT()).iterate()
    loop.close_with(loop.map(lambda n: n))
    left = env.collect(loop)
    env.execute()
    assert left.values == []


def test_several_streams_come_back() -> None:
    env = local_environment(parallelism=2)
    loop = env.from_collection([12, 18]).iterate()
    loop.close_with(loop.filter(lambda n: n % 2 == 0).map(lambda n: n // 2))
    loop.close_with(loop.filter(lambda n: n % 3 == 0).map(lambda n: n // 3))
    seen = env.collect(loop)
    env.execute()
    # 12 is divided by 2, 2 and 3 and 18 by 2, 3 and 3 in any order: a number is seen once for each way to it.
    assert sorted(seen.values) == sorted([12, 6, 3, 1, 4, 2, 1, 2, 1, 18, 9, 3, 1, 6, 3, 1, 2, 1])


@pytest.mark.parametrize("seed", range(6))
def test_loops_may_be_nested_and_follow_each_other(seed: int) -> None:
    env = local_environment(parallelism=1 + seed % 2, seed=seed)
    numbers = [5, 3 << 60, 1 << 90]  # long in the inner loop, while nothing is in the outer one
    source: ManualSource = ManualSource()
    outer = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").rebalance().iterate()
    inner = outer.rebalance().iterate()
    halved = inner.map(lambda r: (r[0] // 2, r[1] + 1) if r[0] % 2 == 0 else r)
    inner.close_with(halved.filter(lambda r: r[0] % 2 == 0).rebalance())
    odd = halved.filter(lambda r: r[0] % 2 == 1).rebalance().map(lambda r: (r[0] - 1, r[1] + 1))
    outer.close_with(odd.filter(lambda r: r[0] > 0))
    then = odd.filter(lambda r: r[0] == 0).map(lambda r: r[1]).iterate()
    less = then.map(lambda n: n - 1)
    then.close_with(less.filter(lambda n: n > 0))
    seen = env.collect(less)
    with env.start() as job:
        source.push_all([(n, 0) for n in numbers])
        source.end()
        job.finish()
    # To 0 by halving even numbers and taking 1 off odd ones: one step per binary digit but the first, one more per digit 1.
    steps = [n.bit_length() - 1 + n.bit_count() for n in numbers]
    assert sorted(seen.values) == sorted(left for total in steps for left in range(total))


def test_what_has_no_room_in_memory_waits_in_files() -> None:
    """Each record becomes two, thirteen times over: more than the loop can hold, so that only a disk keeps it from standing still."""
    env = local_environment(parallelism=2, config={"wiesel.iteration.feedback-memory": "1 kb"})
    source: ManualSource = ManualSource()
    loop = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").iterate()
    split = loop.rebalance().flat_map(lambda r: [(r[0] - 1, 2 * r[1]), (r[0] - 1, 2 * r[1] + 1)])
    loop.close_with(split.filter(lambda r: r[0] > 0))
    leaves = env.collect(split.filter(lambda r: r[0] == 0).map(lambda r: r[1]))
    on_disk = 0
    with env.start() as job:
        source.push((13, 0))
        source.end()
        assert job.step(1)
        while job.step(20):
            metrics = [task.task.metrics() for task in job._world.tasks.values()]
            on_disk = max(on_disk, sum(m.get("Iteration Tail.feedbackBytesOnDisk", 0) for m in metrics))
    assert on_disk > 0
    assert sorted(leaves.values) == list(range(2**13))


class Joined(CoMapFunction):
    def map1(self, value: int) -> str:
        return f"new {value}"

    def map2(self, value: str) -> str:
        return f"back {value}"


def test_feedback_of_another_type_comes_by_a_method_of_its_own() -> None:
    env = local_environment()
    loop = env.from_collection([1, 2], Types.INT()).iterate().with_feedback_type(Types.STRING())
    texts = loop.map(Joined(), Types.STRING())
    loop.close_with(texts.filter(lambda t: t.startswith("new")))
    seen = env.collect(texts)
    env.execute()
    assert sorted(seen.values) == ["back new 1", "back new 2", "new 1", "new 2"]


class Countdown(KeyedCoProcessFunction):
    """Adds up what comes for a key; the feedback halves it."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total"))

    def process_element1(self, value: tuple[str, int], ctx: Any) -> Any:
        self.total.update((self.total.value() or 0) + value[1])
        yield value

    def process_element2(self, value: str, ctx: Any) -> Any:
        self.total.update(self.total.value() // 2)
        yield value, self.total.value()


def test_connected_loops_may_be_keyed() -> None:
    env = local_environment(parallelism=2)
    loop = env.from_collection([("a", 8), ("b", 20)]).iterate().with_feedback_type()
    left = loop.key_by(lambda r: r[0], lambda k: k).process(Countdown())
    loop.close_with(left.filter(lambda r: r[1] > 1).map(lambda r: r[0]))
    seen = env.collect(left)
    env.execute()
    assert sorted(seen.values) == sorted([("a", 8), ("a", 4), ("a", 2), ("a", 1), ("b", 20), ("b", 10), ("b", 5), ("b", 2), ("b", 1)])


def test_with_a_time_to_wait_the_loop_ends_when_nothing_comes_back_for_so_long() -> None:
    class Later(ProcessFunction):
        """Never lets go of a record: without a time to wait this loop would have no end."""

        def process_element(self, value: int, ctx: Any) -> Any:
            yield value + 1

    env = local_environment()
    source: ManualSource = ManualSource()
    loop = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").iterate(max_wait_time_ms=500)
    loop.close_with(loop.process(Later()).filter(lambda n: n < 5))
    seen = env.collect(loop)
    with env.start() as job:
        source.push(0)
        job.settle()
        job.advance_processing_time(10_000)
        assert seen.values == [0, 1, 2, 3, 4], "an input that has not ended is waited for"
        source.push(3)
        source.end()
        job.settle()
        job.advance_processing_time(499)
        assert not job.status.is_globally_terminal_state()
        job.advance_processing_time(1)
        job.settle()
        assert job.status.is_globally_terminal_state()
    assert seen.values == [0, 1, 2, 3, 4, 3, 4]


class Times(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_watermarks_do_not_pass_the_feedback_edge_but_timestamps_do() -> None:
    env = local_environment()
    source: ManualSource = ManualSource()
    loop = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").iterate()
    loop.close_with(loop.filter(lambda n: n < 2).map(lambda n: n + 1))
    seen = env.collect(loop.process(Times()))
    with env.start() as job:
        source.push(0, 1000)
        job.settle()
        source.advance_watermark(5000)
        source.push(1, 6000)
        job.settle()
        source.end()
        job.finish()
    first = -(2**63)
    assert seen.values == [(0, 1000, first), (1, 1000, first), (2, 1000, first), (1, 6000, 5000), (2, 6000, 5000)]


def loop_env(env: StreamExecutionEnvironment) -> StreamExecutionEnvironment:
    loop = env.from_collection([1, 2]).iterate()
    less = loop.map(lambda n: n - 1).name("one less")
    loop.close_with(less.filter(lambda n: n > 0)).name("not yet zero")
    less.print()
    return env


def test_the_plan_shows_head_step_tail_and_feedback(env: StreamExecutionEnvironment) -> None:
    nodes = {n["type"]: n for n in json.loads(loop_env(env).get_execution_plan())["nodes"]}
    head = nodes["Iteration Head"]["id"]
    assert nodes["Iteration Head"]["iterations"] == [{"iteration": head, "part": "head"}]
    assert nodes["one less"]["iterations"] == nodes["not yet zero"]["iterations"] == [{"iteration": head, "part": "step"}]
    assert nodes["Iteration Tail"]["iterations"] == [{"iteration": head, "part": "tail", "feedback_to": head}]
    assert [p["id"] for p in nodes["Iteration Tail"]["predecessors"]] == [nodes["not yet zero"]["id"]]
    assert "iterations" not in nodes["Sink: Print to Std. Out"]


def test_the_drawing_has_the_feedback_edge(env: StreamExecutionEnvironment) -> None:
    loop = env.from_collection([1, 2]).iterate()
    less = loop.map(lambda n: n - 1)
    assert "feedback" not in less._repr_html_(), "as long as the loop is open"
    loop.close_with(less)
    drawing = less._repr_html_()
    assert drawing.count(">feedback<") == 1
    assert "Iteration Head" in drawing
    assert "Iteration Tail" in drawing


def test_the_tail_has_the_parallelism_of_the_head(env: StreamExecutionEnvironment) -> None:
    loop = env.from_collection([1, 2]).map(lambda n: n).set_parallelism(3).iterate()
    loop.close_with(loop.map(lambda n: n))
    graph = env._generate_stream_graph()
    assert [n.parallelism for n in graph.nodes.values() if n.operator.kind.startswith("iteration")] == [3, 3]


def test_an_iteration_without_feedback_is_refused() -> None:
    env = local_environment()
    env.from_collection([1]).iterate().map(lambda n: n)
    with pytest.raises(ProgramError, match=r"test_iterations.py:\d+ has no feedback"):
        env.execute()


def test_feedback_must_come_from_the_loop(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1])
    loop = numbers.iterate()
    with pytest.raises(ProgramError, match="not made from the iterative stream"):
        loop.close_with(numbers.map(lambda n: n))
    with pytest.raises(ProgramError, match="not made from the iterative stream"):
        loop.close_with(loop)
    with pytest.raises(ProgramError, match="another environment"):
        loop.close_with(local_environment().from_collection([1]).map(lambda n: n))


def test_feedback_of_another_declared_type_is_refused(env: StreamExecutionEnvironment) -> None:
    loop = env.from_collection([1], Types.INT()).iterate()
    with pytest.raises(ProgramError, match="with_feedback_type"):
        loop.close_with(loop.map(str, Types.STRING()))


def test_batch_mode_has_no_loops(env: StreamExecutionEnvironment) -> None:
    loop_env(env).set_runtime_mode(RuntimeExecutionMode.BATCH)
    with pytest.raises(ProgramError, match="BATCH mode"):
        env.get_execution_plan()


def test_automatic_mode_is_streaming_for_loops(env: StreamExecutionEnvironment) -> None:
    loop_env(env).set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
    assert env._generate_stream_graph().runtime_mode == "STREAMING"
