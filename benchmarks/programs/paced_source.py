"""Numbered records at a given rate, stamped with the time they are made: the one thing that Wiesel and PyFlink cannot share.

A source of one's own cannot be written in PyFlink's Python, so there it is the datagen table, whose rate limiter and clock run in Java:
no stamp waits for a bundle of Python records. It is stamped to the millisecond.
"""

import importlib.util
import time

from pyflink.common import Types, WatermarkStrategy


def paced(env, records, rate, parallelism=None):
    """Return a stream of (number, stamp) of 0 to ``records - 1``; a rate of 0 is as fast as it goes."""
    make = _by_wiesel if importlib.util.find_spec("wiesel") else _by_flink
    return make(env, records, rate, parallelism or env.get_parallelism())


def stamp_ns(stamp):
    """Return a record's stamp in ns since the epoch."""
    return stamp if isinstance(stamp, int) else stamp.seconds * 1_000_000_000 + stamp.nanos


def _stamped(number):
    return number, time.time_ns()


def _by_wiesel(env, records, rate, parallelism):
    from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

    limit = RateLimiterStrategy.per_second(rate) if rate else RateLimiterStrategy.no_op()
    source = DataGeneratorSource(_stamped, records, limit, Types.TUPLE([Types.LONG(), Types.LONG()]))
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "paced").set_parallelism(parallelism)


def _by_flink(env, records, rate, parallelism):
    from pyflink.table import StreamTableEnvironment

    tables = StreamTableEnvironment.create(env)
    tables.execute_sql(
        "CREATE TEMPORARY TABLE paced (number BIGINT) WITH ('connector' = 'datagen', "
        f"'rows-per-second' = '{rate or 100_000_000}', 'scan.parallelism' = '{parallelism}', 'fields.number.kind' = 'sequence', "
        f"'fields.number.start' = '0', 'fields.number.end' = '{records - 1}')"
    )
    return tables.to_data_stream(tables.sql_query("SELECT number, CURRENT_ROW_TIMESTAMP() AS stamp FROM paced"))
