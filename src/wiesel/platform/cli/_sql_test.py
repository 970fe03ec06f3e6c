"""Internal. ``wiesel sql test``: execution of test files."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import click

from wiesel.core.errors import WieselError
from wiesel.testing.sql import SqlTest, sql_tests

__all__ = ["run_tests"]


def run_tests(paths: Sequence[str], only: str | None) -> int:
    """Run the tests of files and print their results; return 1 if one failed, a file cannot be read, or there are no tests."""
    passed = failed = 0
    for path in paths:
        try:
            tests = sql_tests(path)
        except WieselError as error:
            click.echo(str(error), err=True)
            failed += 1
            continue
        for test in tests:
            if only is not None and only not in test.case.name:
                continue
            problem = _problem(test)
            click.echo(f"{'ok    ' if problem is None else 'FAILED'}  {path}: {test}")
            if problem is None:
                passed += 1
            else:
                failed += 1
                click.echo(textwrap.indent(problem, "        "))
    click.echo(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def _problem(test: SqlTest) -> str | None:
    try:
        test.run()
    except (AssertionError, WieselError) as error:
        return str(error)
    return None
