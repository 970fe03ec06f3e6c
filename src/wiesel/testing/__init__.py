"""Tests of stream programs without Spark, Java and waiting: single operators and whole pipelines, with a manual clock.

* :func:`function_harness` runs one function, :class:`StreamHarness` any one operator (a window, a reduction, connected streams): push
    records, watermarks and processing time, read the output, inspect state and timers, take a snapshot and restore it with another
    parallelism, another state backend or a newer version of the code.
* :func:`local_environment` runs whole pipelines in the calling thread: a :class:`ManualSource` is written to while the job runs, the test
    triggers checkpoints and failures, and :func:`for_seeds` repeats the test under many orders of events.
* :func:`sql_tests` reads YAML files with rows of tables, SQL statements and their expected results.

The how-to is ``docs/testing.md``.
"""

from typing import TYPE_CHECKING

from wiesel.core.lazy_names import lazy_names
from wiesel.testing._failures import InjectedFailure
from wiesel.testing._inspection import Timer
from wiesel.testing.collected import CollectedStream
from wiesel.testing.environment import LocalEnvironment, local_environment
from wiesel.testing.events import END_OF_TIME, Record, SideRecord, Watermark, WatermarkStatus
from wiesel.testing.functions import function_harness
from wiesel.testing.harness import StreamHarness
from wiesel.testing.job import PipelineJob
from wiesel.testing.seeds import for_seeds
from wiesel.testing.snapshots import JobSnapshot, OperatorSnapshot
from wiesel.testing.source import ManualSource

if TYPE_CHECKING:
    from wiesel.testing.sql import SqlTest, sql_tests

__all__ = [
    "END_OF_TIME",
    "CollectedStream",
    "InjectedFailure",
    "JobSnapshot",
    "LocalEnvironment",
    "ManualSource",
    "OperatorSnapshot",
    "PipelineJob",
    "Record",
    "SideRecord",
    "SqlTest",
    "StreamHarness",
    "Timer",
    "Watermark",
    "WatermarkStatus",
    "for_seeds",
    "function_harness",
    "local_environment",
    "sql_tests",
]

# The SQL engine uses Arrow, whose import takes longer than a test of a function.
__getattr__, __dir__, _ = lazy_names(__name__, dict.fromkeys(("SqlTest", "sql_tests"), "wiesel.testing.sql"))
