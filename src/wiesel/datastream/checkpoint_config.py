"""The settings of checkpoints."""

from __future__ import annotations

from typing import Any

from wiesel.core import options
from wiesel.core.argument_checks import require_count, require_instance
from wiesel.core.config import ConfigOption, Configuration
from wiesel.core.durations import Duration
from wiesel.datastream.checkpoint_storage import CheckpointStorage, FileSystemCheckpointStorage, JobManagerCheckpointStorage
from wiesel.datastream.checkpointing_mode import CheckpointingMode
from wiesel.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention

__all__ = ["CheckpointConfig"]

_MIN_INTERVAL_MS = 10
_TOLERATE_ALL = 2**31 - 1


class CheckpointConfig:
    """The checkpoint settings of an environment; each is an option of its configuration (``execution.checkpointing.*``).

    All times are in ms. Setters return the object itself.
    """

    DEFAULT_TIMEOUT = 10 * 60 * 1000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = 1

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def _set(self, option: ConfigOption[Any], value: Any) -> CheckpointConfig:
        self._configuration.set(option, value)
        return self

    def _millis(self, option: ConfigOption[Any]) -> int:
        duration = self._configuration.get(option)
        return -1 if duration is None else int(duration.to_millis())

    def is_checkpointing_enabled(self) -> bool:
        """Return whether an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the mode; AT_LEAST_ONCE while checkpoints are off, as in Flink."""
        if not self.is_checkpointing_enabled():
            return CheckpointingMode.AT_LEAST_ONCE
        return CheckpointingMode[self._configuration.get(options.CHECKPOINT_MODE)]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set the mode."""
        require_instance(checkpointing_mode, CheckpointingMode, "the checkpointing mode", "e.g. CheckpointingMode.EXACTLY_ONCE")
        return self._set(options.CHECKPOINT_MODE, checkpointing_mode.name)

    def get_checkpoint_interval(self) -> int:
        """Return the interval; -1 if there are no checkpoints."""
        return self._millis(options.CHECKPOINT_INTERVAL)

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Set the interval, 10 or more."""
        require_count(checkpoint_interval, "the checkpoint interval in ms", minimum=_MIN_INTERVAL_MS)
        return self._set(options.CHECKPOINT_INTERVAL, Duration.of_millis(checkpoint_interval))

    def get_checkpoint_timeout(self) -> int:
        """Return the timeout of checkpoints."""
        return self._millis(options.CHECKPOINT_TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Set the timeout of checkpoints, 10 or more."""
        require_count(checkpoint_timeout, "the checkpoint timeout in ms", minimum=_MIN_INTERVAL_MS)
        return self._set(options.CHECKPOINT_TIMEOUT, Duration.of_millis(checkpoint_timeout))

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the minimal pause between the end of a checkpoint and the start of the next."""
        return self._millis(options.CHECKPOINT_MIN_PAUSE)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> CheckpointConfig:
        """Set the minimal pause between the end of a checkpoint and the start of the next."""
        require_count(min_pause_between_checkpoints, "the pause between checkpoints in ms", minimum=0)
        return self._set(options.CHECKPOINT_MIN_PAUSE, Duration.of_millis(min_pause_between_checkpoints))

    def get_max_concurrent_checkpoints(self) -> int:
        """Return the maximal number of concurrent checkpoints."""
        return self._configuration.get(options.CHECKPOINT_MAX_CONCURRENT)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Set the maximal number of concurrent checkpoints."""
        require_count(max_concurrent_checkpoints, "the number of concurrent checkpoints")
        return self._set(options.CHECKPOINT_MAX_CONCURRENT, max_concurrent_checkpoints)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Return whether the first failed checkpoint fails the job."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        """Set whether the first failed checkpoint fails the job; otherwise none does."""
        return self.set_tolerable_checkpoint_failure_number(0 if fail_on_checkpointing_errors else _TOLERATE_ALL)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return the number of consecutive failed checkpoints that are tolerated."""
        return self._configuration.get(options.CHECKPOINT_TOLERABLE_FAILURES)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Set the number of consecutive failed checkpoints that are tolerated."""
        require_count(tolerable_checkpoint_failure_number, "the number of tolerable checkpoint failures", minimum=0)
        return self._set(options.CHECKPOINT_TOLERABLE_FAILURES, tolerable_checkpoint_failure_number)

    def set_externalized_checkpoint_retention(self, retention_mode: ExternalizedCheckpointRetention) -> CheckpointConfig:
        """Set the retention of checkpoints of a cancelled job."""
        require_instance(retention_mode, ExternalizedCheckpointRetention, "the retention mode", "e.g. ...RETAIN_ON_CANCELLATION")
        return self._set(options.CHECKPOINT_RETENTION, retention_mode.name)

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are retained after the job."""
        return self.get_externalized_checkpoint_retention() is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return the retention of checkpoints of a cancelled job."""
        return ExternalizedCheckpointRetention[self._configuration.get(options.CHECKPOINT_RETENTION)]

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are unaligned; only in mode EXACTLY_ONCE."""
        exactly_once = self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
        return exactly_once and self._configuration.get(options.CHECKPOINT_UNALIGNED)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Enable unaligned checkpoints, which include records in flight: faster under backpressure."""
        return self._set(options.CHECKPOINT_UNALIGNED, bool(enabled))

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Disable unaligned checkpoints."""
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Set the time after which an aligned checkpoint becomes unaligned, with unaligned checkpoints on."""
        require_instance(alignment_timeout, Duration, "the alignment timeout", "e.g. Duration.of_seconds(3)")
        return self._set(options.CHECKPOINT_ALIGNED_TIMEOUT, alignment_timeout)

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return the time after which an aligned checkpoint becomes unaligned."""
        return self._configuration.get(options.CHECKPOINT_ALIGNED_TIMEOUT)

    def set_alignment_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Older name of :meth:`set_aligned_checkpoint_timeout`."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Older name of :meth:`get_aligned_checkpoint_timeout`."""
        return self.get_aligned_checkpoint_timeout()

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """Set the checkpoint storage, like the options ``execution.checkpointing.storage`` and ``.dir``."""
        require_instance(
            storage, CheckpointStorage, "the checkpoint storage", "e.g. FileSystemCheckpointStorage('file:///var/checkpoints')"
        )
        for key, value in storage.to_settings().items():
            self._configuration.set(key, value)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """Store checkpoints as files in this directory."""
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """Return the checkpoint storage, None if not set."""
        directory = self._configuration.get(options.CHECKPOINT_DIR)
        kind = self._configuration.get(options.CHECKPOINT_STORAGE)
        if kind == "jobmanager":
            return JobManagerCheckpointStorage(directory)
        return FileSystemCheckpointStorage(directory) if directory else None

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        """Use unaligned checkpoints also where they are avoided by default."""
        return self._set(options.CHECKPOINT_UNALIGNED_FORCED, bool(force_unaligned_checkpoints))

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether unaligned checkpoints are used also where they are avoided by default."""
        return self._configuration.get(options.CHECKPOINT_UNALIGNED_FORCED)
