"""What a graph ships to the workers: operators can be made of it, and it does not pull the API in."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = textwrap.dedent(
    """
    import sys
    import cloudpickle
    from wiesel.common import Types, WatermarkStrategy
    from wiesel.datastream import *
    from wiesel.datastream.window import TumblingEventTimeWindows

    class Keyed(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value

    class Plain(ProcessFunction):
        def process_element(self, value, ctx):
            yield value

    class Both(KeyedCoProcessFunction):
        def process_element1(self, value, ctx):
            yield value
        process_element2 = process_element1

    class CoPlain(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield value
        process_element2 = process_element1

    class CoMap(CoMapFunction):
        def map1(self, value):
            return value
        map2 = map1

    class CoFlatMap(CoFlatMapFunction):
        def flat_map1(self, value):
            return [value]
        flat_map2 = flat_map1

    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
    pairs = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = pairs.key_by(lambda v: v[0], Types.STRING())
    timed = pairs.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    plain = timed.process(Plain())
    plain.get_side_output(OutputTag("t", Types.INT()))
    plain.map(str).flat_map(list).filter(bool).print()
    pairs.project(0).rebalance().partition_custom(lambda k, n: k % n, hash).print("x")
    for stream in (keyed.map(str), keyed.flat_map(list), keyed.filter(bool), keyed.sum(1), keyed.reduce(max), keyed.process(Keyed())):
        stream.print()
    keyed.window(TumblingEventTimeWindows.of(5)).reduce(max)
    timed.window_all(TumblingEventTimeWindows.of(5)).reduce(max)
    pairs.key_by(lambda v: v[1], Types.FLOAT()).max_by(1)
    two = pairs.connect(pairs)
    for connected in (two, two.key_by(lambda v: v[0], lambda v: v[0])):
        connected.map(CoMap())
        connected.flat_map(CoFlatMap())
        connected.process(CoPlain())
    two.key_by(lambda v: v[0], lambda v: v[0]).process(Both())
    graph = env._generate_stream_graph()
    operators = [(n.operator.kind, n.operator.params, n.operator.payload) for n in graph.nodes.values()]
    with open(sys.argv[1], "wb") as file:
        cloudpickle.dump((operators, [e.partitioner for e in graph.edges]), file)
    """
)

WORKER = textwrap.dedent(
    """
    import pickle, sys
    from wiesel.runtime.registry import make_operator
    with open(sys.argv[1], "rb") as file:
        operators, partitioners = pickle.load(file)
    kinds = {kind for kind, _, _ in operators}
    for operator in operators:
        make_operator(*operator)
    print(sorted(kinds))
    print(sorted({p.kind for p in partitioners}))
    print([m for m in sys.modules if m.startswith(("wiesel.datastream", "wiesel.engine", "wiesel.graph.job_graph"))])
    """
)


def test_operators_are_made_in_another_process_without_the_api(tmp_path: Path) -> None:
    shipped = str(tmp_path / "shipped")
    for code in (PROGRAM, WORKER):
        run = subprocess.run([sys.executable, "-c", code, shipped], capture_output=True, text=True, timeout=150, check=False)
        assert run.returncode == 0, run.stderr
    kinds, partitioners, modules = run.stdout.splitlines()
    assert kinds == str(
        sorted(
            "map flat_map filter project convert timestamps process keyed_process keyed_map keyed_flat_map keyed_filter keyed_reduce "
            "co_map co_flat_map co_process keyed_co_process window source sink".split()
        )
    )
    assert partitioners == "['custom', 'forward', 'hash']"
    assert modules == "[]"
