"""Internal. ``wiesel warm-up``: creation of an archive of Java classes for a faster start of jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import click

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.engine.spark.class_archive import claim_automatic_attempt, find_archive, make_archive
from wiesel.engine.spark.driver_jvm import find_java

__all__ = ["warm_up", "warm_up_in_background"]

# # Leave the processor to a job that runs meanwhile.
_COMMAND = "import os; os.nice(19); from wiesel.platform.cli._warm_up import warm_up; raise SystemExit(warm_up())"
_NOTE = "note: this is the first job of this installation; later ones start faster, once a background process has prepared Java's classes"


def warm_up(*, as_json: bool = False) -> int:
    """Create the archive if it does not exist; return the exit code."""
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


def warm_up_in_background(config: Configuration) -> None:
    """Create the archive in a background process if jobs run on Spark and this is the installation's first one.

    Return at once and raise nothing, as jobs run without the archive too. The process outlives this one and its terminal.
    """
    if config.get(opt.ENGINE) != "spark" or not config.get(opt.WARM_UP) or os.environ.get("WIESEL_WARM_UP") == "off":
        return
    try:
        java = find_java(config)
        if not claim_automatic_attempt(java):
            return
        environment = {**os.environ, "JAVA_HOME": str(Path(java).parent.parent)} if config.get(opt.JAVA_HOME) else None
        child = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )
    except (ResourceError, OSError):
        return
    click.echo(_NOTE, err=True)
    # # Collect the exit code, so that no zombie process remains beside a job that runs for months.
    threading.Thread(target=child.wait, name="wiesel-warm-up", daemon=True).start()
