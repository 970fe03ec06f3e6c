"""A function of the DataStream API under test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wiesel.datastream import DataStream
from wiesel.datastream._checks import describe, program_error
from wiesel.spi import functions as spi
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
_NEEDS_KEY = (spi.ReduceFunction, spi.KeyedProcessFunction, spi.KeyedCoProcessFunction)


def function_harness(
    function: Any,
    key_selector: KeySelectors | None = None,
    *,
    key_type: TypeInformation | None = None,
    output_type: TypeInformation | None = None,
    **options: Any,
) -> StreamHarness:
    """Return a harness that runs one function.

    ::

        with function_harness(CountPerUser(), key_selector=lambda click: click["user"]) as harness:
            harness.push({"user": "ann"}, timestamp=1_000)
            assert harness.state("ann") == {"count": 1}

    Args:
        function: A MapFunction, FlatMapFunction, FilterFunction, ReduceFunction, ProcessFunction, KeyedProcessFunction, CoMapFunction,
            CoFlatMapFunction, CoProcessFunction or KeyedCoProcessFunction. For others, and for windows, use :class:`StreamHarness`.
        key_selector: Makes the stream keyed. For functions of two inputs one for both, or a pair.
        key_type: The declared type of the keys.
        output_type: The declared type of the results.
        options: Arguments of :class:`StreamHarness`.

    Raises:
        ProgramError: The function is of another class, or one on keyed streams has no key selector.
    """
    for interface, method in (_METHODS | _CO_METHODS).items():
        if isinstance(function, interface):
            if key_selector is None and issubclass(interface, _NEEDS_KEY):
                raise program_error(
                    f"{type(function).__name__} is a {interface.__name__}, which runs on a keyed stream, and has no key selector",
                    "give key_selector=..., which returns the key of a record",
                )
            two = interface in _CO_METHODS
            return StreamHarness(_definition(method, two, function, key_selector, key_type, output_type), **options)
    raise program_error(f"function_harness() does not know how to run {describe(function)}", _way_out(function))


def _definition(
    method: str, two: bool, function: Any, key_selector: KeySelectors | None, key_type: TypeInformation | None, output_type: Any
) -> Definition:
    selectors = _pair(key_selector, 2 if two else 1)
    # filter() and reduce() keep the type of their input.
    arguments = {} if method in ("filter", "reduce") else {"output_type": output_type}

    def on_one(stream: DataStream) -> Any:
        keyed = stream if selectors is None else stream.key_by(selectors[0], key_type)
        return getattr(keyed, method)(function, **arguments)

    def on_two(first: DataStream, second: DataStream) -> Any:
        connected = first.connect(second)
        keyed = connected if selectors is None else connected.key_by(selectors[0], selectors[1], key_type)
        return getattr(keyed, method)(function, **arguments)

    return on_two if two else on_one


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
