"""The driver program of ``test_local_cluster.py``: what a cluster of two executors gives, as lines of JSON.

usage: cluster_program.py MASTER [PROGRAM:VARIANT ...]
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ["PYSPARK_PYTHON"] = sys.executable

import cluster_witness
from cluster_witness import DIRECTORY

from tests.differential.canonical import multiset
from tests.differential.programs_loader import collect, load
from tests.servers.counting import serve
from wiesel.common import Configuration, JobClient, WatermarkStrategy
from wiesel.core import hooks
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import MapFunction, RuntimeContext, RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.engine.spark.slots import most_slots
from wiesel.platform import pyflink_hook

LIMIT_S = 300
SHORT_S = 2


def environment(master: str, parallelism: int, **options: str) -> StreamExecutionEnvironment:
    settings = {
        "wiesel.spark.master": master,
        "restart-strategy.type": "none",
        "python.pythonpath": str(Path(cluster_witness.__file__).parent),
        # Spark is ready when both executors are there; else a first job would find room on one of them.
        "spark.cores.max": str(most_slots(master)),
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{LIMIT_S}s",
        **options,
    }
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(parallelism)


def run_program(master: str, name: str, variant: str) -> dict[str, Any]:
    mode, _, parallelism = variant.partition("-p")
    env = environment(master, int(parallelism))
    env.set_runtime_mode(RuntimeExecutionMode[mode.upper()])
    clients: list[JobClient] = []
    submit = env.execute_async
    env.execute_async = lambda name=None: clients.append(submit(name)) or clients[-1]  # type: ignore[assignment, func-returns-value]
    records = multiset(collect(load(name).build(env)))
    tasks = clients[0].get_job_metrics().result()["tasks"]
    executors = [int(Path(os.environ[DIRECTORY], str(task["pid"])).read_text()) for task in tasks]
    return {"program": name, "records": records, "executors": executors}


def wait_for_slots(master: str) -> dict[str, Any]:
    """Run jobs that are too large for the slots that a first one leaves: one gives up, one waits until it has ended."""
    env = environment(master, 5)
    numbers(env, 1 << 31)
    first = env.execute_async("first")
    deadline_s = time.monotonic() + LIMIT_S
    while not all(task["pid"] for task in first.get_job_metrics().result()["tasks"]):
        assert time.monotonic() < deadline_s, "the first job does not run"
        time.sleep(0.05)
    impatient = second(master, "impatient", f"{SHORT_S} s")
    try:
        impatient.get_job_execution_result().result(LIMIT_S)
    except JobExecutionError as error:
        refusal = {"message": str(error), "cause": type(error.__cause__).__name__}
    patient = second(master, "patient", f"{LIMIT_S} s")
    time.sleep(1)  # what has not begun by then waits; on a slow machine it has just not begun
    waited = [task["pid"] for task in patient.get_job_metrics().result()["tasks"]]
    first.cancel().result()
    patient.get_job_execution_result().result(LIMIT_S)
    return {"refusal": refusal, "before": waited, "status": patient.get_job_status().result().name}


class Reads(MapFunction):
    """Reads a text, from the distributed cache or, if it has an address, from there."""

    def __init__(self, address: str | None) -> None:
        self.address = address

    def open(self, runtime_context: RuntimeContext) -> None:
        if self.address is None:
            self.text = Path(runtime_context.get_distributed_cache().get_file("text")).read_text()
        else:
            with urlopen(self.address) as file:
                self.text = file.read().decode()

    def map(self, value: int) -> str:
        return self.text


def count_reads(master: str) -> dict[str, Any]:
    """Run jobs whose tasks, on both executors, read a file of a server: by the distributed cache, and each for itself."""
    found: dict[str, Any] = {}
    with serve(text=b"served") as served:
        for way in ("cached", "direct"):
            env = environment(master, 5)
            address = f"{served.address}/text"
            if way == "cached":
                env.register_cached_file(address, "text")
            source = DataGeneratorSource(lambda n: n, 20, RateLimiterStrategy.no_op())
            stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").rebalance()
            texts = collect(stream.map(Reads(None if way == "cached" else address)))
            found[way] = {"texts": sorted(set(texts)), "reads": served.reads.pop("text", 0)}
    return {"reads": found}


def second(master: str, name: str, timeout: str) -> JobClient:
    env = environment(master, 4, **{"slot.request.timeout": timeout})
    numbers(env, 100)
    return env.execute_async(name)


def numbers(env: StreamExecutionEnvironment, count: int) -> None:
    source = DataGeneratorSource(lambda n: n, count, RateLimiterStrategy.per_second(50))
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").key_by(lambda n: n % 7).map(lambda n: n).print()


def main(master: str, programs: list[str]) -> None:
    pyflink_hook.install()
    hooks.add_worker_initializer("cluster_witness:note")
    for given in programs:
        name, _, variant = given.partition(":")
        print(json.dumps(run_program(master, name, variant)), flush=True)
    print(json.dumps(count_reads(master)), flush=True)
    print(json.dumps(wait_for_slots(master)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
