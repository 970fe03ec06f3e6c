"""Internal. Creates state backends by name. Third-party backends are found by the entry point group ``wiesel.state_backends``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from wiesel.core.clock import Clock
from wiesel.core.plugins import load_plugin
from wiesel.state.backend import KeyGroupRange, StateBackend
from wiesel.state.rocksdb_library import rocksdict

__all__ = ["ENTRY_POINTS", "check_backend", "make_backend"]

ENTRY_POINTS = "wiesel.state_backends"

_ALIASES = {"forst": "lmdb", "heap": "hashmap", "filesystem": "hashmap", "jobmanager": "hashmap"}
"""Names of Flink's backends -> the backend that replaces each."""

_BUILT_IN = {
    "hashmap": "wiesel.state.hashmap:HashMapBackend",
    "lmdb": "wiesel.state.lmdb:LmdbBackend",
    "rocksdb": "wiesel.state.rocksdb:RocksDbBackend",
}


def make_backend(
    backend_type: str,
    *,
    operator_id: str,
    subtask: int,
    parallelism: int,
    key_group_range: KeyGroupRange,
    local_dir: str,
    clock: Clock,
    options: Mapping[str, Any],
) -> StateBackend:
    """Return a new, empty backend.

    Args:
        backend_type: ``hashmap``, ``lmdb``, ``rocksdb``, or the name of an entry point of the group ``wiesel.state_backends``, which is
            called with the keyword arguments below.
        operator_id: Operator that the state belongs to.
        subtask: Index of the subtask.
        parallelism: Number of subtasks of the operator.
        key_group_range: Key groups of the subtask.
        local_dir: Directory for working files; those created are removed on ``close``.
        clock: For the time to live.
        options: The job's options.

    Raises:
        ConfigurationError: If there is no backend of that name, or it needs a package that is not installed.
    """
    make = _find(backend_type)
    return make(
        operator_id=operator_id,
        subtask=subtask,
        parallelism=parallelism,
        key_group_range=key_group_range,
        local_dir=local_dir,
        clock=clock,
        options=options,
    )


def check_backend(backend_type: str) -> None:
    """Check that a backend is available.

    Raises:
        ConfigurationError: If there is no backend of that name, or it needs a package that is not installed.
    """
    _find(backend_type)


def _find(backend_type: str) -> Callable[..., StateBackend]:
    backend_type = _ALIASES.get(backend_type, backend_type)
    if backend_type == "rocksdb":
        rocksdict()
    return cast("Callable[..., StateBackend]", load_plugin("state backend", ENTRY_POINTS, _BUILT_IN, backend_type))
