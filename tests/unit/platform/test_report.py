"""Texts about errors: the worker's own account first, causes after it, the JVM's frames gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiesel.core.errors import ConfigurationError, JobExecutionError, UserFunctionError
from wiesel.platform.cli._report import describe, fold_jvm

PROGRAM = Path("job.py")

JVM_WALL = """An error occurred while calling o42.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:3122)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.io.EOFException: the worker went away
\tat org.apache.spark.api.python.PythonRunner.read(PythonRunner.scala:780)
\t... 14 more
Driver stacktrace:
"""


def test_the_jvms_frames_are_cut_and_what_the_exceptions_say_is_kept() -> None:
    assert fold_jvm(JVM_WALL).splitlines() == [
        "An error occurred while calling o42.collect.",
        ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed",
        "Caused by: java.io.EOFException: the worker went away",
    ]


def test_prose_that_begins_with_at_is_not_a_frame() -> None:
    assert fold_jvm("at least one\nat the end\n... and more") == "at least one\nat the end"


def failed_job() -> JobExecutionError:
    remote = '  File "job.py", line 9, in parse\n    return int(text)\n           ^^^^^^^^^\n'
    try:
        try:
            raise UserFunctionError('ValueError: no number: "x"\n  with record 1', hint="correct it", where="Map", user_traceback=remote)
        except UserFunctionError as cause:
            raise JobExecutionError("job 'word count' failed: " + JVM_WALL) from cause
    except JobExecutionError as error:
        return error


def test_a_failure_in_a_worker_begins_with_the_workers_own_account() -> None:
    lines = describe(failed_job(), PROGRAM).splitlines()
    assert lines[:5] == [
        "job.py:9, in parse",
        "    return int(text)",
        'ValueError: no number: "x"',
        "  with record 1",
        "  what to do: correct it",
    ]
    assert "so:" in lines
    assert not [line for line in lines if "DAGScheduler" in line]


def test_the_whole_traceback_is_appended_when_asked_for() -> None:
    assert "Traceback (most recent call last)" in describe(failed_job(), PROGRAM, full=True)
    assert "DAGScheduler" in describe(failed_job(), PROGRAM, full=True)


def test_what_a_wrapping_error_repeats_is_said_once() -> None:
    try:
        try:
            raise ValueError("the broker is gone")
        except ValueError as cause:
            raise JobExecutionError("job 'orders' failed: the broker is gone") from cause
    except JobExecutionError as error:
        lines = describe(error, Path(__file__)).splitlines()
    assert lines[-3:] == ["ValueError: the broker is gone", "so:", "  JobExecutionError: job 'orders' failed"]


def test_an_error_of_wiesel_is_told_at_the_users_line_with_what_to_do() -> None:
    try:
        raise ConfigurationError("parallelism.default is 'two'", hint="give a whole number")
    except ConfigurationError as error:
        lines = describe(error, Path(__file__)).splitlines()
    assert lines[0].startswith(str(Path(__file__).name)) or lines[0].startswith("tests/")
    assert lines[-2:] == ["ConfigurationError: parallelism.default is 'two'", "  what to do: give a whole number"]


def test_a_cause_that_the_message_repeats_is_left_out() -> None:
    try:
        raise TypeError("cannot pickle '_thread.lock' object")
    except TypeError as cause:
        error = JobExecutionError(f"Map (job.py:3) cannot be shipped: {cause}", hint="open it in open()")
        error.__cause__ = cause
    assert describe(error, PROGRAM).splitlines()[-2:] == [
        "JobExecutionError: Map (job.py:3) cannot be shipped: cannot pickle '_thread.lock' object",
        "  what to do: open it in open()",
    ]


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("from wiesel.datastream import StreamExecutionEnvirnoment", "StreamExecutionEnvironment"),
        ("from wiesel.common import Types; Types.STRIN()", "STRING"),
        ("from wiesel.common import Configuration; Configuration().set_sting", "set_string"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_the_one_that_was_meant(statement: str, meant: str) -> None:
    with pytest.raises((ImportError, AttributeError)) as caught:
        exec(statement, {})
    assert f"what to do: did you mean {meant}?" in describe(caught.value, PROGRAM)


def test_names_of_others_are_left_to_them() -> None:
    with pytest.raises(AttributeError) as caught:
        exec("import json; json.dmups", {})
    assert "did you mean" not in describe(caught.value, PROGRAM)
