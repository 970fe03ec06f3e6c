"""Log records of Wiesel hold no secrets, whatever handler formats them."""

from __future__ import annotations

import io
import logging
import re

import pytest

from tests.arch.repository import ROOT
from wiesel.core.logs import get_logger


def logged(formatter: logging.Formatter, *arguments: object, error: BaseException | None = None) -> str:
    logger, stream = get_logger("wiesel.test of secrets"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger.addHandler(handler)
    try:
        logger.warning(*arguments, exc_info=error)
    finally:
        logger.removeHandler(handler)
    return stream.getvalue()


@pytest.mark.parametrize("formatter", [logging.Formatter(), logging.Formatter("%(levelname)s {%(message)s}")])
def test_messages_arguments_and_tracebacks_are_masked(formatter: logging.Formatter) -> None:
    assert "hunter2" not in logged(formatter, "reading from %s", "jdbc://user:hunter2@host/db")
    shown = logged(formatter, "password=%s at %d %%", "hunter2", 5)
    assert "password=****** at 5 %" in shown
    try:
        raise ValueError("apikey: 'hunter2'")
    except ValueError as error:
        shown = logged(formatter, "it failed", error=error)
    assert "hunter2" not in shown and "******" in shown and "Traceback" in shown and "test_logs.py" in shown


def test_a_record_without_secrets_is_what_it_was(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("wiesel.test of secrets").warning("%d%% of %r", 5, "all")
    assert caplog.messages == ["5% of 'all'"]


def test_records_below_the_level_cost_nothing() -> None:
    class Loud:
        def __str__(self) -> str:
            raise AssertionError("formatted")

    get_logger("wiesel.test of secrets").debug("%s", Loud())


def test_all_loggers_of_the_package_mask() -> None:
    direct = re.compile(r"""logging\.getLogger\((?!"py4j")""")
    found = [p for p in (ROOT / "src").rglob("*.py") if direct.search(p.read_text()) and p.name != "logs.py"]
    assert not found, f"use wiesel.core.logs.get_logger in {found}"
