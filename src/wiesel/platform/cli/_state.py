"""Internal. ``wiesel state``: contents of retained checkpoints as text."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import click

from wiesel.core.errors import ConfigurationError, UntrustedSnapshotError
from wiesel.engine.registry import configured_snapshot_key, snapshot_key
from wiesel.platform.cli._output import as_table, told
from wiesel.state_processor import OperatorIdentifier, SavepointReader, StateRows
from wiesel.state_processor.plain_values import plain

__all__ = ["SnapshotTrust", "Wanted", "read", "show"]

_HEADS = ("uid", "operator", "id", "parallelism", "bytes", "states")


@dataclass(frozen=True)
class SnapshotTrust:
    """Trust in snapshots to be unpickled: any snapshot, or those signed with the key of a file, or with that of this user's jobs."""

    trust: bool
    key_file: str | None

    def key(self, path: str) -> bytes | None:
        """Return the key with which a snapshot must be signed, or None if it is trusted without a signature.

        Raises:
            UntrustedSnapshotError: If it is not trusted and there is no key.
        """
        if self.trust:
            return None
        key = configured_snapshot_key(self.key_file) if self.key_file else snapshot_key()
        if key is None:
            raise UntrustedSnapshotError(
                f"there is no key to tell who wrote {path}",
                hint="if you trust whoever wrote it: --trust; else do not read it, as reading state runs what is pickled in it",
            )
        return key


@dataclass(frozen=True)
class Wanted:
    """Selection of the state to read from a checkpoint."""

    uid: str | None
    operator_id: str | None
    states: tuple[str, ...]
    windows: bool
    timers: bool
    limit: int | None
    expired: bool


def show(path: str, *, as_json: bool = False) -> int:
    """Print the operators and their states; return the exit code."""
    return told(lambda: _show(path, as_json=as_json))


def read(path: str, wanted: Wanted, trust: SnapshotTrust) -> int:
    """Print rows of state as JSON; return the exit code."""
    return told(lambda: _read(path, wanted, trust))


def _show(path: str, *, as_json: bool) -> None:
    reader = SavepointReader.read(path)
    if as_json:
        operators = [
            {
                "uid": operator.uid,
                "name": operator.name,
                "id": operator.operator_id,
                "parallelism": operator.parallelism,
                "max-parallelism": operator.max_parallelism,
                "bytes": operator.size_bytes,
                "states": {name: str(state) for name, state in operator.states.items()},
                "other-state": operator.has_other_state,
            }
            for operator in reader.operators()
        ]
        found = {"checkpoint": reader.checkpoint_id, "job": reader.job_name, "path": str(reader.path), "operators": operators}
        click.echo(json.dumps(found, indent=2, default=str))
        return
    click.echo(f"checkpoint {reader.checkpoint_id} of job {reader.job_name!r} at {reader.path}")
    rows: list[tuple[str, ...]] = [_HEADS]
    for operator in reader.operators():
        states = [str(state) for state in operator.states.values()]
        if operator.has_other_state:
            states.append("(positions, or what a sink keeps)")
        parallelism = f"{operator.parallelism} of {operator.max_parallelism}"
        first = (operator.uid or "-", operator.name, operator.operator_id, parallelism, str(operator.size_bytes))
        rows.append((*first, states[0] if states else "-"))
        rows += [("", "", "", "", "", state) for state in states[1:]]
    for line in as_table(rows):
        click.echo(line)


def _read(path: str, wanted: Wanted, trust: SnapshotTrust) -> None:
    reader = SavepointReader.read(path, show_expired=wanted.expired, key=trust.key(path))
    # # State may hold objects of classes from modules in the program's folder.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    rows = _rows(reader, _operator(wanted), wanted)
    for row in islice(rows.dicts(), wanted.limit):
        click.echo(json.dumps(_as_json(row), default=repr, ensure_ascii=False))


def _operator(wanted: Wanted) -> OperatorIdentifier:
    if (wanted.uid is None) == (wanted.operator_id is None):
        raise ConfigurationError("one operator is read at a time", hint="give --uid or --operator-id; 'wiesel state show' lists them")
    if wanted.uid is not None:
        return OperatorIdentifier.for_uid(wanted.uid)
    return OperatorIdentifier.for_uid_hash(str(wanted.operator_id))


def _rows(reader: SavepointReader, operator: OperatorIdentifier, wanted: Wanted) -> StateRows[Any]:
    if wanted.windows + wanted.timers + bool(wanted.states) > 1:
        raise ConfigurationError("--state, --windows and --timers are different rows", hint="give one of them")
    if wanted.timers:
        return reader.timers(operator)
    if wanted.windows:
        return reader.window_state(operator)
    known = reader.operator(operator).states
    for name, rows in (("operator list", reader.list_state), ("union list", reader.union_state), ("broadcast", reader.broadcast_state)):
        of_kind = [state for state in wanted.states if state in known and known[state].kind == name]
        if of_kind and len(wanted.states) > 1:
            raise ConfigurationError(f"{of_kind[0]!r} is {name} state, which is read by itself", hint="give one --state")
        if of_kind:
            return rows(operator, of_kind[0])
    return reader.keyed_state(operator, list(wanted.states) or None)


def _as_json(value: Any) -> Any:
    """Return a value as JSON has it: records and windows as objects, everything unknown by its repr."""
    value = plain(value)
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    return list(_elements(value)) if isinstance(value, list) else value


def _elements(values: list[Any]) -> Iterator[Any]:
    return map(_as_json, values)
