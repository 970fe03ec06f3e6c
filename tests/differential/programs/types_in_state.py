"""Every declared type in a value state, written and read back."""

import datetime
from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

CASES = {
    "string": (Types.STRING(), "ä€😀"),
    "byte": (Types.BYTE(), -128),
    "short": (Types.SHORT(), 32767),
    "int": (Types.INT(), -(2**31)),
    "long": (Types.LONG(), 2**63 - 1),
    "double": (Types.DOUBLE(), 0.1),
    "boolean": (Types.BOOLEAN(), True),
    "decimal": (Types.BIG_DEC(), Decimal("12.50")),
    "date": (Types.SQL_DATE(), datetime.date(1969, 12, 31)),
    "time": (Types.SQL_TIME(), datetime.time(23, 59, 58)),
    "timestamp": (Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3)),
    "tuple": (Types.TUPLE([Types.INT(), Types.TUPLE([Types.STRING()])]), (1, ("x",))),
    "row": (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), Row(a=1, b=None)),
    "list": (Types.LIST(Types.LIST(Types.INT())), [[1], [], [2, 3]]),
    "map": (Types.MAP(Types.STRING(), Types.INT()), {"a": 1, "b": -1}),
    "array": (Types.BASIC_ARRAY(Types.STRING()), ["p", "q"]),
    "primitive array": (Types.PRIMITIVE_ARRAY(Types.DOUBLE()), [1.5, 2.5]),
    "pickled": (Types.PICKLED_BYTE_ARRAY(), {1: {2}}),
}


class WriteAndRead(KeyedProcessFunction):
    def open(self, runtime_context):
        self.states = {name: runtime_context.get_state(ValueStateDescriptor(name, kind)) for name, (kind, _) in CASES.items()}

    def process_element(self, value, ctx):
        for name, state in self.states.items():
            if value[1]:
                read = state.value()
                yield value[0], name, list(read) if read and name in ("array", "primitive array") else read
            else:
                state.update(CASES[name][1])


def build(env):
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    values = [("a", False), ("b", True), ("a", True), ("c", False), ("c", True)]
    pairs = env.from_collection(values, type_info=Types.TUPLE([Types.STRING(), Types.BOOLEAN()]))
    return pairs.key_by(lambda v: v[0], key_type=Types.STRING()).process(WriteAndRead()).set_parallelism(parallelism)


PARALLELISM = (2,)
