"""Programs that tell when watermarks of a table come between its rows, and in which order windows join rows, for both PyFlink and Wiesel;
what real Flink made of them is in ``goldens/table_watermarks.json``.

A case is a function of ``x``, which has the names of both APIs, of a stream environment and of a table environment on it. It returns a
table or a stream of texts, whose order counts. The interval of watermarks is 10 s where nothing else is said, before which a job of so few
rows has ended: the clock emits none.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Case = Callable[[Any, Any, Any], Any]
CASES: dict[str, Case] = {}

_FIRST = 1_700_000_000_000
_STEPS = (0, 100, 150, 400, 390, 700, 650, 640, 800, 1500, 1200, 1501, 1700, 1702, 5000, 4000, 4801, 4999, 5200, 5201)


def _random(seed: int, count: int = 60) -> tuple[int, ...]:
    draw = random.Random(seed)
    time = _FIRST
    found = []
    for _ in range(count):
        time += draw.choice((0, 1, 1000, 4500, 7500, 10_000, 10_001, 17_500, 60_000))
        found.append(time - draw.choice((0, 0, 0, 250, 7500, 15_000, 45_000)))
    return tuple(found)


_TIMES = {
    "base": tuple(_FIRST + 50 * step for step in _STEPS),
    "random": _random(1),
    "dense": tuple(_FIRST + 350 * n for n in range(200)),
    "first": (0, 7500, 10_000, 10_001, 17_500, 20_002, 5000, 35_000),
}


_COUNTS = """SELECT 'w' k, CAST(COUNT(*) AS INT) c, window_time FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY window_start, window_end, window_time"""


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def _table(x: Any, env: Any, t_env: Any, times: str = "base", delay: str = "", *, interval_is_set: bool = False) -> Any:
    """A table of ``k``, ``n`` and ``ts`` with a watermark at ``ts``, or some time before it."""
    if not interval_is_set:
        env.get_config().set_auto_watermark_interval(10_000)
    rows = [("ab"[n % 3 == 0], n, time) for n, time in enumerate(_TIMES[times])]
    stream = env.from_collection(rows, x.Types.ROW_NAMED(["k", "n", "t"], [x.Types.STRING(), x.Types.INT(), x.Types.LONG()]))
    schema = x.Schema.new_builder().column("k", "STRING").column("n", "INT").column("t", "BIGINT")
    schema = schema.column_by_expression("ts", "TO_TIMESTAMP_LTZ(t, 3)").watermark("ts", f"ts{delay}")
    table = t_env.from_data_stream(stream, schema.build())
    t_env.create_temporary_view("t", table)
    return table


def _asked(x: Any, env: Any, t_env: Any, times: str, delay: str = "", *, interval_is_set: bool = False) -> Any:
    _table(x, env, t_env, times, delay, interval_is_set=interval_is_set)
    return t_env.sql_query("SELECT n, CAST(CURRENT_WATERMARK(ts) AS STRING) w FROM t")


@case
def asked_in_select(x: Any, env: Any, t_env: Any) -> Any:
    return _asked(x, env, t_env, "base")


@case
def asked_of_random_times(x: Any, env: Any, t_env: Any) -> Any:
    return _asked(x, env, t_env, "random", " - INTERVAL '5' SECOND")


@case
def asked_of_dense_times(x: Any, env: Any, t_env: Any) -> Any:
    return _asked(x, env, t_env, "dense")


@case
def asked_of_first_times(x: Any, env: Any, t_env: Any) -> Any:
    return _asked(x, env, t_env, "first")


@case
def asked_with_another_interval(x: Any, env: Any, t_env: Any) -> Any:
    env.get_config().set_auto_watermark_interval(50_000)
    return _asked(x, env, t_env, "random", interval_is_set=True)


@case
def asked_without_interval(x: Any, env: Any, t_env: Any) -> Any:
    env.get_config().set_auto_watermark_interval(0)
    return _asked(x, env, t_env, "random", interval_is_set=True)


@case
def late_rows_are_left_out(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query("SELECT n, t FROM t WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)")


@case
def late_rows_alone(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query("SELECT n, t FROM t WHERE ts <= CURRENT_WATERMARK(ts)")


@case
def asked_behind_windows(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query(f"SELECT c, CAST(CURRENT_WATERMARK(window_time) AS STRING) m FROM ({_COUNTS})")


@case
def windows_with_late_rows(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query(
        "SELECT k, window_start, COUNT(*) c, MAX(n) m FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND) "
        "GROUP BY k, window_start, window_end"
    )


@case
def sliding_windows_with_late_rows(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query(
        "SELECT window_start, COUNT(*) c, MAX(n) m FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE) "
        "GROUP BY window_start, window_end"
    )


@case
def numbers_in_order_of_time(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query("SELECT n, COUNT(*) OVER (ORDER BY ts) c FROM t")


def _seen(x: Any, stream: Any) -> Any:
    """The watermark at each record."""

    class Seen(x.ProcessFunction):  # type: ignore[misc]
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield f"{value[1]} at {ctx.timestamp()} sees {ctx.timer_service().current_watermark()}"

    return stream.process(Seen(), x.Types.STRING())


@case
def seen_by_a_function(x: Any, env: Any, t_env: Any) -> Any:
    return _seen(x, t_env.to_data_stream(_table(x, env, t_env)))


@case
def seen_of_random_times(x: Any, env: Any, t_env: Any) -> Any:
    return _seen(x, t_env.to_data_stream(_table(x, env, t_env, "random")))


@case
def seen_behind_a_filter(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return _seen(x, t_env.to_data_stream(t_env.sql_query("SELECT k, n, ts FROM t WHERE MOD(n, 3) > 0")))


@case
def seen_behind_a_map(x: Any, env: Any, t_env: Any) -> Any:
    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    return _seen(x, stream.map(lambda row: ("", row[1]), x.Types.TUPLE([x.Types.STRING(), x.Types.INT()])))


@case
def seen_in_a_changelog(x: Any, env: Any, t_env: Any) -> Any:
    return _seen(x, t_env.to_changelog_stream(_table(x, env, t_env, "random")))


@case
def timers(x: Any, env: Any, t_env: Any) -> Any:
    class Timed(x.KeyedProcessFunction):  # type: ignore[misc]
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 15_000)
            yield f"{value[1]} sees {ctx.timer_service().current_watermark()}"

        def on_timer(self, timestamp: int, ctx: Any) -> Any:
            yield f"timer {timestamp} of {ctx.get_current_key()} at {ctx.timer_service().current_watermark()}"

    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    return stream.key_by(lambda row: row[0], x.Types.STRING()).process(Timed(), x.Types.STRING())


@case
def windows_of_a_stream(x: Any, env: Any, t_env: Any) -> Any:
    class Listed(x.ProcessWindowFunction):  # type: ignore[misc]
        def process(self, key: str, context: Any, elements: Any) -> Any:
            yield f"{key} {context.window().start} {[row[1] for row in elements]}"

    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    windows = stream.key_by(lambda row: row[0], x.Types.STRING()).window(x.TumblingEventTimeWindows.of(x.Time.seconds(25)))
    return windows.process(Listed(), x.Types.STRING())


@case
def windows_with_lateness(x: Any, env: Any, t_env: Any) -> Any:
    class Listed(x.ProcessWindowFunction):  # type: ignore[misc]
        def process(self, key: str, context: Any, elements: Any) -> Any:
            yield f"{key} {context.window().start} {[row[1] for row in elements]}"

    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    windows = stream.key_by(lambda row: row[0], x.Types.STRING()).window(x.TumblingEventTimeWindows.of(x.Time.seconds(25)))
    return windows.allowed_lateness(20_000).process(Listed(), x.Types.STRING())


@case
def late_records_of_windows(x: Any, env: Any, t_env: Any) -> Any:
    class Listed(x.ProcessWindowFunction):  # type: ignore[misc]
        def process(self, key: str, context: Any, elements: Any) -> Any:
            yield f"{key} {context.window().start} {[row[1] for row in elements]}"

    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    # A type object each, as those of PyFlink cannot be pickled when they were used.
    tag = x.OutputTag("late", x.Types.TUPLE([x.Types.STRING(), x.Types.INT()]))
    named = stream.map(lambda row: (row[0], row[1]), x.Types.TUPLE([x.Types.STRING(), x.Types.INT()]))
    windows = named.key_by(lambda row: row[0], x.Types.STRING()).window(x.TumblingEventTimeWindows.of(x.Time.seconds(15)))
    made = windows.side_output_late_data(tag).process(Listed(), x.Types.STRING())
    return made.get_side_output(tag).map(lambda row: f"{row[0]} {row[1]}", x.Types.STRING())


@case
def triggers_at_intervals(x: Any, env: Any, t_env: Any) -> Any:
    class Listed(x.ProcessWindowFunction):  # type: ignore[misc]
        def process(self, key: str, context: Any, elements: Any) -> Any:
            yield f"{key} {context.window().start} {[row[1] for row in elements]}"

    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    windows = stream.key_by(lambda row: row[0], x.Types.STRING()).window(x.TumblingEventTimeWindows.of(x.Time.seconds(1000)))
    # No watermark passes two intervals at once, of which PyFlink fires one.
    return windows.trigger(x.ContinuousEventTimeTrigger.of(x.Time.seconds(100))).process(Listed(), x.Types.STRING())


@case
def seen_behind_a_table_of_windows(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return _seen(x, t_env.to_data_stream(t_env.sql_query(f"SELECT k, c, window_time FROM ({_COUNTS})")))


@case
def seen_behind_a_stream_with_watermarks(x: Any, env: Any, t_env: Any) -> Any:
    stream = t_env.to_data_stream(_table(x, env, t_env, "random"))
    schema = x.Schema.new_builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", "SOURCE_WATERMARK()").build()
    return _seen(x, t_env.to_data_stream(t_env.from_data_stream(stream, schema)))


def _listed(x: Any, env: Any, t_env: Any, windows: str, group: str, call: str = "LISTAGG(CAST(n AS STRING))") -> Any:
    _table(x, env, t_env, "random", " - INTERVAL '20' SECOND")
    return t_env.sql_query(f"SELECT k, CAST({call} AS STRING) FROM {windows} GROUP BY k, {group}")


_HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '2' MINUTE)"
_CUMULATE = "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '3' MINUTE)"
_BORDERS = "window_start, window_end"


@case
def lists_in_sliding_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, _HOP, _BORDERS)


@case
def arrays_in_sliding_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, _HOP, _BORDERS, "ARRAY_AGG(n)")


@case
def filtered_lists_in_sliding_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, _HOP, _BORDERS, "LISTAGG(CAST(n AS STRING), '-') FILTER (WHERE n > 5)")


@case
def lists_in_sliding_windows_in_one_phase(x: Any, env: Any, t_env: Any) -> Any:
    t_env.get_config().set("table.optimizer.agg-phase-strategy", "ONE_PHASE")
    return _listed(x, env, t_env, _HOP, _BORDERS)


@case
def lists_in_growing_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, _CUMULATE, _BORDERS)


@case
def arrays_in_growing_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, _CUMULATE, _BORDERS, "ARRAY_AGG(n)")


@case
def lists_in_growing_windows_with_late_rows(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query(f"SELECT LISTAGG(CAST(n AS STRING)) FROM {_CUMULATE} GROUP BY {_BORDERS}")


@case
def lists_in_sliding_windows_with_late_rows(x: Any, env: Any, t_env: Any) -> Any:
    _table(x, env, t_env, "random")
    return t_env.sql_query(f"SELECT LISTAGG(CAST(n AS STRING)) FROM {_HOP} GROUP BY {_BORDERS}")


@case
def lists_in_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' MINUTE)", _BORDERS)


@case
def lists_in_sliding_groups(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, "t", "HOP(ts, INTERVAL '30' SECOND, INTERVAL '2' MINUTE)")


@case
def arrays_in_sliding_groups(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, "t", "HOP(ts, INTERVAL '30' SECOND, INTERVAL '2' MINUTE)", "ARRAY_AGG(n)")


@case
def lists_behind_a_filter_of_windows(x: Any, env: Any, t_env: Any) -> Any:
    return _listed(x, env, t_env, f"(SELECT * FROM {_HOP} WHERE MOD(n, 4) > 0)", _BORDERS)


UNORDERED = frozenset(name for name in CASES if "windows" in name or "groups" in name or "triggers" in name) - {
    "asked_behind_windows",
    "seen_behind_a_table_of_windows",
    "late_records_of_windows",
} | {"timers"}
"""Where windows and timers of several keys come with one watermark, their order is that of their keys' hashes."""
