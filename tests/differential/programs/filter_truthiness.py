"""filter keeps a record when the function's result is true in Python's sense, and keeps the type of the stream."""

from pyflink.common import Row, Types
from pyflink.datastream import FilterFunction


class Longer(FilterFunction):
    def __init__(self, length):
        self.length = length

    def filter(self, value):
        return len(value[0]) > self.length


def build(env):
    rows = env.from_collection(
        [Row("a", 1), Row("bb", 0), Row("ccc", 3), Row("dddd", 0)],
        type_info=Types.ROW_NAMED(["word", "number"], [Types.STRING(), Types.INT()]),
    )
    return {
        "class": rows.filter(Longer(1)),
        "number": rows.filter(lambda row: row.number),
        "none": rows.filter(lambda row: None),
        "chain": rows.filter(lambda row: row["word"] > "a").filter(lambda row: row[1] == 0),
    }
