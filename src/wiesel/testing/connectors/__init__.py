"""Conformance tests of connectors: a source or sink is run through failures at every point, and violated guarantees are reported.

:func:`check_sink` and :func:`check_source` run many small jobs on the local engine, without Spark and Java. The jobs fail at each
point of the checkpoint protocol and before, within and after each call of the connector. They are rescaled, killed with their
JobMaster, started again from the last checkpoint, and run to their end. The records that are there then are compared with those that
were written.

::

    def target() -> SinkTarget:
        table = new_table()
        return SinkTarget(MySink(table), lambda: read_all(table))


    def test_my_sink():
        check_sink(target, guarantee=DeliveryGuarantee.EXACTLY_ONCE)

The how-to is ``docs/testing.md``.
"""

from wiesel.connectors.base import DeliveryGuarantee
from wiesel.testing.connectors.checks import ConformanceError, ConformanceReport, SinkTarget, SourceTarget, check_sink, check_source

__all__ = ["ConformanceError", "ConformanceReport", "DeliveryGuarantee", "SinkTarget", "SourceTarget", "check_sink", "check_source"]
