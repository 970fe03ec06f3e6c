"""The result of a job that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wiesel.common.job_id import JobID
from wiesel.core.html import html_table

__all__ = ["JobExecutionResult"]


class JobExecutionResult:
    """The result of a job that has finished.

    Args:
        job_id: The job.
        net_runtime_ms: Time from start to end in ms, without waiting for resources.
        accumulators: Results by name.
        metrics: Counters of the whole job by name (``numRecordsIn``, ...).
    """

    def __init__(
        self,
        job_id: JobID,
        net_runtime_ms: int = 0,
        accumulators: Mapping[str, Any] | None = None,
        metrics: Mapping[str, Any] | None = None,
    ) -> None:
        self._job_id = job_id
        self._net_runtime_ms = net_runtime_ms
        self._accumulators = dict(accumulators or {})
        self.metrics = dict(metrics or {})

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._job_id

    def get_net_runtime(self) -> int:
        """Return the run time of the job, in ms."""
        return self._net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the result of an accumulator, ``None`` if it does not exist."""
        return self._accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return the results of all accumulators by name."""
        return dict(self._accumulators)

    def _repr_html_(self) -> str:
        facts = [("job", self._job_id), ("runtime", f"{self._net_runtime_ms} ms")]
        return html_table("Job has finished", ("", "value"), [*facts, *self._accumulators.items(), *self.metrics.items()])

    def __str__(self) -> str:
        lines = [f"Program execution finished\nJob with JobID {self._job_id} has finished.\nJob Runtime: {self._net_runtime_ms} ms\n"]
        if self._accumulators:
            lines.append("Accumulator Results: ")
            lines += [f"- {name} ({type(value).__name__}): {value}" for name, value in self._accumulators.items()]
        return "\n".join(lines)
