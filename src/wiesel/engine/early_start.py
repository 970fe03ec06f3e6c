"""Internal. Begins with what an engine takes longest for, before anything else is imported: so this module imports next to nothing."""

from __future__ import annotations

import importlib

from wiesel.core import options as opt
from wiesel.core.config import Configuration

__all__ = ["start_engine_early"]

_ENGINES = {"spark": "wiesel.engine.spark.early_driver"}


def start_engine_early(config: Configuration) -> None:
    """Begin, if a job is likely to come soon: returns at once, and raises nothing that the job would not."""
    module = _ENGINES.get(str(config.get(opt.ENGINE)))
    if module is not None:
        importlib.import_module(module).prepare(config)
