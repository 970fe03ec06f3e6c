"""Harness of a function of the DataStream API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wiesel.core.argument_checks import describe
from wiesel.core.user_location import program_error
from wiesel.datastream import DataStream
from wiesel.spi import functions as spi
from wiesel.spi.state import MapStateDescriptor
from wiesel.testing._definition import Definition
from wiesel.testing.harness import StreamHarness
from wiesel.types.typeinfo import TypeInformation

__all__ = ["function_harness"]

KeySelectors = Callable[[Any], Any] | spi.KeySelector | Sequence[Callable[[Any], Any] | spi.KeySelector]

_METHODS: dict[type, str] = {
    spi.MapFunction: "map",
    spi.FlatMapFunction: "flat_map",
    spi.FilterFunction: "filter",
    spi.ReduceFunction: "reduce",
    spi.ProcessFunction: "process",
    spi.KeyedProcessFunction: "process",
}
_CO_METHODS: dict[type, str] = {
    spi.CoMapFunction: "map",
    spi.CoFlatMapFunction: "flat_map",
    spi.CoProcessFunction: "process",
    spi.KeyedCoProcessFunction: "process",
}
_BROADCAST = (spi.BroadcastProcessFunction, spi.KeyedBroadcastProcessFunction)
_NEEDS_KEY = (spi.ReduceFunction, spi.KeyedProcessFunction, spi.KeyedCoProcessFunction, spi.KeyedBroadcastProcessFunction)


def function_harness(
    function: Any,
    key_selector: KeySelectors | None = None,
    *,
    key_type: TypeInformation | None = None,
    output_type: TypeInformation | None = None,
    broadcast_state: MapStateDescriptor | Sequence[MapStateDescriptor] = (),
    **options: Any,
) -> StreamHarness:
    """Return a harness that runs one function.

    ::

        with function_harness(CountPerUser(), key_selector=lambda click: click["user"]) as harness:
            harness.push({"user": "ann"}, timestamp=1_000)
            assert harness.state("ann") == {"count": 1}

    Args:
        function: A MapFunction, FlatMapFunction, FilterFunction, ReduceFunction, ProcessFunction, KeyedProcessFunction, CoMapFunction,
            CoFlatMapFunction, CoProcessFunction, KeyedCoProcessFunction, BroadcastProcessFunction or KeyedBroadcastProcessFunction. For
            others, and for windows, use :class:`StreamHarness`.
        key_selector: Makes the stream keyed. For functions with two inputs one for both, or a pair.
        key_type: The declared type of the keys.
        output_type: The declared type of the results.
        broadcast_state: For broadcast functions the descriptors of their broadcast states. Input 2 is the broadcast input.
        options: Arguments of :class:`StreamHarness`.

    Raises:
        ProgramError: If the function is of another class, or one on keyed streams has no key selector.
    """
    interface = next((i for i in (*_METHODS, *_CO_METHODS, *_BROADCAST) if isinstance(function, i)), None)
    if interface is None:
        raise program_error(f"function_harness() cannot run {describe(function)}", _way_out(function))
    if key_selector is None and issubclass(interface, _NEEDS_KEY):
        raise program_error(
            f"{type(function).__name__} is a {interface.__name__}, which runs on a keyed stream, and has no key selector",
            "give key_selector=..., which returns the key of a record",
        )
    if interface in _BROADCAST:
        states = [broadcast_state] if isinstance(broadcast_state, MapStateDescriptor) else list(broadcast_state)
        define = _broadcast(function, _pair(key_selector, 1), key_type, output_type, states)
    elif interface in _CO_METHODS:
        define = _on_two(_CO_METHODS[interface], function, _pair(key_selector, 2), key_type, output_type)
    else:
        define = _on_one(_METHODS[interface], function, _pair(key_selector, 1), key_type, output_type)
    return StreamHarness(define, **options)


_Selectors = list[Any] | None
_Type = TypeInformation | None


def _on_one(method: str, function: Any, selectors: _Selectors, key_type: _Type, output_type: _Type) -> Definition:
    # filter() and reduce() keep the type of their input.
    arguments = {} if method in ("filter", "reduce") else {"output_type": output_type}

    def define(stream: DataStream) -> Any:
        keyed = stream if selectors is None else stream.key_by(selectors[0], key_type)
        return getattr(keyed, method)(function, **arguments)

    return define


def _on_two(method: str, function: Any, selectors: _Selectors, key_type: _Type, output_type: _Type) -> Definition:
    def define(first: DataStream, second: DataStream) -> Any:
        connected = first.connect(second)
        keyed = connected if selectors is None else connected.key_by(selectors[0], selectors[1], key_type)
        return getattr(keyed, method)(function, output_type)

    return define


def _broadcast(function: Any, selectors: _Selectors, key_type: _Type, output_type: _Type, states: list[MapStateDescriptor]) -> Definition:
    if not states:
        raise program_error(
            f"{type(function).__name__} has no broadcast state", "give broadcast_state=..., the descriptor of its map state"
        )

    def define(stream: DataStream, broadcast: DataStream) -> Any:
        keyed = stream if selectors is None else stream.key_by(selectors[0], key_type)
        return keyed.connect(broadcast.broadcast(*states)).process(function, output_type)

    return define


def _pair(key_selector: KeySelectors | None, inputs: int) -> list[Any] | None:
    if key_selector is None:
        return None
    if not isinstance(key_selector, Sequence):
        return [key_selector] * inputs
    if len(key_selector) != inputs:
        raise program_error(
            f"there are {len(key_selector)} key selectors for {inputs} input{'s' if inputs > 1 else ''}", "give one, or one per input"
        )
    return list(key_selector)


def _way_out(function: Any) -> str:
    if isinstance(function, type) and issubclass(function, spi.Function):
        return f"give an instance: {function.__name__}(...)"
    if isinstance(function, spi.Function):
        return "run it by the call that takes it: StreamHarness(lambda stream: stream.key_by(...).window(...).process(function))"
    if callable(function):
        return "a plain callable could be anything: StreamHarness(lambda stream: stream.map(function))"
    return "give an instance of a subclass of MapFunction, KeyedProcessFunction, ..."
