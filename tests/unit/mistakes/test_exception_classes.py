"""Wrong calls raise what they raise in PyFlink, or a class derived from it, so that its ``except`` clauses work here."""

from __future__ import annotations

import builtins
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.unit.mistakes.corpus import process_as_found
from wiesel.core import config
from wiesel.core.errors import ProgramError
from wiesel.platform import pyflink_hook
from wiesel.spi.table import catalog_errors

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
OTHER = {
    'ProcessingTimeSessionWindows.with_gap("x")': "durations may be strings here: this one has no unit",
    'ContinuousProcessingTimeTrigger.of("a")': "durations may be strings here: this one has no unit",
    "t_env.from_elements(None)": "it is a TypeError, as for everything else that is not iterable",
    "HiveCatalog(None)": "there is no such catalog, whatever its name",
    "t_env.execute_sql(\"SET 'parallelism.default' = 'x'\")": "it is a ConfigurationError, as for options set in other ways",
    'udf(lambda x: x, input_types=["a", 5], result_type=DataTypes.INT())': "types may be strings here: the first one is none",
    "udaf(Sum(), result_type=5)": "the result type is checked before the accumulator's",
}
"""Calls that raise other classes, and why."""


@pytest.fixture
def wrong_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(DIFFERENTIAL))
    with process_as_found():
        pyflink_hook.install()
        config.set_process_defaults({"wiesel.engine": "local"})
        yield importlib.import_module("wrong_calls")
        sys.modules.pop("wrong_calls")


def test_exception_classes_of_wrong_calls(wrong_calls: ModuleType) -> None:
    expected: dict[str, str] = json.loads((DIFFERENTIAL / "goldens_wrong_calls.json").read_text())
    found = wrong_calls.classes_raised(list(expected))
    wrong = []
    for call, name in expected.items():
        wanted = getattr(catalog_errors, name, None) or getattr(builtins, name, Exception)
        raised = found[call]
        if name == "accepted" or raised is None:
            continue  # one of the two accepts what the other refuses
        if issubclass(raised, wanted) is (call in OTHER):
            wrong.append(f"{call}: {name} in PyFlink, {raised.__name__} here")
    assert not wrong, "\n".join(wrong)
    both = sum(1 for call, name in expected.items() if name != "accepted" and found[call] is not None)
    assert both > 0.9 * sum(name != "accepted" for name in expected.values())


def test_errors_of_arguments_are_program_errors(wrong_calls: ModuleType) -> None:
    with pytest.raises(ProgramError):
        wrong_calls.make("ds.map(5)")
