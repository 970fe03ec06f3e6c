"""Jobs that show what values of a declared type become where they pass: built with PyFlink's names, for real Flink and for Wiesel."""

from __future__ import annotations

from typing import Any

from type_values import shown

SITES = ("collection", "collected", "printed", "passed", "process", "side output", "key", "broadcast key", "broadcast value")
"""``from_collection()``, and behind it functions; ``collect()``, ``print()`` and functions behind a map; and so on."""

IN_PYTHON = SITES[3:]
"""Where a function sees the value: results are pairs of an index and a text."""

UNDECLARED = "undeclared"
"""In place of a type: values are pickled."""

LAST = 2**60


def sites_of(declared: str) -> tuple[str, ...]:
    """Return the sites at which values of a type are run: all for simple types, for others those where they are encoded.

    A CHAR and a BIG_INT do not come back into a Python function in PyFlink, and a BIG_INT not out of one.
    """
    if declared == UNDECLARED:
        return SITES[:-2]
    if "BIG_INT" in declared:
        return SITES[:1]
    if "Types." not in declared:
        return SITES
    if "CHAR" in declared:
        return SITES[:3]
    return ("collection", "collected", "printed", "passed", *(["key"] if declared.startswith(("TUPLE", "ROW")) else []))


def build(site: str, env: Any, names: dict[str, Any], declared: str, expressions: list[str]) -> Any:
    """Return the stream of a site; it has a record for each value.

    Values and types are made anew wherever they are needed, as types of PyFlink cannot be pickled once they were used.
    """
    types = names["Types"]

    def kind() -> Any:
        return None if declared == UNDECLARED else eval(f"Types.{declared}", names)

    values = [eval(expression, names) for expression in expressions]
    if site == "collection":
        return env.from_collection(values, kind())
    numbers = env.from_collection(list(range(len(values))), types.INT())
    if site in ("collected", "printed"):
        return numbers.map(lambda number: values[number], kind())
    told = {"passed": _passed, "process": _process, "side output": _side_output, "key": _key, "broadcast key": _broadcast}
    return told.get(site, _broadcast)(site, numbers, values, kind, types)


def _texts(stream: Any, types: Any) -> Any:
    counter = iter(range(1 << 30))
    return stream.map(lambda value: (next(counter), shown(value)), types.TUPLE([types.INT(), types.STRING()])).disable_chaining()


def _passed(site: str, numbers: Any, values: list[Any], kind: Any, types: Any) -> Any:
    return _texts(numbers.flat_map(lambda number: [values[number]], kind()), types)


def _process(site: str, numbers: Any, values: list[Any], kind: Any, types: Any) -> Any:
    from pyflink.datastream import ProcessFunction

    class Process(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield values[value]

    return _texts(numbers.process(Process(), kind()), types)


def _side_output(site: str, numbers: Any, values: list[Any], kind: Any, types: Any) -> Any:
    from pyflink.datastream import OutputTag, ProcessFunction

    tag = OutputTag("side", kind())

    class Side(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield tag, values[value]

    return _texts(numbers.process(Side(), types.INT()).get_side_output(tag), types)


def _key(site: str, numbers: Any, values: list[Any], kind: Any, types: Any) -> Any:
    from pyflink.datastream import KeyedProcessFunction

    class Keys(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value, shown(ctx.get_current_key())

    keyed = numbers.key_by(lambda number: values[number], kind())
    return keyed.process(Keys(), types.TUPLE([types.INT(), types.STRING()]))


def _broadcast(site: str, numbers: Any, values: list[Any], kind: Any, types: Any) -> Any:
    from pyflink.datastream import KeyedBroadcastProcessFunction
    from pyflink.datastream.state import MapStateDescriptor

    of_keys = site == "broadcast key"

    # Each key has a state of its own, as keys of several values may be equal.
    def descriptors() -> list[Any]:
        pair = (kind, types.INT) if of_keys else (types.INT, kind)
        return [MapStateDescriptor(f"state {number}", pair[0](), pair[1]()) for number in range(len(values) if of_keys else 1)]

    told = descriptors()

    class Reads(KeyedBroadcastProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.timer_service().register_event_time_timer(LAST)
            return []

        def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
            if of_keys:
                ctx.get_broadcast_state(told[value]).put(values[value], value)
            else:
                ctx.get_broadcast_state(told[0]).put(value, values[value])
            return []

        def on_timer(self, timestamp: int, ctx: Any) -> Any:
            for state in told:
                for key, value in ctx.get_broadcast_state(state).items():
                    yield (value, shown(key)) if of_keys else (key, shown(value))

    one = numbers.filter(lambda number: number == 0).key_by(lambda number: 0, types.INT())
    return one.connect(numbers.broadcast(*descriptors())).process(Reads(), types.TUPLE([types.INT(), types.STRING()]))
