"""Makes backends for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wiesel.core.clock import ManualClock
from wiesel.state.factory import make_backend
from wiesel.state.key_groups import key_group_range

MAX_PARALLELISM = 16


def new_backend(kind: str, directory: Path, *, subtask: int = 0, parallelism: int = 1, clock: Any = None, **options: Any) -> Any:
    return make_backend(
        kind,
        operator_id="op",
        subtask=subtask,
        parallelism=parallelism,
        key_group_range=key_group_range(subtask, MAX_PARALLELISM, parallelism),
        local_dir=str(directory),
        clock=clock or ManualClock(1_000_000),
        options=options,
    )
