"""What is logged of failures after which a job is restarted."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from wiesel.common import Configuration, Types
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment


def fails(value: Any) -> Any:
    raise ValueError("not today")


def notes(caplog: pytest.LogCaptureFixture, **options: str) -> list[str]:
    config = Configuration().set("wiesel.engine", "local")
    for key, value in options.items():
        config.set(f"restart-strategy.{key.replace('__', '.').replace('_', '-')}", value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.from_collection([1], Types.INT()).map(fails).print()
    with caplog.at_level(logging.WARNING), pytest.raises(JobExecutionError):
        env.execute()
    return [message for message in caplog.messages if "restarting" in message]


def test_a_failure_that_repeats_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    first, *others = notes(caplog, type="fixed-delay", fixed_delay__attempts="3", fixed_delay__delay="1 s")
    assert "test_restart_notes.py" in first and "not limited" not in first
    assert [other.partition(": ")[2] for other in others] == ["ValueError: not today (as before)"] * 2


def test_restarts_without_a_limit_are_announced_once(caplog: pytest.LogCaptureFixture) -> None:
    config = Configuration().set("wiesel.engine", "local").set("execution.checkpointing.interval", "1 s")
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.from_collection([1], Types.INT()).map(fails).print()
    enough = threading.Event()

    class Counts(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if sum("restarting" in message for message in caplog.messages) >= 2:
                enough.set()

    handler = Counts()
    logging.getLogger("wiesel").addHandler(handler)
    try:
        with caplog.at_level(logging.WARNING):
            client = env.execute_async()
            assert enough.wait(60)
            client.cancel().result()
    finally:
        logging.getLogger("wiesel").removeHandler(handler)
    assert sum("the number of restarts is not limited" in message for message in caplog.messages) == 1
