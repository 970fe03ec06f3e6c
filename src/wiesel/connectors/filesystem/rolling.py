"""Rolling policies of file sinks, and names of part files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from wiesel.core.errors import ProgramError

__all__ = ["DefaultRollingPolicy", "OnCheckpointRollingPolicy", "OutputFileConfig", "PartFileInfo", "RollingPolicy"]


class PartFileInfo(Protocol):
    """Information on an open part file for rolling policies. Times in ms of processing time, the size in bytes."""

    @property
    def bucket_id(self) -> str:
        """Return the bucket of the file."""
        ...

    @property
    def creation_time(self) -> int:
        """Return when it was begun."""
        ...

    @property
    def last_update_time(self) -> int:
        """Return when it was written to last."""
        ...

    @property
    def size(self) -> int:
        """Return the number of bytes written."""
        ...


class RollingPolicy(ABC):
    """Decides when a part file is closed. A closed part becomes visible with the next checkpoint."""

    @abstractmethod
    def should_roll_on_checkpoint(self, part: PartFileInfo) -> bool:
        """Return whether to close the part when a checkpoint is taken."""

    @abstractmethod
    def should_roll_on_event(self, part: PartFileInfo, element: Any) -> bool:
        """Return whether to close the part before a record is written. Called for the first record of every batch."""

    @abstractmethod
    def should_roll_on_processing_time(self, part: PartFileInfo, current_time: int) -> bool:
        """Return whether to close the part at this time (ms); called at the sink's bucket check interval."""

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128, rollover_interval: int = 60 * 1000, inactivity_interval: int = 60 * 1000
    ) -> DefaultRollingPolicy:
        """Close parts that are large, old or idle.

        Args:
            part_size: Bytes above which a part is closed.
            rollover_interval: Age at which a part is closed, in ms.
            inactivity_interval: Time without a record after which a part is closed, in ms.

        Raises:
            ProgramError: If one of them is not positive.
        """
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Close parts at every checkpoint, and only then."""
        return OnCheckpointRollingPolicy()


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """See :meth:`RollingPolicy.default_rolling_policy`."""

    part_size: int = 1024 * 1024 * 128
    rollover_interval: int = 60 * 1000
    inactivity_interval: int = 60 * 1000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ProgramError(f"default_rolling_policy: {name} is {value}", hint="give a positive number")

    def should_roll_on_checkpoint(self, part: PartFileInfo) -> bool:
        """Return whether the part has reached the maximal size."""
        return part.size > self.part_size

    def should_roll_on_event(self, part: PartFileInfo, element: Any) -> bool:
        """Return whether the part has reached the maximal size."""
        return part.size > self.part_size

    def should_roll_on_processing_time(self, part: PartFileInfo, current_time: int) -> bool:
        """Return whether the part is too old or inactive."""
        return (
            current_time - part.creation_time >= self.rollover_interval
            or current_time - part.last_update_time >= self.inactivity_interval
        )


class OnCheckpointRollingPolicy(RollingPolicy):
    """See :meth:`RollingPolicy.on_checkpoint_rolling_policy`."""

    def should_roll_on_checkpoint(self, part: PartFileInfo) -> bool:
        """Always."""
        return True

    def should_roll_on_event(self, part: PartFileInfo, element: Any) -> bool:
        """Never."""
        return False

    def should_roll_on_processing_time(self, part: PartFileInfo, current_time: int) -> bool:
        """Never."""
        return False


class OutputFileConfig:
    """Names of part files: ``<prefix>-<id of the writer>-<number><suffix>``.

    Args:
        part_prefix: Prefix of names.
        part_suffix: Suffix of names, such as ``.csv``.

    Raises:
        ProgramError: If the prefix is empty or hides the files, or one of them contains a slash.
    """

    def __init__(self, part_prefix: str = "part", part_suffix: str = "") -> None:
        if not part_prefix or part_prefix.startswith((".", "_")) or "/" in part_prefix + part_suffix:
            raise ProgramError(
                f"part files cannot be called {part_prefix!r}...{part_suffix!r}",
                hint="use a prefix that does not begin with '.' or '_' (such files are hidden), and no '/'",
            )
        self._part_prefix = part_prefix
        self._part_suffix = part_suffix

    def get_part_prefix(self) -> str:
        """Return the prefix."""
        return self._part_prefix

    def get_part_suffix(self) -> str:
        """Return the suffix."""
        return self._part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder; by default ``part`` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    class OutputFileConfigBuilder:
        """Builds an :class:`OutputFileConfig`."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the prefix of names."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the suffix of names."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the names."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)
