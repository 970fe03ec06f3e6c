"""What a failed task says to the program."""

from __future__ import annotations

import pyarrow as pa
import pytest

from wiesel.core.errors import JobExecutionError
from wiesel.engine.spark.failures import spark_failure
from wiesel.engine.task_errors import broken_exchange, is_about_another_task, picklable_error


def test_an_input_that_spark_breaks_off_is_no_failure_of_a_function() -> None:
    # What a worker reads when the JVM closes its input before it has begun.
    with pytest.raises(pa.ArrowInvalid) as caught:
        pa.ipc.open_stream(pa.BufferReader(b""))
    error = picklable_error(broken_exchange(caught.value, None), None)
    assert type(error) is JobExecutionError
    assert "the records of the tasks before a task broke off (ArrowInvalid: Tried reading schema message" in str(error)
    assert "port" in (error.hint or "")


DIED = """An error occurred while calling o164.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: \
Lost task 0.0 in stage 1.0 (TID 1) (worker-7 executor 3): org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). \
Consider setting 'spark.sql.execution.pyspark.udf.faulthandler.enabled' or'spark.python.worker.faulthandler.enabled' configuration to 'true'
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator$$anonfun$1.applyOrElse(PythonRunner.scala:670)
"""


def test_a_process_that_has_ended_is_told_as_that() -> None:
    # As Spark 4.3 tells it.
    error = spark_failure(RuntimeError(DIED))
    assert error.message == "the process of a task on worker-7 ended without reporting an error"
    assert "os._exit" in str(error) and "memory" in str(error) and "spark" not in str(error).lower()
    assert is_about_another_task(error) and is_about_another_task(broken_exchange(OSError(), None))
    other = spark_failure(RuntimeError("Job aborted\n\tat org.apache.spark.Somewhere"))
    assert other.message == "the Spark job failed: Job aborted" and not is_about_another_task(other)
