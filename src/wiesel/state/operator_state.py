"""Internal. Operator state: lists and broadcast maps of a subtask, small enough to be written completely in every snapshot.

The redistribution at a restore is computed from the summaries in the handles alone (:func:`shares`), so that a subtask needs neither the
files nor the handles that have nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.state.backend import KeyGroupRange, OperatorStateStore, StateHandle
from wiesel.state.schema import StateSchema, check_schema, resolve_records, snapshot_of

__all__ = ["OPERATOR_STATE", "HeapOperatorState", "OperatorStateImage", "Share", "handles_for", "shares"]

OPERATOR_STATE = "operator_state"
"""Key in the meta of a handle: the result of :meth:`HeapOperatorState.summary`."""

_SPLIT, _UNION, _BROADCAST = "split", "union", "broadcast"
_KINDS = {_SPLIT: "list", _UNION: "union list", _BROADCAST: "broadcast"}


@dataclass
class OperatorStateImage:
    """The operator state of one subtask as it is stored."""

    split: dict[str, list[Any]] = field(default_factory=dict)
    union: dict[str, list[Any]] = field(default_factory=dict)
    broadcast: dict[str, dict[Any, Any]] = field(default_factory=dict)

    def columns(self) -> tuple[dict[str, list[Any]], dict[str, list[Any]], dict[str, dict[Any, Any]]]:
        """Return the parts as plain containers."""
        return self.split, self.union, self.broadcast


@dataclass(frozen=True)
class Share:
    """The part of the operator state of one old subtask that a new subtask takes.

    Attributes:
        split: Name of a list -> the range of its entries, (first, last + 1).
        union: Names of lists that are taken completely.
        broadcast: Names of maps.
    """

    split: dict[str, tuple[int, int]] = field(default_factory=dict)
    union: tuple[str, ...] = ()
    broadcast: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(any(start < end for start, end in self.split.values()) or self.union or self.broadcast)


class HeapOperatorState(OperatorStateStore):
    """Live lists and maps."""

    def __init__(self) -> None:
        self._image = OperatorStateImage()
        self._types: dict[str, Any] = {}
        self._restored_types: dict[str, Any] = {}

    def get_list(self, name: str, serializer: Any = None) -> list[Any]:
        """See ``OperatorStateStore``."""
        return self._live(_SPLIT, self._image.split, name, [], serializer)  # type: ignore[no-any-return]

    def get_union_list(self, name: str, serializer: Any = None) -> list[Any]:
        """See ``OperatorStateStore``."""
        return self._live(_UNION, self._image.union, name, [], serializer)  # type: ignore[no-any-return]

    def get_broadcast(self, name: str, serializer: Any = None) -> dict[Any, Any]:
        """See ``OperatorStateStore``."""
        return self._live(_BROADCAST, self._image.broadcast, name, {}, serializer)  # type: ignore[no-any-return]

    def rename(self, old: str, new: str) -> None:
        """See ``OperatorStateStore``."""
        if any(new in getattr(self._image, kind) for kind in _KINDS):
            return
        for kind in _KINDS:
            contents = getattr(self._image, kind)
            if old in contents:
                contents[new] = contents.pop(old)
        for types in (self._types, self._restored_types):
            if old in types:
                types[new] = types.pop(old)

    def list_names(self) -> set[str]:
        """See ``OperatorStateStore``."""
        return {*self._image.split, *self._image.union}

    def broadcast_names(self) -> set[str]:
        """See ``OperatorStateStore``."""
        return set(self._image.broadcast)

    def _live(self, kind: str, contents: dict[str, Any], name: str, new: Any, serializer: Any) -> Any:
        for other in _KINDS:
            if other != kind and name in getattr(self._image, other):
                raise StateMigrationError(
                    f"operator state {name!r} is {_KINDS[other]} state, it is asked for as {_KINDS[kind]} state",
                    hint="give the new state another name, or restore without the old one",
                    state=name,
                )
        if serializer is not None:
            self._adapt(kind, contents, name, serializer)
        return contents.setdefault(name, new)

    def _adapt(self, kind: str, contents: dict[str, Any], name: str, serializer: Any) -> None:
        """Convert restored values, or values obtained before with another type, to the declared type."""
        before = self._restored_types.get(name, self._types.get(name))
        convert = check_schema(name, StateSchema(_KINDS[kind], serializer=before), _KINDS[kind], serializer)
        convert = convert or resolve_records(serializer)
        if convert is not None and name in contents:
            live = contents[name]
            converted = type(live)(convert(live))
            live.clear()  # in place: earlier users of the list keep their reference
            (live.update if isinstance(live, dict) else live.extend)(converted)
        self._restored_types.pop(name, None)
        self._types[name] = snapshot_of(serializer)

    @property
    def image(self) -> OperatorStateImage:
        """The live contents."""
        return self._image

    @property
    def empty(self) -> bool:
        """True if no state was accessed or restored."""
        return not any(self._image.columns())

    def summary(self) -> dict[str, Any]:
        """Return a JSON-able summary that redistribution needs: lengths of lists, names of other state, types."""
        types = self._restored_types | self._types
        return {
            _SPLIT: {name: len(entries) for name, entries in self._image.split.items()},
            _UNION: list(self._image.union),
            _BROADCAST: list(self._image.broadcast),
            "types": {name: kind for name, kind in types.items() if kind is not None},
        }

    def take(self, share: Share, image: OperatorStateImage) -> None:
        """Add the share of this subtask of an old subtask's state."""
        mine = self._image
        for name, (start, end) in share.split.items():
            mine.split.setdefault(name, []).extend(image.split[name][start:end])
        for name in share.union:
            mine.union.setdefault(name, []).extend(image.union[name])
        for name in share.broadcast:
            mine.broadcast[name] = image.broadcast[name]

    def restored(self, summaries: Iterable[Mapping[str, Any]]) -> None:
        """Record the types of all restored state, and the names of lists without an entry for this subtask."""
        for old in summaries:
            self._restored_types |= old["types"]
            for name in old[_SPLIT]:
                self._image.split.setdefault(name, [])


def shares(metas: Sequence[Mapping[str, Any]], subtask: int, parallelism: int) -> list[Share]:
    """Return the part that a subtask takes of the operator state of each old subtask.

    Split lists stay on their subtask if the parallelism has not changed; otherwise all entries, in the order of the old subtasks, are
    distributed in ranges whose lengths differ by at most one; the subtasks with the longer ranges rotate from name to name. A union list
    has the entries of all subtasks. A broadcast map is the subtask's own copy, or that of an old subtask chosen round-robin.

    Args:
        metas: Meta of the handles with operator state, in the order of the old subtasks.
        subtask: Index of the subtask.
        parallelism: Number of subtasks now.
    """
    summaries = [meta[OPERATOR_STATE] for meta in metas]
    result = [Share({}, tuple(summary[_UNION])) for summary in summaries]
    rescaled = any(meta["parallelism"] != parallelism for meta in metas)
    first = 0
    for name in sorted({name for summary in summaries for name in summary[_SPLIT]}):
        counts = [summary[_SPLIT].get(name, 0) for summary in summaries]
        if rescaled:
            runs = _runs(counts, (subtask - first) % parallelism, parallelism)
        else:
            runs = [(0, count if meta["subtask"] == subtask else 0) for meta, count in zip(metas, counts, strict=True)]
        first = (first + sum(counts)) % parallelism
        for share, run in zip(result, runs, strict=True):
            if run[0] < run[1]:
                share.split[name] = run
    for name in sorted({name for summary in summaries for name in summary[_BROADCAST]}):
        holders = [i for i, summary in enumerate(summaries) if name in summary[_BROADCAST]]
        own = [i for i in holders if metas[i]["subtask"] == subtask]
        source = (own or holders[subtask % len(holders) :])[0]
        result[source] = replace(result[source], broadcast=(*result[source].broadcast, name))
    return result


def _runs(counts: Sequence[int], place: int, places: int) -> list[tuple[int, int]]:
    """Distribute the concatenation of lists of these lengths over ``places``; the first places get one entry more if needed.

    Returns:
        For each list the start and end of the part for ``place``; the part is empty if the end is not after the start.
    """
    base, more = divmod(sum(counts), places)
    start = place * base + min(place, more)
    end = start + base + (place < more)
    begins = [0, *accumulate(counts)]
    return [(max(start - begin, 0), min(end - begin, count)) for begin, count in zip(begins, counts)]  # noqa: B905 - the last is the sum


def handles_for(handles: Sequence[StateHandle], subtask: int, parallelism: int, groups: KeyGroupRange) -> tuple[StateHandle, ...]:
    """Return the handles that one subtask needs to restore, out of those of all old subtasks.

    Keyed state: the handles that overlap its key groups. Operator state: the summary of each old subtask, and the file only if it has
    entries for this subtask. Handles without a summary (of third-party backends) are included completely.

    Args:
        handles: The handles, in the order of the old subtasks.
        subtask: Index of the subtask.
        parallelism: Number of subtasks now.
        groups: The key groups of the subtask.
    """
    keyed = {i for i, handle in enumerate(handles) if handle.key_group_start < groups.end and groups.start < handle.key_group_end}
    shared = [i for i, handle in enumerate(handles) if handle.meta.get(OPERATOR_STATE)]
    metas = [handles[i].meta for i in shared]
    taken = {i for i, share in zip(shared, shares(metas, subtask, parallelism), strict=True) if share}
    # If the parallelism is unchanged (a restart after a failure), the summaries of other subtasks are not needed.
    stays = taken <= keyed and all(meta["parallelism"] == parallelism for meta in metas)
    wanted = keyed if stays else keyed.union(shared)
    return tuple(
        handle if OPERATOR_STATE not in handle.meta else _part(handle, keyed=i in keyed, operator=i in taken)
        for i, handle in enumerate(handles)
        if i in wanted or OPERATOR_STATE not in handle.meta
    )


def _part(handle: StateHandle, *, keyed: bool, operator: bool) -> StateHandle:
    """Return a handle with its keyed files, its operator file, both, or (with neither) the summary alone."""
    count = handle.meta["operator_files"]
    if keyed and (operator or not count):
        return handle
    keyed_files, operator_files = handle.files[: len(handle.files) - count], handle.files[len(handle.files) - count :]
    meta = {**handle.meta, "operator_files": count if operator else 0}
    if keyed:
        return replace(handle, files=keyed_files, meta=meta)
    return StateHandle(operator_files if operator else (), 0, 0, {**meta, "states": {}, "scopes": []})
