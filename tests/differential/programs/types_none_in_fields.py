"""None in the fields of rows of every type."""

import datetime
from decimal import Decimal

from pyflink.common import Row, Types

FIELDS = {
    "string": (Types.STRING(), "s"),
    "byte": (Types.BYTE(), 1),
    "short": (Types.SHORT(), 2),
    "int": (Types.INT(), 3),
    "long": (Types.LONG(), 4),
    "float": (Types.FLOAT(), 0.5),
    "double": (Types.DOUBLE(), 0.1),
    "boolean": (Types.BOOLEAN(), False),
    "decimal": (Types.BIG_DEC(), Decimal("1.50")),
    "date": (Types.SQL_DATE(), datetime.date(2024, 2, 29)),
    "time": (Types.SQL_TIME(), datetime.time(1, 2, 3)),
    "timestamp": (Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3)),
    "list": (Types.LIST(Types.INT()), [1]),
    "map": (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}),
    "array": (Types.BASIC_ARRAY(Types.STRING()), ["x"]),
    "row": (Types.ROW([Types.INT()]), Row(9)),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "y")),
    "pickled": (Types.PICKLED_BYTE_ARRAY(), {3}),
}
KIND = Types.ROW_NAMED([name.replace(" ", "_") for name in FIELDS], [kind for kind, _ in FIELDS.values()])

SEPARATE = True


def only(number):
    """A row in which only one field is not None; none for a number behind the last field, all for -1."""
    return Row(*(value if number in (index, -1) else None for index, (_, value) in enumerate(FIELDS.values())))


def build(env):
    numbers = env.from_collection(list(range(-1, len(FIELDS) + 1)), type_info=Types.INT())
    rows = numbers.map(only, output_type=KIND)
    return {"rows": rows, "keyed": rows.key_by(lambda r: r.string).map(lambda r: r, output_type=KIND)}


PARALLELISM = (2,)
