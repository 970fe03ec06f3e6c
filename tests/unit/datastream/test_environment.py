"""Settings of the environment, and the jobs it starts. Defaults and what is refused are those of PyFlink 2.3."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.datastream.conftest import FakeEngine
from wiesel.common import Configuration, Duration, JobExecutionResult, RestartStrategies, Row, Types
from wiesel.core import hooks
from wiesel.core.config import set_process_defaults
from wiesel.core.errors import ConfigurationError, ProgramError
from wiesel.datastream import (
    CheckpointConfig,
    CheckpointingMode,
    EmbeddedLMDBStateBackend,
    EmbeddedRocksDBStateBackend,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemorySize,
    RuntimeExecutionMode,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)


def new(settings: dict[str, Any] | None = None) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(None if settings is None else Configuration.from_dict(settings))


def test_defaults() -> None:
    env = new()
    cores, unset = env.get_default_local_parallelism(), -1
    assert (env.get_parallelism(), env.get_max_parallelism()) == (cores, unset)
    assert (env.get_buffer_timeout(), env.get_checkpoint_interval()) == (100, unset)
    assert env.is_chaining_enabled()
    assert env.is_chaining_of_operators_with_different_max_parallelism_enabled()
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert env.get_default_savepoint_directory() is None


def test_settings_and_options_are_the_same() -> None:
    env = new({"parallelism.default": "3", "pipeline.max-parallelism": 12, "execution.checkpointing.interval": "2 s"})
    assert (env.get_parallelism(), env.get_max_parallelism(), env.get_checkpoint_interval()) == (3, 12, 2000)
    env.set_parallelism(4).set_max_parallelism(20).set_buffer_timeout(7).disable_operator_chaining()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH).set_default_savepoint_directory("/s")
    settings = env._config.to_dict()
    assert settings["parallelism.default"] == "4"
    assert settings["pipeline.max-parallelism"] == "20"
    assert settings["execution.runtime-mode"] == "BATCH"
    assert settings["pipeline.operator-chaining.enabled"] == "false"
    assert env.get_default_savepoint_directory() == settings["execution.checkpointing.savepoint-dir"] == "/s"
    assert (env.get_buffer_timeout(), env.set_buffer_timeout(-1).get_buffer_timeout(), env.set_buffer_timeout(0).get_buffer_timeout()) == (
        7,
        -1,
        0,
    )
    assert env.set_parallelism(-1).get_parallelism() == env.get_default_local_parallelism()


def test_the_program_wins_over_the_command_line() -> None:
    set_process_defaults({"parallelism.default": "5", "pipeline.name": "cli"})
    try:
        env = new({"parallelism.default": "6"})
        assert (env.get_parallelism(), env._config.get("pipeline.name")) == (6, "cli")
        assert new().get_parallelism() == 5
        assert new().set_parallelism(7).get_parallelism() == 7
    finally:
        set_process_defaults({})


def test_configure_takes_over_settings_also_under_older_names() -> None:
    env = new({"state.backend.type": "hashmap"})
    config = env.get_checkpoint_config()
    env.configure(Configuration.from_dict({"state.backend": "lmdb", "execution.checkpointing.interval": "1 s"}))
    assert config.get_checkpoint_interval() == 1000
    assert env.get_state_backend().option_value == "lmdb"


def test_checkpoint_settings() -> None:
    env = new()
    config = env.get_checkpoint_config()

    def shown() -> tuple[Any, ...]:
        return (
            config.is_checkpointing_enabled(),
            config.get_checkpointing_mode().name,
            config.get_checkpoint_interval(),
            config.get_tolerable_checkpoint_failure_number(),
            config.is_externalized_checkpoints_enabled(),
            config.is_unaligned_checkpoints_enabled(),
            config.is_fail_on_checkpointing_errors(),
        )

    # Each line as PyFlink 2.3 shows it.
    assert shown() == (False, "AT_LEAST_ONCE", -1, 0, False, False, True)
    config.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE)
    assert shown() == (False, "AT_LEAST_ONCE", -1, 0, False, False, True)
    env.enable_checkpointing(1000)
    assert shown() == (True, "EXACTLY_ONCE", 1000, 0, False, False, True)
    config.enable_unaligned_checkpoints()
    assert shown() == (True, "EXACTLY_ONCE", 1000, 0, False, True, True)
    env.enable_checkpointing(1000, CheckpointingMode.AT_LEAST_ONCE)
    assert shown() == (True, "AT_LEAST_ONCE", 1000, 0, False, False, True)
    config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
    assert shown() == (True, "AT_LEAST_ONCE", 1000, 0, True, False, True)
    config.set_fail_on_checkpointing_errors(False)
    assert shown() == (True, "AT_LEAST_ONCE", 1000, 2147483647, True, False, False)
    assert (config.get_checkpoint_timeout(), config.get_min_pause_between_checkpoints(), config.get_max_concurrent_checkpoints()) == (
        600000,
        0,
        1,
    )
    config.set_checkpoint_timeout(20).set_min_pause_between_checkpoints(30).set_max_concurrent_checkpoints(
        3
    ).set_force_unaligned_checkpoints()
    assert (config.get_checkpoint_timeout(), config.get_min_pause_between_checkpoints(), config.get_max_concurrent_checkpoints()) == (
        20,
        30,
        3,
    )
    assert env.is_force_unaligned_checkpoints()
    config.set_alignment_timeout(Duration.of_seconds(3))
    assert config.get_aligned_checkpoint_timeout().to_millis() == 3000
    assert isinstance(CheckpointConfig(env._config).get_checkpoint_storage(), type(None))
    config.set_checkpoint_storage_dir("file:///tmp/x")
    assert env._config.get("state.checkpoints.dir") == "file:///tmp/x"
    storage = config.set_checkpoint_storage(JobManagerCheckpointStorage()).get_checkpoint_storage()
    assert isinstance(storage, JobManagerCheckpointStorage)


def test_storages_have_flinks_defaults() -> None:
    files, memory = FileSystemCheckpointStorage("file:///tmp/x"), JobManagerCheckpointStorage()
    assert (files.get_checkpoint_path(), files.get_min_file_size_threshold(), files.get_write_buffer_size()) == (
        "file:///tmp/x",
        20480,
        4096,
    )
    assert str(memory) == "JobManagerCheckpointStorage (checkpoints to JobManager) ( maxStateSize: 5242880)"
    assert FileSystemCheckpointStorage("file:///tmp/x", 5, 3).get_write_buffer_size() == 3


def test_state_backends() -> None:
    env = new()
    assert isinstance(env.get_state_backend(), HashMapStateBackend)
    env.set_state_backend(EmbeddedRocksDBStateBackend())
    assert env._config.get("state.backend.type") == "rocksdb"
    assert isinstance(env.get_state_backend(), EmbeddedRocksDBStateBackend)
    stream = env.from_collection([1]).map(lambda x: x).set_state_backend("hashmap").set_state_backend(EmbeddedLMDBStateBackend())
    assert stream._operator("").node.state_backend == "lmdb"
    with pytest.raises(ConfigurationError, match="no state backend 'nonsense'"):
        stream.set_state_backend("nonsense")
    with pytest.raises(ProgramError, match="the state backend"):
        stream.set_state_backend(7)
    assert env.is_changelog_state_backend_enabled() is None
    assert env.enable_changelog_state_backend(True).is_changelog_state_backend_enabled() is True


def test_slot_sharing_groups() -> None:
    empty = SlotSharingGroup.builder("g").build()
    full = SlotSharingGroup.builder("g").set_cpu_cores(1.0).set_task_heap_memory_mb(5).build()
    assert (empty.get_cpu_cores(), empty == SlotSharingGroup.builder("g").build(), empty == full) == (None, True, False)
    managed = full.get_managed_memory()
    assert managed is not None
    assert (full.get_task_heap_memory(), managed.get_bytes(), full.get_external_resources()) == (MemorySize.of_mebi_bytes(5), 0, {})
    assert new().register_slot_sharing_group(full)._slot_sharing_groups == {"g": full}


def test_files_for_the_workers() -> None:
    env = new()
    env.add_python_file("a.py")
    env.add_python_file("b.py")
    env.add_python_archive("x.zip")
    env.add_python_archive("y.zip", "data")
    env.set_python_requirements("r.txt", "cache")
    env.set_python_executable("python3")
    env.register_cached_file("/f", "f")
    env.register_cached_file("/g", "g", True)
    env.add_jars("file:///a.jar")
    env.add_jars("file:///b.jar")
    settings = env._config.to_dict()
    assert settings["python.files"] == "b.py,a.py"
    assert settings["python.archives"] == "x.zip,y.zip#data"
    assert settings["python.requirements"] == "r.txt#cache"
    assert env._config.get("pipeline.cached-files") == ["name:f,path:/f,executable:false", "name:g,path:/g,executable:true"]
    assert settings["pipeline.jars"] == "file:///a.jar;file:///b.jar"


def test_restart_strategy() -> None:
    env = new()
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(3, 50))
    assert env._config.get("restart-strategy.fixed-delay.attempts") == 3


def test_execute_runs_what_was_added_since_the_last_one(engine: FakeEngine) -> None:
    env = new()
    # The shape of PyFlink's example basic_operations.py.
    source = env.from_collection([(1, "x")], Types.ROW_NAMED(["id", "info"], [Types.INT(), Types.STRING()]))
    mapped = source.map(lambda row: row.id)
    mapped.print("a")
    assert isinstance(env.execute("first"), JobExecutionResult)
    source.filter(lambda row: row.id == 1).map(str).print("b")
    env.execute()
    mapped.print("c")
    env.execute_async("third").get_job_execution_result().result()

    def ran(graph: Any) -> list[tuple[int, str]]:
        return [(n.id, n.name) for n in graph.nodes.values()]

    sink = "Sink: Print to Std. Out"
    assert [ran(g) for g in engine.graphs] == [
        [(1, "Source: Collection Source"), (2, "Map"), (3, sink)],
        [(1, "Source: Collection Source"), (4, "Filter"), (5, "Map"), (6, sink)],
        [(1, "Source: Collection Source"), (2, "Map"), (7, sink)],
    ]
    assert [g.job_name for g in engine.graphs] == ["first", "Flink Streaming Job", "third"]


def test_the_engine_gets_settings_that_do_not_change(engine: FakeEngine) -> None:
    env = new({"pipeline.name": "named"}).set_parallelism(3).set_buffer_timeout(5)
    env.from_collection([1]).print()
    env.execute()
    env.set_parallelism(9)
    (graph,), (config,) = engine.graphs, engine.configs
    assert (graph.job_name, graph.default_parallelism, graph.buffer_timeout_ms, graph.runtime_mode) == ("named", 3, 5, "STREAMING")
    assert (graph.default_max_parallelism, graph.chaining_enabled) == (None, True)
    assert config.get("parallelism.default") == 3
    assert graph.config["parallelism.default"] == "3"


def test_plan_only(engine: FakeEngine) -> None:
    env = new()
    env.from_collection([1]).print()
    plan = env.get_execution_plan()
    hooks.set_plan_only(True)
    try:
        with pytest.raises(hooks.PlanReady) as caught:
            env.execute()
    finally:
        hooks.set_plan_only(False)
    assert (caught.value.plan, engine.graphs) == (plan, [])


def test_ctrl_c_cancels_the_job_and_is_passed_on(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    env = new()
    env.from_collection([1]).print()
    engine.finishes = False
    waited = []

    def interrupted(self: Any, timeout_s: float | None = None) -> Any:
        waited.append(timeout_s)
        if len(waited) == 1:
            raise KeyboardInterrupt
        return original(self, timeout_s)

    from wiesel.common import CompletableFuture

    original = CompletableFuture.result
    monkeypatch.setattr(CompletableFuture, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        env.execute()
    assert engine.handles[0].cancels == 1
    assert len(waited) == 2


def test_elements_get_their_declared_type() -> None:
    stream = new().from_collection([("a", 1)], Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()]))
    source = stream._operator("").node.operator.payload["source"]
    assert source._splits(1)[0].end == 1
    import cloudpickle

    assert cloudpickle.loads(source._chunks[0]) == [Row(name="a", n=1)]
