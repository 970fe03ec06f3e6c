"""Checkpoint storage settings of programs. The option ``execution.checkpointing.dir`` is the usual alternative."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from wiesel.core import options
from wiesel.core.argument_checks import require_count
from wiesel.core.errors import ArgumentValueError
from wiesel.core.memory_size import MemorySize
from wiesel.core.user_location import program_error

__all__ = ["CheckpointStorage", "CustomCheckpointStorage", "FileSystemCheckpointStorage", "JobManagerCheckpointStorage"]


class CheckpointStorage(ABC):
    """The storage of checkpoints."""

    @abstractmethod
    def to_settings(self) -> dict[str, Any]:
        """Return the equivalent options."""


class JobManagerCheckpointStorage(CheckpointStorage):
    """Checkpoints in the memory of the process that runs the job, lost with it: for experiments.

    Args:
        checkpoint_path: Directory for the metadata.
        max_state_size: Maximal size of one operator's state in bytes.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        self._checkpoint_path = checkpoint_path
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else require_count(max_state_size, "max_state_size")

    def get_checkpoint_path(self) -> str | None:
        """Return the directory for the metadata."""
        return self._checkpoint_path

    def to_settings(self) -> dict[str, Any]:
        """Return the equivalent options."""
        directory = {} if self._checkpoint_path is None else {options.CHECKPOINT_DIR.key: self._checkpoint_path}
        return {options.CHECKPOINT_STORAGE.key: "jobmanager", **directory}

    def get_max_state_size(self) -> int:
        """Return the maximal size of one operator's state in bytes."""
        return self._max_state_size

    def get_savepoint_path(self) -> str | None:
        """Return None: the directory of savepoints is a setting of the environment."""
        return None

    def __str__(self) -> str:
        return f"JobManagerCheckpointStorage (checkpoints to JobManager) ( maxStateSize: {self._max_state_size})"


class FileSystemCheckpointStorage(CheckpointStorage):
    """Checkpoints as files in a directory accessible by all processes.

    Args:
        checkpoint_path: The directory, as a path or URL.
        file_state_size_threshold: Size in bytes below which state is stored in the metadata; at most 1 MiB, None for the default.
        write_buffer_size: Accepted; -1 for the default.

    Raises:
        ProgramError: If the directory is missing or the threshold too large.
    """

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024
    _DEFAULT_THRESHOLD = 20 * 1024
    _DEFAULT_WRITE_BUFFER = 4096

    def __init__(
        self, checkpoint_path: str | None = None, file_state_size_threshold: int | None = None, write_buffer_size: int = -1
    ) -> None:
        if not checkpoint_path:
            raise program_error("checkpoint_path is missing", "give a directory, e.g. 'file:///var/checkpoints'", ArgumentValueError)
        self._checkpoint_path = str(checkpoint_path)
        threshold = -1 if file_state_size_threshold is None else file_state_size_threshold
        require_count(threshold, "file_state_size_threshold", minimum=-1, maximum=self.MAX_FILE_STATE_THRESHOLD)
        self._threshold = self._DEFAULT_THRESHOLD if threshold < 0 else threshold
        self._write_buffer_size = self._DEFAULT_WRITE_BUFFER if write_buffer_size < 0 else write_buffer_size

    def get_checkpoint_path(self) -> str:
        """Return the directory."""
        return self._checkpoint_path

    def get_savepoint_path(self) -> str | None:
        """Return None: the directory of savepoints is a setting of the environment."""
        return None

    def to_settings(self) -> dict[str, Any]:
        """Return the equivalent options."""
        return {
            options.CHECKPOINT_STORAGE.key: "filesystem",
            options.CHECKPOINT_DIR.key: self._checkpoint_path,
            options.CHECKPOINT_INLINE_THRESHOLD.key: MemorySize(self._threshold),
        }

    def get_min_file_size_threshold(self) -> int:
        """Return the size in bytes below which state travels in the metadata."""
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """Return the size of write buffers in bytes."""
        return self._write_buffer_size

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage({self._checkpoint_path})"


class CustomCheckpointStorage(CheckpointStorage):
    """A custom storage.

    Raises:
        ProgramError: Always: in Flink this wraps a Java object.
    """

    def to_settings(self) -> dict[str, Any]:
        """Return the equivalent options."""
        return {}

    def __init__(self, j_custom_checkpoint_storage: object = None) -> None:
        raise program_error(
            "Flink's custom checkpoint storages are Java objects, which do not exist here", "use FileSystemCheckpointStorage"
        )
