"""Internal. Function contexts of user-defined functions."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wiesel.core.metrics import MetricGroup

__all__ = ["FunctionContext", "FunctionLife", "current_context"]


class FunctionContext:
    """The task in which a function is opened, for ``open(function_context)``.

    Args:
        base_metric_group: The metric group for the function; None outside of a task.
        job_parameters: The parameters of the job.
        task_name: The name of the task.
        task_name_with_subtasks: The name with the number of the subtask.
        number_of_parallel_subtasks: The parallelism.
        max_number_of_parallel_subtasks: The maximum parallelism.
        index_of_this_subtask: The index of this subtask, from 0.
        attempt_number: Number of earlier attempts of the task.
    """

    def __init__(
        self,
        base_metric_group: MetricGroup | None,
        job_parameters: dict[str, str],
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
    ) -> None:
        self._base_metric_group = base_metric_group
        self._job_parameters = job_parameters
        self._task_name = task_name
        self._task_name_with_subtasks = task_name_with_subtasks
        self._number_of_parallel_subtasks = number_of_parallel_subtasks
        self._max_number_of_parallel_subtasks = max_number_of_parallel_subtasks
        self._index_of_this_subtask = index_of_this_subtask
        self._attempt_number = attempt_number
        self._lives: list[FunctionLife] = []

    def close_functions(self) -> None:
        """Close the functions called in the task; shared ones when their last caller ends."""
        while self._lives:
            self._lives.pop()._end(self)

    @staticmethod
    def of_operator(context: Any) -> FunctionContext:
        """Return the function context of an operator's context."""
        return FunctionContext(
            context.metrics,
            dict(context.job_parameters),
            context.task_name,
            f"{context.task_name} ({context.subtask_index + 1}/{context.parallelism})#{context.attempt}",
            context.parallelism,
            context.max_parallelism,
            context.subtask_index,
            context.attempt,
        )

    def get_metric_group(self) -> MetricGroup:
        """Return the metric group of the function.

        Raises:
            RuntimeError: If the function was not opened in a task.
        """
        if self._base_metric_group is None:
            raise RuntimeError("there are no metrics outside of a task")
        return self._base_metric_group

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a parameter of the job (``pipeline.global-job-parameters``), or the default."""
        return self._job_parameters.get(key, default_value)

    def get_task_name(self) -> str | None:
        """Return the name of the task."""
        return self._task_name

    def get_task_name_with_subtasks(self) -> str | None:
        """Return the name of the task with the number of the subtask."""
        return self._task_name_with_subtasks

    def get_number_of_parallel_subtasks(self) -> int | None:
        """Return the parallelism."""
        return self._number_of_parallel_subtasks

    def get_max_number_of_parallel_subtasks(self) -> int | None:
        """Return the maximum parallelism."""
        return self._max_number_of_parallel_subtasks

    def get_index_of_this_subtask(self) -> int | None:
        """Return which subtask this is, from 0 on."""
        return self._index_of_this_subtask

    def get_attempt_number(self) -> int | None:
        """Return the number of earlier attempts of the task."""
        return self._attempt_number


current_context: ContextVar[FunctionContext | None] = ContextVar("current_context", default=None)
"""The context of the operator that evaluates expressions in this thread."""


class FunctionLife:
    """Opens a function before its first call in a process, and closes it when the last calling task ends.

    Args:
        open: Called with the context of the task; None outside of one.
        close: Called at the end.
    """

    def __init__(self, open: Callable[[FunctionContext | None], None] | None, close: Callable[[], None] | None) -> None:
        self._open = open
        self._close = close
        self._users: list[FunctionContext | None] = []

    def begin(self) -> None:
        """A task is about to call the function."""
        context = current_context.get()
        if any(user is context for user in self._users):
            return
        if not self._users and self._open is not None:
            self._open(context)
        self._users.append(context)
        if context is not None:
            context._lives.append(self)

    def _end(self, context: FunctionContext) -> None:
        self._users = [user for user in self._users if user is not context]
        if not self._users and self._close is not None:
            self._close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_users": []}
