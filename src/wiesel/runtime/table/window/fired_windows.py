"""Internal. Progress of fired windows, by key group.

Subtasks restored together may have different progress: an unaligned checkpoint snapshots each at its own time, and windows of processing
time depend on each subtask's clock. So a subtask may have key groups some of which have fired windows that others have not, and whose rows
are still needed for later windows. Fired windows must not fire again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.operator import OperatorContext
from wiesel.state.key_groups import key_group, key_group_range

__all__ = ["FiredWindows"]


class FiredWindows:
    """The watermark up to which the windows of an operator's keys have fired.

    Attributes:
        time: That of the key groups that are not ahead.
    """

    def __init__(self, context: OperatorContext) -> None:
        self._state = context.backend.operator_state.get_union_list("fired")
        self._most = context.max_parallelism
        self._own = key_group_range(context.subtask_index, context.max_parallelism, context.parallelism)
        times = dict.fromkeys(range(self._own.start, self._own.end), MIN_TIMESTAMP)
        for start, end, time in self._state:
            for group in range(max(start, self._own.start), min(end, self._own.end)):
                times[group] = time
        self.time = min(times.values(), default=MIN_TIMESTAMP)
        self._ahead = {group: time for group, time in times.items() if time > self.time}

    def advance(self, time: int) -> None:
        """Record that all windows up to ``time`` have fired."""
        self.time = time
        if self._ahead:
            self._ahead = {group: ahead for group, ahead in self._ahead.items() if ahead > time}

    def waiting(self, over: int, keys: Callable[[], Sequence[Any]]) -> npt.NDArray[np.bool_] | None:
        """Return the keys whose window has not fired yet; None for all. ``over``: the watermark at which the window ends."""
        if not any(ahead >= over for ahead in self._ahead.values()):
            return None
        return np.array([self._ahead.get(key_group(key, self._most), MIN_TIMESTAMP) < over for key in keys()], np.bool_)

    def snapshot(self) -> None:
        """Write the progress to operator state."""
        self._state[:] = []
        start = self._own.start
        for group in range(self._own.start, self._own.end):
            last = group + 1 == self._own.end
            if last or self._of(group + 1) != self._of(group):
                if MIN_TIMESTAMP < self._of(group) < MAX_TIMESTAMP:
                    self._state.append((start, group + 1, self._of(group)))
                start = group + 1

    def _of(self, group: int) -> int:
        return self._ahead.get(group, self.time)
