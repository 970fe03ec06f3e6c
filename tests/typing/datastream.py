"""What a type checker knows of the records of streams. ``mypy`` reads this file with the sources; it is not run.

Lines with ``type: ignore`` are mistakes that have to be found: mypy complains about an ignore that is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wiesel.common import Types
from wiesel.datastream import CloseableIterator, DataStream, KeyedStream, MapFunction, StreamExecutionEnvironment
from wiesel.datastream.state import ListState, ListStateDescriptor, ValueState, ValueStateDescriptor
from wiesel.datastream.window import Trigger

if TYPE_CHECKING:
    from typing_extensions import assert_type


def length(word: str) -> int:
    return len(word)


def characters(word: str) -> Iterator[str]:
    yield from word


class Untyped(MapFunction):
    def map(self, value: Any) -> Any:
        return value


def records_have_the_types_of_the_functions(env: StreamExecutionEnvironment) -> None:
    words = env.from_collection(["a", "b"])
    assert_type(words, DataStream[str])
    assert_type(words.map(length), DataStream[int])
    assert_type(words.map(lambda word: (word, 1)), DataStream[tuple[str, int]])
    assert_type(words.flat_map(characters).filter(lambda c: c.isalpha()), DataStream[str])
    assert_type(words.key_by(lambda word: word[0]), KeyedStream[str])
    assert_type(words.rebalance().name("words").union(words), DataStream[str])
    assert_type(words.map(Untyped()), DataStream[Any])


def results_have_the_type_of_the_records(env: StreamExecutionEnvironment) -> None:
    lengths = env.from_collection(["a", "b"]).map(length)
    assert_type(lengths.execute_and_collect(), CloseableIterator[int])
    assert_type(lengths.execute_and_collect(limit=3), list[int])
    assert_type(lengths.preview()[0], int)


def mistakes_are_found(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2])
    numbers.map(length)  # type: ignore[arg-type]
    numbers.map(lambda number: number.upper())  # type: ignore[attr-defined]
    numbers.union(env.from_collection(["a"]))  # type: ignore[list-item]


def a_stream_of_no_stated_type_is_one_of_anything(stream: DataStream) -> None:
    assert_type(stream.map(lambda record: record.anything), DataStream[Any])


def state_of_a_trigger_has_the_type_of_its_descriptor(ctx: Trigger.TriggerContext, descriptor: ValueStateDescriptor) -> None:
    assert_type(ctx.get_partitioned_state(descriptor), ValueState[Any])
    assert_type(ctx.get_partitioned_state(ListStateDescriptor("times", Types.LONG())), ListState[Any])
    ctx.get_partitioned_state(descriptor).add(1)  # type: ignore[attr-defined]
