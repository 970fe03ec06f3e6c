"""Internal. What functions of users are told of the task that calls them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wiesel.core.metrics import MetricGroup

__all__ = ["FunctionContext", "current_context"]


class FunctionContext:
    """The task in which a function was opened, for ``open(function_context)``.

    Args:
        base_metric_group: Where metrics of the function are registered; None outside of a task.
        job_parameters: The parameters of the job.
        task_name: The name of the task.
        task_name_with_subtasks: The name with the number of the subtask.
        number_of_parallel_subtasks: How many subtasks there are.
        max_number_of_parallel_subtasks: How many there can be at most.
        index_of_this_subtask: Which one this is, from 0 on.
        attempt_number: How often the task was started before.
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

    @staticmethod
    def of_operator(context: Any) -> FunctionContext:
        """Return what the context of an operator tells."""
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
        """Return where metrics of the function are registered.

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
        """Return how many subtasks there are."""
        return self._number_of_parallel_subtasks

    def get_max_number_of_parallel_subtasks(self) -> int | None:
        """Return how many subtasks there can be at most."""
        return self._max_number_of_parallel_subtasks

    def get_index_of_this_subtask(self) -> int | None:
        """Return which subtask this is, from 0 on."""
        return self._index_of_this_subtask

    def get_attempt_number(self) -> int | None:
        """Return how often the task was started before."""
        return self._attempt_number


current_context: ContextVar[FunctionContext | None] = ContextVar("current_context", default=None)
"""That of the operator that evaluates expressions in this thread."""
