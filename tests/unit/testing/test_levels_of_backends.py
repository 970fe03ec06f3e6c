"""The state backend is set for all jobs, for a job and for an operator: the narrower wins, and restores do not mind."""

import pytest

from tests.unit.testing.programs import add, first
from wiesel.common import Configuration, WatermarkStrategy
from wiesel.core.config import set_process_defaults
from wiesel.datastream import EmbeddedRocksDBStateBackend, HashMapStateBackend, StreamExecutionEnvironment
from wiesel.datastream.functions import KeyedProcessFunction
from wiesel.state_processor._checkpoint import StoredCheckpoint
from wiesel.testing import ManualSource, local_environment

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


class FailsLater(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 100)

    def on_timer(self, timestamp, ctx):
        raise RuntimeError("later")


def backends_in_force(directory, of_job=None, of_operator=None):
    """Run a job until it fails; return the backends by which its operators wrote its newest checkpoint."""
    settings = {
        "wiesel.engine": "local",
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": str(directory),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "none",
        "execution.buffer-timeout.interval": "0 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    if of_job is not None:
        env.set_state_backend(of_job)
    source = ManualSource()
    source.push_all([("a", 1), ("b", 2), ("a", 4)])
    sums = env.from_source(source, NO_WATERMARKS, "numbers").key_by(first).reduce(add).name("sums").uid("sums")
    if of_operator is not None:
        sums.set_state_backend(of_operator)
    sums.key_by(first).process(FailsLater()).name("other").uid("other").print()
    client = env.execute_async()
    with pytest.raises(Exception, match="later"):
        client.get_job_execution_result().result(60)
    stored = StoredCheckpoint.load(f"{directory}/{client.get_job_id()}")
    return {
        operator["name"]: {handle.meta["backend"] for handle in stored.handles(operator["id"])}
        for operator, _ in stored.operators()
        if operator["name"] in ("sums", "other")
    }


def test_b7_the_narrower_setting_wins(tmp_path):
    assert backends_in_force(tmp_path) == {"sums": {"hashmap"}, "other": {"hashmap"}}
    set_process_defaults({"state.backend.type": "lmdb"})
    try:
        assert backends_in_force(tmp_path) == {"sums": {"lmdb"}, "other": {"lmdb"}}
        assert backends_in_force(tmp_path, HashMapStateBackend()) == {"sums": {"hashmap"}, "other": {"hashmap"}}
        found = backends_in_force(tmp_path, HashMapStateBackend(), EmbeddedRocksDBStateBackend())
        assert found == {"sums": {"rocksdb"}, "other": {"hashmap"}}
    finally:
        set_process_defaults({})


@pytest.mark.parametrize(("before", "after"), [("rocksdb", "hashmap"), ("lmdb", "rocksdb"), ("hashmap", "lmdb")])
def test_an_operator_goes_on_with_another_backend(before, after):
    def started(source, backend, restore_from=None):
        env = local_environment(parallelism=2)
        sums = env.from_source(source, NO_WATERMARKS, "numbers").key_by(first).reduce(add).uid("sums").set_state_backend(backend)
        out = env.collect(sums)
        return env.start(restore_from=restore_from), out

    source = ManualSource()
    job, _ = started(source, before)
    with job:
        source.push_all([(i % 7, i) for i in range(30)])
        job.settle()
        snapshot = job.checkpoint()
    source.push_all([(i % 7, i) for i in range(30, 40)])
    job, out = started(source, after, snapshot)
    with job:
        job.finish()
    last = {key: max(total for k, total in out.values if k == key) for key in range(7)}
    assert last == {key: sum(range(key, 40, 7)) for key in range(7)}
