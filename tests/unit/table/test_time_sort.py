"""ORDER BY the event time in a job without end: restored in the middle. What comes out is compared with Flink in tests/sql_cases."""

from __future__ import annotations

from tests.differential.sql_events import ROWS
from tests.unit.table.aggregate_cases import EVENT_TYPES, add_events, event_rows
from wiesel.common import WatermarkStrategy
from wiesel.sql.session.translation import to_stream
from wiesel.table import StreamTableEnvironment
from wiesel.testing import ManualSource, local_environment

LATE = (15, 27, 33)


def test_rows_that_wait_are_sorted_after_failures_and_a_restore() -> None:
    rows = [row for row in event_rows() if row[0] not in LATE]
    source = ManualSource(type_info=EVENT_TYPES)
    found = []
    snapshot = None
    for parallelism, part in ((2, rows[:17]), (1, rows[17:])):
        env = local_environment(parallelism=parallelism)
        t_env = StreamTableEnvironment.create(env)
        add_events(t_env, env.from_source(source, WatermarkStrategy.no_watermarks(), "events", EVENT_TYPES))
        out = env.collect(to_stream(env, t_env.sql_query("SELECT id, ts FROM e ORDER BY ts, id DESC")._plan, changelog=True))
        with env.start(restore_from=snapshot) as job:
            source.push_all(part[:9])
            job.settle()
            job.checkpoint()
            job.fail()
            source.push_all(part[9:])
            job.settle()
            if snapshot is None:
                snapshot = job.checkpoint()
            else:
                job.finish()
            found += [row[0] for row in out.committed]
    assert found == [row[0] for row in sorted((row for row in ROWS if row[0] not in LATE), key=lambda row: (row[-1], -row[0]))]
