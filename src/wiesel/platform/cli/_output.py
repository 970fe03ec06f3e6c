"""Internal. Output shared by commands: tables, errors, and closed pipes. Imports no large library."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from wiesel.core.errors import WieselError

__all__ = ["as_table", "told"]


def told(work: Callable[[], int | None]) -> int:
    """Run a command and return its exit code; print errors on standard error."""
    try:
        return work() or 0
    except BrokenPipeError:
        # # The reader of the output has closed the pipe, like head.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except WieselError as error:
        click.echo(f"{type(error).__name__}: {error}", err=True)
        return 1


def as_table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows of cells as lines; the first row has the column names."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
