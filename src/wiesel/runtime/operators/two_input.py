"""Internal. Operators with two inputs: functions of connected streams, keyed or not.

``co_map`` and ``co_flat_map`` have params ``{"keyed": bool}``: on keyed streams their functions get keyed state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.runtime.operators.process import KeyedFunctionOperator, UnkeyedFunctionOperator
from wiesel.wire.batch import Batch

__all__ = ["co_flat_map_operator", "co_map_operator", "co_process_operator", "keyed_co_process_operator"]

_Process = Callable[[Any, Any], Any]


class CoFunctionOperator(UnkeyedFunctionOperator):
    """Runs a function of two connected streams."""

    def __init__(self, function: Any, output_type: Any, processes: tuple[_Process, _Process]) -> None:
        super().__init__(function, output_type)
        self._processes = processes

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records of one of the streams."""
        self.run(self._processes[input_index], batch)


class KeyedCoFunctionOperator(KeyedFunctionOperator):
    """Runs a function of two connected keyed streams, which share keyed state and timers."""

    def __init__(self, function: Any, output_type: Any, processes: tuple[_Process, _Process]) -> None:
        super().__init__(function, output_type)
        self._processes = processes

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records of one of the streams under their keys."""
        self.run(self._processes[input_index], batch)


def _mapping(call: Callable[[Any], Any]) -> _Process:
    def process(value: Any, _: Any) -> Any:
        result = call(value)
        return None if result is None else (result,)

    return process


def _flat_mapping(call: Callable[[Any], Any]) -> _Process:
    return lambda value, _: call(value)


def _operator(params: dict[str, Any], payload: Any, processes: tuple[_Process, _Process]) -> CoFunctionOperator | KeyedCoFunctionOperator:
    kind = KeyedCoFunctionOperator if params.get("keyed") else CoFunctionOperator
    return kind(payload["function"], payload.get("output_type"), processes)


def co_map_operator(params: dict[str, Any], payload: Any) -> CoFunctionOperator | KeyedCoFunctionOperator:
    """Create the operator of ``map`` on connected streams; a result None is no result."""
    function = payload["function"]
    return _operator(params, payload, (_mapping(function.map1), _mapping(function.map2)))


def co_flat_map_operator(params: dict[str, Any], payload: Any) -> CoFunctionOperator | KeyedCoFunctionOperator:
    """Create the operator of ``flat_map`` on connected streams."""
    function = payload["function"]
    return _operator(params, payload, (_flat_mapping(function.flat_map1), _flat_mapping(function.flat_map2)))


def co_process_operator(params: dict[str, Any], payload: Any) -> CoFunctionOperator:
    """Create the operator of ``process`` on connected streams."""
    function = payload["function"]
    return CoFunctionOperator(function, payload.get("output_type"), (function.process_element1, function.process_element2))


def keyed_co_process_operator(params: dict[str, Any], payload: Any) -> KeyedCoFunctionOperator:
    """Create the operator of ``process`` on connected keyed streams."""
    function = payload["function"]
    return KeyedCoFunctionOperator(function, payload.get("output_type"), (function.process_element1, function.process_element2))
