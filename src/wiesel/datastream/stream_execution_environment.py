"""The stream execution environment, which builds and starts jobs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from wiesel.common.execution_config import ExecutionConfig
from wiesel.common.job_client import JobClient
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.restart_strategy import RestartStrategyConfiguration
from wiesel.connectors.collection import collection_source
from wiesel.core import hooks, options
from wiesel.core.argument_checks import require_built, require_count, require_instance
from wiesel.core.config import ConfigOption, Configuration, process_defaults
from wiesel.core.durations import Duration
from wiesel.core.parallelism import default_parallelism, local_default_parallelism, set_local_default_parallelism
from wiesel.core.unpicklable import StaysInProgram
from wiesel.core.user_location import program_error, user_location
from wiesel.datastream import job_execution as _execution
from wiesel.datastream._cached_stream import StreamCaches
from wiesel.datastream._no_java import NoJavaObjects
from wiesel.datastream._operator_settings import MAX_PARALLELISM_LIMIT
from wiesel.datastream._plan import execution_plan_json
from wiesel.datastream._stream import DataStream
from wiesel.datastream.checkpoint_config import CheckpointConfig
from wiesel.datastream.checkpointing_mode import CheckpointingMode
from wiesel.datastream.execution_mode import RuntimeExecutionMode
from wiesel.datastream.slot_sharing_group import SlotSharingGroup
from wiesel.datastream.state_backend import EmbeddedLMDBStateBackend, EmbeddedRocksDBStateBackend, HashMapStateBackend, StateBackend
from wiesel.graph.specs import OperatorSpec, StreamGraph, StreamNode
from wiesel.graph.transformations import GraphSettings, OperatorTransformation, Transformation, build_stream_graph
from wiesel.spi.source import Boundedness, Source
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.types.record_type import T
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["StreamExecutionEnvironment"]

_DEFAULT_JOB_NAME = "Flink Streaming Job"
_PARALLELISM_DEFAULT = -1


class StreamExecutionEnvironment(NoJavaObjects, StaysInProgram):
    """The entry point of programs: creates sources, holds settings and runs jobs.

    A program may run several jobs: each ``execute`` runs the sinks and operators added since the last one, with all of their inputs.
    Settings are options of the environment's configuration, in increasing precedence: those of the command line (``-D``), those given to
    :meth:`get_execution_environment`, those set by methods.

    Args:
        configuration: Initial settings; methods change them.
    """

    _use_instead = "read what the function needs before, as in parallelism = env.get_parallelism(), and use that variable in it"

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._config = Configuration() if configuration is None else configuration
        self._execution_config = ExecutionConfig(self._config)
        self._transformations: list[OperatorTransformation] = []
        self._last_id = 0
        self._collects = 0
        self._stream_caches = StreamCaches(self)
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """Return a new environment.

        Args:
            configuration: Settings, which override those of the command line.
        """
        if configuration is not None:
            require_instance(configuration, Configuration, "the configuration", "make one with wiesel.common.Configuration()")
        settings = Configuration.from_dict(process_defaults())
        return StreamExecutionEnvironment(settings if configuration is None else settings.merged(configuration))

    # Settings of the job.

    def get_config(self) -> ExecutionConfig:
        """Return the execution configuration, which reads and writes the same settings."""
        return self._execution_config

    def configure(self, configuration: Configuration) -> None:
        """Add all settings of a configuration."""
        require_instance(configuration, Configuration, "the configuration", "make one with wiesel.common.Configuration()")
        merged = self._config.merged(configuration)
        for key in set(self._config) - set(merged):
            self._config.remove_config(key)
        self._config.add_all(configuration)

    def _set(self, option: ConfigOption[Any], value: Any) -> StreamExecutionEnvironment:
        self._config.set(option, value)
        return self

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set the parallelism of operators created from now on; -1 resets it to the default."""
        if parallelism != _PARALLELISM_DEFAULT:
            require_count(parallelism, "parallelism")
        self._execution_config.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return the default parallelism of operators.

        If it is not set, this is the number of cores for local jobs, and 1 on a cluster.
        """
        return default_parallelism(self._config)

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set the number of key groups (1 to 32768): the largest parallelism that keyed state can be rescaled to."""
        return self._set(options.MAX_PARALLELISM, require_count(max_parallelism, "max parallelism", maximum=MAX_PARALLELISM_LIMIT))

    def get_max_parallelism(self) -> int:
        """Return the number of key groups; -1 if it follows from the parallelism."""
        return self._config.get(options.MAX_PARALLELISM)

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Set the runtime mode: streaming, or stage by stage."""
        require_instance(execution_mode, RuntimeExecutionMode, "the runtime mode", "e.g. RuntimeExecutionMode.STREAMING")
        return self._set(options.RUNTIME_MODE, execution_mode.name)

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """Set the buffer timeout in ms; 0 sends each record immediately, -1 only full buffers."""
        require_count(timeout_millis, "the buffer timeout", minimum=-1)
        self._set(options.BUFFER_TIMEOUT_ENABLED, timeout_millis >= 0)
        return self if timeout_millis < 0 else self._set(options.BUFFER_TIMEOUT, Duration.of_millis(timeout_millis))

    def get_buffer_timeout(self) -> int:
        """Return the buffer timeout in ms; -1 for none."""
        return int(self._config.get(options.BUFFER_TIMEOUT).to_millis()) if self._config.get(options.BUFFER_TIMEOUT_ENABLED) else -1

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Run every operator in a separate task; for debugging."""
        return self._set(options.OPERATOR_CHAINING, False)

    def is_chaining_enabled(self) -> bool:
        """Return whether operators are chained where possible."""
        return self._config.get(options.OPERATOR_CHAINING) and self._config.get(options.PYTHON_OPERATOR_CHAINING)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return True: the minimum of the maximum parallelisms of a chain applies to all of it."""
        return True

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> StreamExecutionEnvironment:
        """Create a slot sharing group known with its resources, so that operators can name it."""
        require_instance(slot_sharing_group, SlotSharingGroup, "the slot sharing group", "make one with SlotSharingGroup.builder(name)")
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    def get_default_local_parallelism(self) -> int:
        """Return the default parallelism of local jobs: the number of cores, or the set value."""
        return local_default_parallelism()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the default parallelism of local jobs, for environments created from now on."""
        require_count(parallelism, "parallelism")
        self._config.set(options.PARALLELISM_DEFAULT, self.get_parallelism())
        set_local_default_parallelism(parallelism)

    # Checkpoints and state.

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the checkpoint settings."""
        return CheckpointConfig(self._config)

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> StreamExecutionEnvironment:
        """Take a checkpoint every ``interval`` ms (10 or more), EXACTLY_ONCE unless another mode is set."""
        checkpoints = self.get_checkpoint_config().set_checkpoint_interval(interval)
        if mode is not None:
            checkpoints.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the interval of checkpoints in ms; -1 if there are none."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the checkpointing mode."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return the checkpointing mode."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are unaligned."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether unaligned checkpoints are used also where they are avoided by default."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def set_state_backend(self, state_backend: StateBackend) -> StreamExecutionEnvironment:
        """Set the state backend, like the option ``state.backend.type``."""
        require_instance(state_backend, StateBackend, "the state backend", "e.g. HashMapStateBackend()")
        return self._set(options.STATE_BACKEND, state_backend.option_value)

    def get_state_backend(self) -> StateBackend:
        """Return the state backend."""
        kinds: dict[str, type[StateBackend]] = {"hashmap": HashMapStateBackend, "rocksdb": EmbeddedRocksDBStateBackend}
        return kinds.get(str(self._config.get(options.STATE_BACKEND)), EmbeddedLMDBStateBackend)()

    def enable_changelog_state_backend(self, enabled: bool) -> StreamExecutionEnvironment:
        """Accept the setting; checkpoints are incremental in any case."""
        self._config.set("state.changelog.enabled", bool(enabled))
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Return the set value, None if not set."""
        key = "state.changelog.enabled"
        return self._config.get_boolean(key, False) if self._config.contains_key(key) else None

    def set_default_savepoint_directory(self, directory: str) -> StreamExecutionEnvironment:
        """Set the default directory of savepoints."""
        require_instance(directory, str, "the savepoint directory", "give a path or URL")
        return self._set(options.SAVEPOINT_DIR, directory)

    def get_default_savepoint_directory(self) -> str | None:
        """Return the default directory of savepoints."""
        return self._config.get(options.SAVEPOINT_DIR)

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> None:
        """Set the restart strategy, like the options ``restart-strategy.*``."""
        require_instance(restart_strategy_configuration, RestartStrategyConfiguration, "the restart strategy", "use RestartStrategies")
        self.configure(Configuration.from_dict(restart_strategy_configuration.to_settings()))

    # Dependencies of workers

    def add_python_file(self, file_path: str) -> None:
        """Add a module, package directory or archive to the workers' import path."""
        known = self._config.get(options.PYTHON_FILES)
        self._set(options.PYTHON_FILES, f"{file_path},{known}" if known else file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Set a requirements.txt for the workers, and an optional directory with the packages."""
        cache = "" if requirements_cache_dir is None else f"#{requirements_cache_dir}"
        self._set(options.PYTHON_REQUIREMENTS, requirements_file_path + cache)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Bring an archive to the workers, unpacked in their working directory under ``target_dir``."""
        archive = archive_path if target_dir is None else f"{archive_path}#{target_dir}"
        known = self._config.get(options.PYTHON_ARCHIVES)
        self._set(options.PYTHON_ARCHIVES, f"{known},{archive}" if known else archive)

    def set_python_executable(self, python_exec: str) -> None:
        """Set the interpreter of the workers."""
        self._set(options.PYTHON_EXECUTABLE, python_exec)

    def add_jars(self, *jars_path: str) -> None:
        """Accept jars; Wiesel's connectors are Python packages and need none."""
        self._append_to_list("pipeline.jars", *jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Accept class paths; Wiesel's connectors are Python packages and need none."""
        self._append_to_list("pipeline.classpaths", *classpaths)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Distribute a file to every worker, accessible by name in functions."""
        self._append_to_list(options.CACHED_FILES.key, f"name:{name},path:{file_path},executable:{str(executable).lower()}")

    def _append_to_list(self, key: str, *values: str) -> None:
        known = self._config.get_string(key, "")
        self._config.set(key, ";".join([*([known] if known else []), *values]))

    # Sources.

    def from_collection(self, collection: Iterable[T], type_info: TypeInformation | None = None) -> DataStream[T]:
        """Return a stream of the elements of a collection, which travel with the program.

        Args:
            collection: The elements.
            type_info: Their type; the elements are checked against it now.

        Raises:
            TypeMismatchError: If an element does not have the declared type.
            SerializationError: If an element cannot be pickled.
        """
        source, declared = collection_source(collection, type_info)
        stream = self._add_source(source, WatermarkStrategy.no_watermarks(), "Collection Source", declared)
        return stream.force_non_parallel()

    def from_source(
        self, source: Source[Any], watermark_strategy: WatermarkStrategy, source_name: str, type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of a source.

        Args:
            source: A source of :mod:`wiesel.datastream.connectors` or your own.
            watermark_strategy: Assigns timestamps and generates watermarks, per split.
            source_name: Shown in plans, logs and metrics.
            type_info: The type of the records; None for that of the source.
        """
        require_built(source, Source, "from_source()")
        require_instance(watermark_strategy, WatermarkStrategy, "the watermark strategy", "e.g. WatermarkStrategy.no_watermarks()")
        require_instance(source_name, str, "the name of a source", "give a text")
        return self._add_source(source, watermark_strategy, source_name, require_type(type_info or source.produced_type, "from_source()"))

    def add_source(
        self, source_func: Source[Any], source_name: str = "Custom Source", type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of a source; the older name of :meth:`from_source`, without watermarks.

        Flink's source functions are Java objects, which are not supported; it accepts the same sources as :meth:`from_source`.
        """
        require_built(source_func, Source, "add_source()")
        return self.from_source(source_func, WatermarkStrategy.no_watermarks(), source_name, type_info)

    def create_input(self, input_format: Source[Any], type_info: TypeInformation | None = None) -> DataStream:
        """Return the stream of a source.

        Flink's input formats are Java objects, which are not supported; it accepts the same sources as :meth:`from_source`.
        """
        require_built(input_format, Source, "create_input()")
        return self.from_source(input_format, WatermarkStrategy.no_watermarks(), "Custom File Source", type_info)

    # Running.

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the job and wait until it ends. Ctrl-C cancels it.

        Args:
            job_name: The name of the job; ``pipeline.name`` if it is None.

        Raises:
            JobExecutionError: If the job failed.
            ProgramError: If there are no operators, or the program is invalid.
        """
        return _execution.wait(self._start(job_name))

    def execute_async(self, job_name: str | None = _DEFAULT_JOB_NAME) -> JobClient:
        """Start the job and return its client immediately."""
        return self._start(job_name)

    def _start(self, job_name: str | None) -> JobClient:
        graph = self._generate_stream_graph(clear_transformations=True, job_name=job_name)
        return _execution.start(graph, Configuration(self._config))

    def get_execution_plan(self) -> str:
        """Return the plan of the job as JSON, in Flink's form."""
        return execution_plan_json(self._generate_stream_graph())

    def close(self) -> None:
        """Discard operators that were not run, and drop the records of cached streams."""
        self._transformations.clear()
        self._stream_caches.clear()

    # Building.

    def _generate_stream_graph(self, clear_transformations: bool = False, job_name: str | None = None) -> StreamGraph:
        if not self._transformations:
            raise program_error(
                "no operators were added since the last execute(), so there is nothing to run", "add a sink, e.g. stream.print()"
            )
        self._stream_caches.look()
        graph = self._graph_of(self._transformations, job_name)
        if graph.runtime_mode == "BATCH" and (writers := self._stream_caches.writers(self._transformations)):
            graph = self._graph_of([*self._transformations, *writers], job_name)
        if clear_transformations:
            self._transformations.clear()
        return graph

    def _graph_of(self, operators: Sequence[OperatorTransformation], job_name: str | None = None) -> StreamGraph:
        max_parallelism = self.get_max_parallelism()
        settings = GraphSettings(
            job_name=job_name or self._config.get(options.PIPELINE_NAME) or _DEFAULT_JOB_NAME,
            parallelism=self.get_parallelism(),
            max_parallelism=max_parallelism if max_parallelism > 0 else None,
            chaining_enabled=self.is_chaining_enabled(),
            buffer_timeout_ms=self.get_buffer_timeout(),
            runtime_mode=self._config.get(options.RUNTIME_MODE),
            config=self._config,
        )
        return build_stream_graph(operators, settings)

    def _add_source(self, source: Source[Any], strategy: WatermarkStrategy, name: str, output_type: TypeInformation) -> DataStream:
        payload = {"source": source, "watermark_strategy": copy.copy(strategy), "output_type": output_type}
        operator = self._new_operator(name, OperatorSpec("source", payload=payload), (), output_type, "Source: {}")
        operator.node.is_source = True
        operator.node.bounded = source.boundedness is Boundedness.BOUNDED
        return DataStream(self, operator)

    def _add_operator(
        self,
        name: str,
        spec: OperatorSpec,
        inputs: tuple[Transformation, ...],
        output_type: TypeInformation,
        *,
        keyed: bool = False,
        name_pattern: str = "{}",
    ) -> OperatorTransformation:
        """Add an operator; it runs with the next ``execute``, even if it has no consumer. Sources run only with a consumer."""
        operator = self._new_operator(name, spec, inputs, output_type, name_pattern)
        operator.node.keyed = keyed
        self._transformations.append(operator)
        hooks.operator_added()
        return operator

    def _new_operator(
        self, name: str, spec: OperatorSpec, inputs: tuple[Transformation, ...], output_type: TypeInformation, name_pattern: str
    ) -> OperatorTransformation:
        self._last_id += 1
        location = user_location()
        node = StreamNode(
            self._last_id,
            name,
            spec,
            parallelism=self.get_parallelism(),
            inputs=len(inputs),
            output_type=output_type,
            user_location=location,
        )
        return OperatorTransformation(output_type, location, node, inputs, name_pattern)

    def _new_collect_number(self) -> int:
        self._collects += 1
        return self._collects

    def _is_batch(self) -> bool:
        return self._config.get(options.RUNTIME_MODE) != "STREAMING" and self._generate_stream_graph().runtime_mode == "BATCH"
