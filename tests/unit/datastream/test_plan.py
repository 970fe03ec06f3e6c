"""The execution plan: Flink's JSON, the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from wiesel.common import Types
from wiesel.datastream import StreamExecutionEnvironment

PROGRAM = """
from wiesel.common import Types, WatermarkStrategy
from wiesel.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.window import TumblingEventTimeWindows
from wiesel.graph.job_graph import build_job_graph
import json

class Split(ProcessFunction):
    def process_element(self, value, ctx):
        yield value

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
source = env.from_collection([{"a": {1, 2}}, {"b": {3}}])
tags = [OutputTag(t) for t in "xyz"]
split = source.process(Split())
sides = [split.get_side_output(t) for t in tags]
united = sides[0].union(*sides[1:])
united.key_by(str).sum().print()
united.rebalance().window_all(TumblingEventTimeWindows.of(5)).reduce(max).print("w")
print(env.get_execution_plan())
print(json.dumps(build_job_graph(env._generate_stream_graph()).describe()))
"""


def test_plan_has_the_form_of_flinks(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    stream.project(0).print()
    stream.rescale().map(lambda x: x).shuffle().map(lambda x: x).broadcast().map(lambda x: x).rebalance().map(str).set_parallelism(3)
    plan = json.loads(env.get_execution_plan())

    # What PyFlink 2.3 has for the same program; ids differ, as it counts partitionings too.
    def shape(node: dict[str, Any]) -> tuple[Any, ...]:
        strategies = [(p["ship_strategy"], p["side"]) for p in node.get("predecessors", [])]
        return node["type"], node["pact"], node["contents"], node["parallelism"], strategies

    assert list(map(shape, plan["nodes"])) == [
        ("Source: Collection Source", "Data Source", "Source: Collection Source", 1, []),
        ("Projection", "Operator", "Projection", 2, [("REBALANCE", "second")]),
        ("Sink: Print to Std. Out", "Data Sink", "Sink: Print to Std. Out", 2, [("FORWARD", "second")]),
        ("Map", "Operator", "Map", 2, [("RESCALE", "second")]),
        ("Map", "Operator", "Map", 2, [("SHUFFLE", "second")]),
        ("Map", "Operator", "Map", 2, [("BROADCAST", "second")]),
        ("Map", "Operator", "Map", 3, [("REBALANCE", "second")]),
    ]
    assert [[p["id"] for p in n.get("predecessors", [])] for n in plan["nodes"]] == [[], [1], [2], [1], [4], [5], [6]]


def test_the_same_program_gives_the_same_plan_in_every_process() -> None:
    plans = set()
    for seed in ("0", "1", "4711"):
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=150,
            check=True,
        )
        plans.add(run.stdout)
    assert len(plans) == 1


def test_making_a_plan_runs_nothing_and_keeps_the_program(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).print()
    assert env.get_execution_plan() == env.get_execution_plan()


def test_importing_the_api_needs_neither_spark_nor_an_engine() -> None:
    code = "import sys, wiesel.datastream; print(sorted(m for m in sys.modules if m.startswith(('pyspark', 'py4j', 'wiesel.engine'))))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150, check=True)
    assert run.stdout.strip() == "[]"
