"""Keys that are equal by their contents: NaN, lists, dicts, sets and byte arrays. Expected values were recorded with PyFlink 2.3."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from wiesel.common import Configuration, Row, Types
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.functions import KeyedProcessFunction, RuntimeContext, WindowFunction
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.datastream.window import CountTumblingWindowAssigner, CountWindow
from wiesel.state.key_groups import stable_hash
from wiesel.state.value_keys import comparable_keys

NAN = float("nan")


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[str]:
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()!r} {self.count.value()}"


def environment(backend: str = "hashmap") -> StreamExecutionEnvironment:
    config = Configuration.from_dict({"wiesel.engine": "local", "state.backend.type": backend, "parallelism.default": "2"})
    return StreamExecutionEnvironment.get_execution_environment(config)


CASES: list[tuple[list[Any], Any, list[str]]] = [
    ([NAN, 1.5, float("nan")], None, ["nan 1", "1.5 1", "nan 2"]),
    ([NAN, float("nan"), -NAN], Types.DOUBLE(), ["nan 1", "nan 2", "nan 3"]),
    ([NAN, float("nan")], Types.FLOAT(), ["nan 1", "nan 2"]),
    ([[1], [1, 2], [1], [1, 2], (1,)], None, ["[1] 1", "[1, 2] 1", "[1] 2", "[1, 2] 2", "(1,) 1"]),
    ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], None, ["{'a': 1, 'b': 2} 1", "{'b': 2, 'a': 1} 2"]),
    ([{1, 2}, {2, 1}, {3}], None, ["{1, 2} 1", "{1, 2} 2", "{3} 1"]),
    ([bytearray(b"a"), bytearray(b"a")], None, ["bytearray(b'a') 1", "bytearray(b'a') 2"]),
    ([(NAN, 1), (float("nan"), 1)], None, ["(nan, 1) 1", "(nan, 1) 2"]),
    ([(NAN, 1), (float("nan"), 1)], Types.TUPLE([Types.DOUBLE(), Types.INT()]), ["(nan, 1) 1", "(nan, 1) 2"]),
    ([[1], [1, 2], [1]], Types.LIST(Types.INT()), ["[1] 1", "[1, 2] 1", "[1] 2"]),
    ([{"a": 1}, {"a": 1}, {"b": 1}], Types.MAP(Types.STRING(), Types.INT()), ["{'a': 1} 1", "{'a': 1} 2", "{'b': 1} 1"]),
    ([Row(1, NAN), Row(1, float("nan"))], Types.ROW([Types.INT(), Types.DOUBLE()]), ["Row(f0=1, f1=nan) 1", "Row(f0=1, f1=nan) 2"]),
]


def test_keys_of_equal_contents_are_one_key() -> None:
    env = environment()
    stream = env.from_collection(list(range(len(CASES))))
    for number, (keys, key_type, _) in enumerate(CASES):
        labelled = env.from_collection(list(range(len(keys)))).key_by(lambda i, keys=keys: keys[i], key_type).process(Count())
        stream = stream.union(labelled.map(lambda text, number=number: (number, text)))
    found: dict[int, list[str]] = {}
    for result in stream.execute_and_collect():
        if isinstance(result, tuple):
            found.setdefault(result[0], []).append(result[1])
    assert {number: sorted(texts) for number, texts in found.items()} == {n: sorted(case[2]) for n, case in enumerate(CASES)}


@pytest.mark.parametrize("backend", ["hashmap", "lmdb"])
def test_windows_get_the_key_itself(backend: str) -> None:
    class Sizes(WindowFunction[Any, Any, Any, CountWindow]):
        def apply(self, key: Any, window: CountWindow, inputs: Iterable[Any]) -> Iterable[Any]:
            yield type(key).__name__, len(list(inputs))

    values = [[1], [1], float("nan"), float("nan")]
    windows = environment(backend).from_collection(values).key_by(lambda value: value).window(CountTumblingWindowAssigner(2))
    assert sorted(windows.apply(Sizes()).execute_and_collect()) == [("float", 2), ("list", 2)]


def test_wrapped_keys_are_copies_that_survive_pickling() -> None:
    changed = [1, [2]]
    (key,) = comparable_keys([changed])
    changed.append(3)
    assert key.value == [1, [2]] and pickle.loads(pickle.dumps(key)) == key
    assert stable_hash(pickle.loads(pickle.dumps(key))) == stable_hash(key) != stable_hash((1, (2,)))


@pytest.mark.parametrize("keys", [[1, "a", None], [(1, "a"), (2, None)], [1.5, -0.0, 0.0], [1, 1.5, ("a", 2.5)], [Row(1, 2.5)]])
def test_ordinary_keys_stay_as_they_are(keys: list[Any]) -> None:
    assert all(a is b for a, b in zip(comparable_keys(keys), keys, strict=True))


class Unequal:
    pass


def test_parts_that_cannot_be_compared_are_refused() -> None:
    select: Callable[[int], Any] = lambda _: [Unequal()]  # noqa: E731
    with pytest.raises(JobExecutionError, match="compared by identity"):
        list(environment().from_collection([1]).key_by(select).map(str).execute_and_collect())
