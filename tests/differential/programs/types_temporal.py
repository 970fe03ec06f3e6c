"""Dates, times, timestamps and decimals through declared types."""

import datetime
from decimal import Decimal

from pyflink.common import Types

DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(2024, 2, 29, 13, 45, 59, 123000)

SEPARATE = True


def build(env):
    numbers = env.from_collection([0, 400], type_info=Types.INT())
    days = datetime.timedelta(days=1)
    return {
        "date": numbers.map(lambda n: DAY + n * days, output_type=Types.SQL_DATE()),
        "time": numbers.map(lambda n: datetime.time(23, 59, n // 10), output_type=Types.SQL_TIME()),
        "timestamp": numbers.map(lambda n: MOMENT + n * days, output_type=Types.SQL_TIMESTAMP()),
        "decimal": numbers.map(lambda n: Decimal(n) / 8 + Decimal("0.100"), output_type=Types.BIG_DEC()),
        "pickled": numbers.map(lambda n: (DAY, MOMENT, Decimal("1.10"), datetime.time(1, 2, 3, 4))),
        "in row": numbers.map(lambda n: (DAY, Decimal(n)), output_type=Types.TUPLE([Types.SQL_DATE(), Types.BIG_DEC()])),
    }
