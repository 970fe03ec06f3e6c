"""Tasks that start when their attempt is over already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.faults.test_fencing import Driver
from wiesel.checkpoint.messages import CancelTask, RegisterTask
from wiesel.common.job_status import JobStatus


class Sending(Driver):
    """Notes what tasks are sent."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.sent: list[tuple[tuple[int, int], Any]] = []

    def send(self, attempt: int, task: tuple[int, int], message: Any) -> None:
        self.sent.append((task, message))


def test_a_task_that_starts_after_the_job_was_cancelled_is_told_to_end(tmp_path: Path) -> None:
    driver = Sending(tmp_path)
    driver.master.start()
    first, *late = driver.tasks
    driver.master.on_message(1, RegisterTask(first, 1, 1, "here"))
    driver.master.cancel()
    driver.sent.clear()
    for task in late:
        driver.master.on_message(1, RegisterTask(task, 1, 1, "here"))
    assert driver.sent == [(task, CancelTask()) for task in late]
    driver.master.on_launch_ended(1, None)
    driver.work_all()
    assert driver.master.status is JobStatus.CANCELED
