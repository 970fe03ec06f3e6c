"""Execution settings of an environment's jobs as methods; the values are in the environment's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wiesel.core import options
from wiesel.core.config import ConfigOption, Configuration
from wiesel.core.durations import Duration
from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.core.parallelism import default_parallelism

__all__ = ["ExecutionConfig"]

PARALLELISM_DEFAULT = -1
PARALLELISM_UNKNOWN = -2


class ExecutionConfig:
    """Settings of a job.

    Args:
        configuration: The configuration of the settings, shared with the environment.

    Settings of Java's serializers and closures are stored without effect.
    """

    PARALLELISM_DEFAULT = PARALLELISM_DEFAULT
    PARALLELISM_UNKNOWN = PARALLELISM_UNKNOWN

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration
        self._set_back = False
        self._without_effect: dict[str, bool] = {}

    def _set_millis(self, option: ConfigOption[Duration], name: str, interval_ms: int) -> ExecutionConfig:
        if interval_ms < 0:
            raise ProgramError(f"{name}({interval_ms}): the interval is negative", hint="give milliseconds; 0 switches it off")
        self._configuration.set(option, Duration.of_millis(interval_ms))
        return self

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set the interval of watermarks, in ms; 0 disables them.

        Raises:
            ProgramError: If it is negative.
        """
        return self._set_millis(options.AUTO_WATERMARK_INTERVAL, "set_auto_watermark_interval", interval)

    def get_auto_watermark_interval(self) -> int:
        """Return the interval of watermarks, in ms."""
        return self._configuration.get(options.AUTO_WATERMARK_INTERVAL).to_millis()

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Set the interval of latency markers of sources, in ms; 0 disables them."""
        return self._set_millis(options.LATENCY_INTERVAL, "set_latency_tracking_interval", interval)

    def get_latency_tracking_interval(self) -> int:
        """Return the interval of latency markers of sources, in ms."""
        return self._configuration.get(options.LATENCY_INTERVAL).to_millis()

    def get_parallelism(self) -> int:
        """Return the default parallelism of operators; -1 after a reset."""
        return PARALLELISM_DEFAULT if self._set_back else default_parallelism(self._configuration)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set the default parallelism of operators; -1 resets the setting, -2 keeps it.

        Raises:
            ProgramError: If it is 0 or another negative number.
        """
        if parallelism == PARALLELISM_DEFAULT:
            self._configuration.remove_config(options.PARALLELISM_DEFAULT.key)
        elif parallelism != PARALLELISM_UNKNOWN:
            if parallelism < 1:
                raise ProgramError(f"the parallelism is {parallelism}", hint="give 1 or more, or ExecutionConfig.PARALLELISM_DEFAULT")
            self._configuration.set(options.PARALLELISM_DEFAULT, parallelism)
        if parallelism != PARALLELISM_UNKNOWN:
            self._set_back = parallelism == PARALLELISM_DEFAULT
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups; -1 if it follows from the parallelism."""
        return self._configuration.get(options.MAX_PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the number of key groups, 1 to 32768.

        Raises:
            ProgramError: If it is out of this range.
        """
        if not 0 < max_parallelism <= 32768:
            raise ProgramError(f"the maximum parallelism is {max_parallelism}", hint="give a number from 1 to 32768")
        self._configuration.set(options.MAX_PARALLELISM, max_parallelism)
        return self

    def get_task_cancellation_interval(self) -> int:
        """Return the interval of repeated cancellation of a task, in ms."""
        return self._configuration.get(options.CANCELLATION_INTERVAL).to_millis()

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """Set the interval of repeated cancellation of a task, in ms."""
        return self._set_millis(options.CANCELLATION_INTERVAL, "set_task_cancellation_interval", interval)

    def get_task_cancellation_timeout(self) -> int:
        """Return the time in ms after which a cancelled task is killed."""
        return self._configuration.get(options.CANCELLATION_TIMEOUT).to_millis()

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """Set the time in ms after which a cancelled task is killed."""
        return self._set_millis(options.CANCELLATION_TIMEOUT, "set_task_cancellation_timeout", timeout)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Generate uids from the position in the program for operators without one (the default)."""
        self._configuration.set(options.AUTO_GENERATE_UIDS, True)
        return self

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Reject jobs with operators without uid."""
        self._configuration.set(options.AUTO_GENERATE_UIDS, False)
        return self

    def has_auto_generated_uids_enabled(self) -> bool:
        """Return whether uids are generated for operators without one."""
        return self._configuration.get(options.AUTO_GENERATE_UIDS)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Declare that functions do not change records after emitting them."""
        self._configuration.set(options.OBJECT_REUSE, True)
        return self

    def disable_object_reuse(self) -> ExecutionConfig:
        """Revert :meth:`enable_object_reuse`."""
        self._configuration.set(options.OBJECT_REUSE, False)
        return self

    def is_object_reuse_enabled(self) -> bool:
        """Return whether object reuse is enabled."""
        return self._configuration.get(options.OBJECT_REUSE)

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the user's parameters."""
        parameters = self._configuration.get(options.GLOBAL_JOB_PARAMETERS)
        return {} if parameters is None else dict(parameters)

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, Any]) -> ExecutionConfig:
        """Set the user's parameters; values are converted to strings."""
        if not isinstance(global_job_parameters_dict, Mapping):
            raise ArgumentTypeError(f"the job parameters are {global_job_parameters_dict!r}", hint="give a dict")
        parameters = {str(key): value if isinstance(value, str) else str(value) for key, value in global_job_parameters_dict.items()}
        self._configuration.set(options.GLOBAL_JOB_PARAMETERS, parameters)
        return self

    def is_use_snapshot_compression(self) -> bool:
        """Return whether state files are compressed."""
        return self._configuration.get(options.CHECKPOINT_COMPRESSION)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Set whether state files are compressed."""
        self._configuration.set(options.CHECKPOINT_COMPRESSION, use_snapshot_compression)
        return self

    # Java's serializers and closures: stored, so that programs can read their settings.

    def _remember(self, name: str, value: bool) -> ExecutionConfig:
        self._without_effect[name] = value
        return self

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Accepted; functions are shipped with cloudpickle."""
        return self._remember("closure_cleaner", True)

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Accepted; functions are shipped with cloudpickle."""
        return self._remember("closure_cleaner", False)

    def is_closure_cleaner_enabled(self) -> bool:
        """Return the set value; true by default."""
        return self._without_effect.get("closure_cleaner", True)

    def enable_force_kryo(self) -> ExecutionConfig:
        """Accepted; there is no Kryo."""
        return self._remember("force_kryo", True)

    def disable_force_kryo(self) -> ExecutionConfig:
        """Accepted; there is no Kryo."""
        return self._remember("force_kryo", False)

    def is_force_kryo_enabled(self) -> bool:
        """Return the set value; false by default."""
        return self._without_effect.get("force_kryo", False)

    def enable_generic_types(self) -> ExecutionConfig:
        """Accepted; any Python object can be pickled."""
        return self._remember("generic_types_disabled", False)

    def disable_generic_types(self) -> ExecutionConfig:
        """Accepted; any Python object can be pickled."""
        return self._remember("generic_types_disabled", True)

    def has_generic_types_disabled(self) -> bool:
        """Return the set value; false by default."""
        return self._without_effect.get("generic_types_disabled", False)

    def enable_force_avro(self) -> ExecutionConfig:
        """Accepted; there is no Avro serializer."""
        return self._remember("force_avro", True)

    def disable_force_avro(self) -> ExecutionConfig:
        """Accepted; there is no Avro serializer."""
        return self._remember("force_avro", False)

    def is_force_avro_enabled(self) -> bool:
        """Return the set value; false by default."""
        return self._without_effect.get("force_avro", False)

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Return nothing: there is no Kryo."""
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        """Return nothing: there is no Kryo."""
        return []

    def get_registered_pojo_types(self) -> list[str]:
        """Return nothing: there are no POJOs."""
        return []

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ExecutionConfig)
            and self._configuration == other._configuration
            and self._without_effect == other._without_effect
        )

    def __hash__(self) -> int:
        return hash(self._configuration)
