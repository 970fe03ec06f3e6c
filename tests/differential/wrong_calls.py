"""The wrong calls of ``wrong_calls.txt``, made on PyFlink by ``record_wrong_calls.py`` and on Wiesel by a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_IMPORTS = """
import pandas as pd
from pyflink.common import *
from pyflink.common.serialization import *
from pyflink.datastream import *
from pyflink.datastream.connectors.file_system import *
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.formats.csv import *
from pyflink.datastream.formats.json import *
from pyflink.datastream.functions import *
from pyflink.datastream.output_tag import OutputTag
from pyflink.datastream.slot_sharing_group import *
from pyflink.datastream.state import *
from pyflink.datastream.state_backend import *
from pyflink.datastream.checkpoint_storage import *
from pyflink.datastream.async_retry_strategies import *
from pyflink.datastream.window import *
from pyflink.table import *
from pyflink.table.catalog import *
from pyflink.table.catalog import CatalogModel
from pyflink.table.expressions import *
from pyflink.table.udf import ScalarFunction, TableFunction, udf, udtf, udaf, udtaf, FunctionContext
from pyflink.table.udf import AggregateFunction as AggregateFunction_of_tables
from pyflink.table.window import Over, Session, Slide, Tumble
from pyflink.datastream.functions import AggregateFunction
from pyflink.common import Row, RowKind, Configuration, Time
from pyflink.common.watermark_strategy import *
"""
_FIXTURES = """
class Window(ProcessWindowFunction):
    def process(self, key, context, elements):
        return []
class NoMerging(CountTrigger):
    def __init__(self):
        super().__init__(3)
    def can_merge(self):
        return False
class Broadcast(BroadcastProcessFunction):
    def process_element(self, value, context): ...
    def process_broadcast_element(self, value, context): ...
class Keyed(KeyedBroadcastProcessFunction):
    def process_element(self, value, context): ...
    def process_broadcast_element(self, value, context): ...
class Async(AsyncFunction):
    async def async_invoke(self, value):
        return [value]
class NotAsync(AsyncFunction):
    def async_invoke(self, value):
        return [value]
class Random(ScalarFunction):
    def eval(self, x):
        return x
    def is_deterministic(self):
        return False
class Sum(AggregateFunction_of_tables):
    def get_value(self, accumulator):
        return accumulator[0]
    def create_accumulator(self):
        return [0]
    def accumulate(self, accumulator, value):
        accumulator[0] += value
class Bare(AggregateFunction_of_tables):
    def get_value(self, accumulator):
        return accumulator[0]
    def create_accumulator(self):
        return [0]
    def accumulate(self, accumulator, value):
        accumulator[0] += value
async def coroutine(x):
    return x
frame = pd.DataFrame({"a": [1], "b": [2]})
double = udf(lambda x: x, result_type=DataTypes.INT())
split = udtf(lambda x: [x], result_types=[DataTypes.INT()])
"""
_OBJECTS = """
env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
ds = env.from_collection([1, 2, 3], Types.INT())
pairs = env.from_collection([(1, "a")], Types.TUPLE([Types.INT(), Types.STRING()]))
keyed = ds.key_by(lambda v: v)
t = t_env.from_elements([(1, 2)], ["a", "b"])
"""


def calls() -> list[str]:
    """Return the calls of ``wrong_calls.txt``."""
    lines = Path(__file__).with_name("wrong_calls.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def make(statement: str, names: dict[str, Any] | None = None) -> None:
    """Make a call on objects of its own."""
    made = dict(_names() if names is None else names)
    exec(_OBJECTS, made)
    exec(statement, made)


def classes_raised(statements: list[str]) -> dict[str, type[Exception] | None]:
    """Make each call and return the class of the exception that it raises, None where there is none."""
    names = _names()
    found: dict[str, type[Exception] | None] = {}
    for statement in statements:
        try:
            make(statement, names)
        except Exception as error:  # noqa: BLE001 - whatever the call raises is the result
            found[statement] = type(error)
        else:
            found[statement] = None
    return found


def _names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(_IMPORTS + _FIXTURES, names)
    return names
