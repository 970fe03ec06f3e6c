"""Every declared type that can be a key, one after the other."""

import datetime
from decimal import Decimal

from pyflink.common import Row, Types

NUMBERS = list(range(12))
KEYS = {
    "string": (lambda n: f"k{n % 3}", Types.STRING()),
    "byte": (lambda n: n % 3 - 1, Types.BYTE()),
    "short": (lambda n: n % 3 * -1000, Types.SHORT()),
    "int": (lambda n: n % 3 * 100_000, Types.INT()),
    "long": (lambda n: n % 3 * 10**15, Types.LONG()),
    "float": (lambda n: n % 3 / 4, Types.FLOAT()),
    "double": (lambda n: n % 3 / 3, Types.DOUBLE()),
    "boolean": (lambda n: n % 3 == 0, Types.BOOLEAN()),
    "decimal": (lambda n: Decimal(n % 3) / 4, Types.BIG_DEC()),
    "date": (lambda n: datetime.date(2024, 2, 27 + n % 3), Types.SQL_DATE()),
    "time": (lambda n: datetime.time(n % 3, 5), Types.SQL_TIME()),
    "timestamp": (lambda n: datetime.datetime(2024, 1, 1, n % 3), Types.SQL_TIMESTAMP()),
    "tuple": (lambda n: (n % 3, "x"), Types.TUPLE([Types.INT(), Types.STRING()])),
    "row": (lambda n: Row(n % 3, None), Types.ROW([Types.INT(), Types.STRING()])),
    "pickled": (lambda n: frozenset([n % 3]), Types.PICKLED_BYTE_ARRAY()),
}


def build(env):
    ones = env.from_collection(NUMBERS, type_info=Types.INT()).map(lambda n: (n, 1))

    def counted(select, kind):
        keyed = ones.key_by(lambda v: select(v[0]), key_type=kind)
        return keyed.reduce(lambda a, b: (0, a[1] + b[1])).map(lambda v: v[1])

    return {name: counted(*key) for name, key in KEYS.items()}


PARALLELISM = (3,)
