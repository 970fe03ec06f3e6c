"""Internal. Starts slow parts of an engine before other imports: so this module has almost no imports."""

from __future__ import annotations

import importlib

from wiesel.core import options as opt
from wiesel.core.config import Configuration

__all__ = ["start_engine_early"]

_ENGINES = {"spark": "wiesel.engine.spark.early_driver"}


def start_engine_early(config: Configuration) -> None:
    """Start the engine early, if a job is likely to follow: returns immediately, and raises nothing that the job would not."""
    module = _ENGINES.get(str(config.get(opt.ENGINE)))
    if module is not None:
        importlib.import_module(module).prepare(config)
