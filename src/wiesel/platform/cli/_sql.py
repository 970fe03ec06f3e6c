"""Internal. ``wiesel sql``: what can be told of scripts of SQL."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from wiesel.sql.language.parser import check_script

__all__ = ["check"]


def check(paths: Sequence[str]) -> int:
    """Read the scripts and print each statement's error; return 1 if there is any."""
    failed = False
    for path in paths:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        statements, errors = check_script(text)
        for error in errors:
            click.echo(f"{path}: {error}", err=True)
        count = len(statements) + len(errors)
        click.echo(f"{path}: {count} statement{'s' * (count != 1)}, {f'{len(errors)} wrong' if errors else 'all read'}")
        failed = failed or bool(errors)
    return 1 if failed else 0
