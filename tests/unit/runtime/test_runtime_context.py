"""What functions learn about their subtask."""

from __future__ import annotations

from tests.unit.runtime.harness import OperatorHarness
from wiesel.runtime.operators.stateless import map_operator
from wiesel.spi.functions import MapFunction


class Tells(MapFunction):
    def open(self, runtime_context):
        c = runtime_context
        self.facts = {
            "name": c.get_task_name(),
            "with subtasks": c.get_task_name_with_subtasks(),
            "parallelism": c.get_number_of_parallel_subtasks(),
            "max": c.get_max_number_of_parallel_subtasks(),
            "index": c.get_index_of_this_subtask(),
            "attempt": c.get_attempt_number(),
            "parameter": c.get_job_parameter("region", "none"),
            "default": c.get_job_parameter("missing", "none"),
        }
        self.counter = c.get_metrics_group().counter("mapped")

    def map(self, value):
        self.counter.inc(2)
        return self.facts


def test_the_runtime_context_tells_about_the_subtask():
    harness = OperatorHarness(
        map_operator,
        payload={"function": Tells()},
        name="MyTask",
        parallelism=6,
        subtask_index=2,
        max_parallelism=64,
        attempt=3,
        job_parameters={"region": "north"},
    )
    harness.push(["x"])
    assert harness.values == [
        {
            "name": "MyTask",
            "with subtasks": "MyTask (3/6)#3",
            "parallelism": 6,
            "max": 64,
            "index": 2,
            "attempt": 3,
            "parameter": "north",
            "default": "none",
        }
    ]
    assert harness.metrics.value("mapped") == 2
