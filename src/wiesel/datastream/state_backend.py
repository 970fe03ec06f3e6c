"""State backends of programs. ``StreamExecutionEnvironment.set_state_backend`` or ``state.backend.type`` select one."""

from __future__ import annotations

from enum import Enum

from wiesel.core.errors import ArgumentTypeError
from wiesel.core.user_location import program_error

__all__ = [
    "CustomStateBackend",
    "EmbeddedLMDBStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
]


class StateBackend:
    """The storage of keyed state of a running job.

    Attributes:
        option_value: The value of ``state.backend.type``.
    """

    option_value = ""

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.option_value})"


class HashMapStateBackend(StateBackend):
    """State as Python objects in the worker's memory: the fastest, as large as memory."""

    option_value = "hashmap"


class EmbeddedLMDBStateBackend(StateBackend):
    """State in an LMDB environment on the worker's disk with a cache of objects in front: may be larger than memory."""

    option_value = "lmdb"


class PredefinedOptions(Enum):
    """RocksDB's tuning profiles. Accepted for Flink programs, without effect."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State in RocksDB on the worker's disk, with an object cache: may be larger than memory.

    Needs the extra ``rocksdb`` of the installation. Checkpoints are incremental unless disabled by ``execution.checkpointing.incremental``.
    Options ``state.backend.rocksdb.*`` set RocksDB's memory; the tuning methods here are accepted without effect.
    """

    option_value = "rocksdb"

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        if enable_incremental_checkpointing not in (None, True, False):
            message = f"enable_incremental_checkpointing is {enable_incremental_checkpointing!r}"
            raise program_error(message, "give None, True or False", ArgumentTypeError)
        self._incremental = enable_incremental_checkpointing is not False
        self._paths: list[str] = []
        self._options = PredefinedOptions.DEFAULT
        self._options_factory: str | None = None
        self._transfer_threads = 4

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the directories of the workers' local data."""
        self._paths = list(paths)

    def get_db_storage_paths(self) -> list[str]:
        """Return the directories of the workers' local data."""
        return list(self._paths)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return the configured value."""
        return self._incremental

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Accept a tuning profile; without effect."""
        self._options = options

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the tuning profile."""
        return self._options

    def set_options(self, options_factory_class_name: str) -> None:
        """Accept the name of a Java class that tunes RocksDB; without effect."""
        self._options_factory = options_factory_class_name

    def get_options(self) -> str | None:
        """Return the name of that Java class."""
        return self._options_factory

    def get_number_of_transfer_threads(self) -> int:
        """Return the number of threads that move state files."""
        return self._transfer_threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Accept a number of threads that move state files; without effect."""
        self._transfer_threads = number_of_transfering_threads


class CustomStateBackend(StateBackend):
    """A custom backend factory.

    Raises:
        ProgramError: Always: in Flink this wraps a Java object.
    """

    def __init__(self, j_custom_state_backend: object = None) -> None:
        raise program_error(
            "Flink's custom state backends are Java objects, which do not exist here",
            "use HashMapStateBackend or EmbeddedRocksDBStateBackend",
        )
