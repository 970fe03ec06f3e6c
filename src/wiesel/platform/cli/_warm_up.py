"""Internal. ``wiesel warm-up``: the archive of Java classes from which jobs start sooner."""

from __future__ import annotations

import json

import click

from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.engine.spark.class_archive import find_archive, make_archive
from wiesel.engine.spark.driver_jvm import find_java

__all__ = ["warm_up"]


def warm_up(*, as_json: bool = False) -> int:
    """Make the archive unless there is one; return the exit code."""
    try:
        java = find_java(Configuration())
        found = find_archive(java)
        archive = found or make_archive(java)
        text = f"the archive is there: {archive}" if found else f"made {archive}"
        click.echo(json.dumps({"archive": str(archive), "made": not found}) if as_json else text)
    except ResourceError as error:
        click.echo(str(error), err=True)
        return 1
    return 0
