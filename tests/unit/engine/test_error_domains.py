"""Failures carry a code, a domain and retryability, which restarts go by and reports show."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wiesel
import wiesel.core.errors as errors
from tests.arch.repository import read
from wiesel.common import Configuration, Types
from wiesel.core.errors import ConnectorError, ErrorDomain, JobExecutionError, UserFunctionError, WieselError, failure_labels, is_retryable
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.spi.sink import Sink

CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, WieselError)]


class Invalid(Exception):
    retryable = False


CONNECTOR = """
import socket

import fsspec

from wiesel.spi.sink import Sink, SinkWriter


class ClientWriter(SinkWriter):
    def __init__(self, call):
        self.call = call

    def write_batch(self, values, timestamps):
        self.call()

    def flush(self, end_of_input):
        pass


class ClientSink(Sink):
    def __init__(self, call):
        self.call = call

    def create_writer(self, context, state=()):
        return ClientWriter(self.call)


def connect():
    socket.create_connection(("127.0.0.1", 1), timeout=5)


def ask():
    fsspec.filesystem("no-such-protocol")
"""


def connector() -> dict[str, Any]:
    """Return the names of a connector whose code counts as Wiesel's, as its file is in the package."""
    names: dict[str, Any] = {"__name__": "toy_connector"}
    exec(compile(CONNECTOR, str(Path(wiesel.__path__[0]) / "connectors" / "toy.py"), "exec"), names)
    return names


Fails = Callable[..., tuple[BaseException, int]]


@pytest.fixture
def failure_of(caplog: pytest.LogCaptureFixture) -> Fails:
    """Return a function for the failure of a job that may restart twice, and the number of its attempts."""

    def run(function: Any, sink: Sink | None = None) -> tuple[BaseException, int]:
        config = Configuration().set("wiesel.engine", "local")
        config.set("restart-strategy.type", "fixed-delay").set("restart-strategy.fixed-delay.attempts", "2")
        config.set("restart-strategy.fixed-delay.delay", "1 ms")
        env = StreamExecutionEnvironment.get_execution_environment(config)
        stream = env.from_collection([1], Types.INT()).map(function, Types.INT())
        stream.print() if sink is None else stream.sink_to(sink)
        with caplog.at_level(logging.WARNING), pytest.raises(JobExecutionError) as caught:
            env.execute()
        assert caught.value.__cause__ is not None
        return caught.value.__cause__, 1 + sum("restarting" in message for message in caplog.messages)

    return run


def raises(error: BaseException) -> Any:
    def function(*_: Any) -> int:
        raise error

    return function


def test_every_class_has_a_code_of_its_own_and_the_docs_list_it() -> None:
    codes = [each.__dict__["code"] for each in CLASSES]
    assert len(codes) == len(set(codes)) > 20
    rows = [line.split("|")[1:-1] for line in read(Path("docs/errors.md")).splitlines() if line.startswith("| `")]
    listed = {cells[0].strip(" `"): (cells[1].strip(), cells[2].strip()) for cells in rows}
    assert listed == {each.code: (each.domain.value.lower(), "yes" if each.retryable else "no") for each in CLASSES}


def test_what_an_error_says_of_itself_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(ConnectorError("gone", retryable=False, domain=ErrorDomain.USER, table="t")))
    assert (error.retryable, error.domain, error.details) == (False, ErrorDomain.USER, {"table": "t"})
    assert failure_labels(error) == {"code": "CONNECTOR", "domain": "USER", "retryable": "false"}
    assert failure_labels(KeyError("x")) == {"code": "UNKNOWN", "domain": "INTERNAL", "retryable": "true"}


def test_jobs_restart_after_failures_of_functions_as_in_flink(failure_of: Fails) -> None:
    failure, attempts = failure_of(raises(ValueError("once more")))
    assert isinstance(failure, UserFunctionError) and failure.domain is ErrorDomain.USER and is_retryable(failure)
    assert attempts == 3


@pytest.mark.parametrize("error", [Invalid("never"), ConnectorError("wrong password", retryable=False)])
def test_a_failure_that_is_said_not_to_be_retryable_fails_the_job_at_once(error: Exception, failure_of: Fails) -> None:
    failure, attempts = failure_of(raises(error))
    assert not is_retryable(failure) and attempts == 1
    assert isinstance(failure, ConnectorError if isinstance(error, ConnectorError) else UserFunctionError)


@pytest.mark.parametrize(("call", "shown"), [("connect", "ConnectionRefusedError"), ("ask", "ValueError: Protocol not known")])
def test_errors_of_the_network_and_of_clients_in_sinks_are_external(call: str, shown: str, failure_of: Fails) -> None:
    names = connector()
    failure, attempts = failure_of(int, names["ClientSink"](names[call]))
    assert isinstance(failure, ConnectorError) and failure.domain is ErrorDomain.EXTERNAL and attempts == 3
    assert shown in failure.message and "in operator" in failure.message
