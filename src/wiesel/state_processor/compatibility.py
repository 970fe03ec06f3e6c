"""Compatibility check of a program with a savepoint before its start: the outcome for each state, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import StateMigrationError
from wiesel.engine.deployment import check_key_types, reused_ids
from wiesel.engine.unaligned import check_in_flight, holds_in_flight
from wiesel.graph.job_graph import ChainedOperator, JobGraph, JobVertex, build_job_graph
from wiesel.graph.specs import StreamGraph
from wiesel.state.operator_state import OPERATOR_STATE
from wiesel.state.schema import STORAGE, StateSchema, check_schema
from wiesel.state_processor._checkpoint import StoredCheckpoint, schema_of
from wiesel.state_processor._probe import Declared, DeclaredState, declared_by
from wiesel.state_processor.operators import OperatorIdentifier, OperatorOverview, named

__all__ = ["SavepointCheck", "StateVerdict", "check_savepoint"]

KEPT, CONVERTED, UNUSED, NEW = "kept", "converted", "unused", "new"
DROPPED, INCOMPATIBLE, UNKNOWN = "dropped", "incompatible", "unknown"
_POSITIONS = "(positions, or what a sink keeps)"
_TIMERS = "(timers)"
_IN_FLIGHT = "(records in flight)"


@dataclass(frozen=True)
class StateVerdict:
    """Result of the check of one state.

    Attributes:
        operator: The operator, by name and uid.
        state: The state's name; a text in parentheses for state without a name.
        verdict: ``kept``; ``converted`` (to the type that the program declares now); ``unused`` (kept, but the operator did not access it
            in ``open()``); ``new`` (initially empty); ``dropped`` (the program has no such operator); ``incompatible`` (the job would fail
            to start); ``unknown`` (the operator could not be opened by the check).
        reason: The reason.
        location: ``file:line`` of the operator in the program; empty if it is not in the program.
    """

    operator: str
    state: str
    verdict: str
    reason: str = ""
    location: str = ""


@dataclass(frozen=True)
class SavepointCheck:
    """Result of the check of all states of a savepoint.

    Attributes:
        path: The savepoint.
        verdicts: Results in the order of the program; dropped states come last.
        warnings: Risks for later starts, such as an operator with state and no uid.
    """

    path: str
    verdicts: tuple[StateVerdict, ...]
    warnings: tuple[str, ...]

    @property
    def drops(self) -> bool:
        """Return whether state would be lost: the job starts only with non-restored state allowed."""
        return any(v.verdict == DROPPED for v in self.verdicts)

    @property
    def fits(self) -> bool:
        """Return whether the job would start, with non-restored state allowed."""
        return not any(v.verdict == INCOMPATIBLE for v in self.verdicts)


def check_savepoint(graph: StreamGraph, path: str) -> SavepointCheck:
    """Compare a program with a savepoint or checkpoint.

    The program's operators are opened as in their tasks (except sources, sinks and asynchronous functions) to detect their states. States
    that a function accesses only after ``open()`` are ``unused``.

    Args:
        graph: The program.
        path: Value for ``execution.state-recovery.path``.

    Raises:
        CorruptCheckpointError: If there is no savepoint or checkpoint, or its metadata is incomplete or altered.
    """
    stored = StoredCheckpoint.load(path)
    job = build_job_graph(graph)
    reused = reused_ids(job, stored.facts)
    there = {operator["id"]: stored.overview(operator, vertex) for operator, vertex in stored.operators()}
    verdicts: list[StateVerdict] = []
    warnings: list[str] = []
    here = set()
    for vertex in job.vertices:
        for operator in vertex.operators:
            old, declared = there.get(operator.operator_id), declared_by(operator, vertex)
            if operator.operator_id in reused:
                old = None
            else:
                here.add(operator.operator_id)
            found = list(_verdicts(_Operator(job, stored, operator, vertex, declared), old))
            verdicts += found
            warnings += _warnings(operator, declared, bool(found))
    for operator_id, overview in there.items():
        if operator_id not in here:
            verdicts += _dropped(overview)
    verdicts += _records_in_flight(job, stored)
    return SavepointCheck(stored.path, tuple(verdicts), tuple(warnings))


def _records_in_flight(job: JobGraph, stored: StoredCheckpoint) -> Iterator[StateVerdict]:
    """Return the outcome for the records in flight of an unaligned snapshot."""
    if not holds_in_flight(stored.checkpoint):
        return
    try:
        check_in_flight(job, stored.checkpoint, stored.facts)
    except StateMigrationError as error:
        yield StateVerdict("-", _IN_FLIGHT, INCOMPATIBLE, f"{error.message}; {error.hint}")
    else:
        yield StateVerdict("-", _IN_FLIGHT, KEPT)


@dataclass(frozen=True)
class _Operator:
    job: JobGraph
    stored: StoredCheckpoint
    operator: ChainedOperator
    vertex: JobVertex
    declared: Declared

    @property
    def name(self) -> str:
        node = self.operator.node
        return named({"name": node.name, "uid": node.uid, "id": self.operator.operator_id})

    def other_keys(self) -> str:
        """Return the reason why keyed state would not be found under the program's keys; empty if it would."""
        operator_id = self.operator.operator_id
        try:
            check_key_types(self.job, operator_id, self.stored.find(OperatorIdentifier(operator_id))[0], self.stored.checkpoint)
        except StateMigrationError as error:
            return f"{error.message}; {error.hint}"
        return ""

    def verdict(self, state: str, verdict: str, reason: str = "") -> StateVerdict:
        return StateVerdict(self.name, state, verdict, reason, self.operator.node.user_location)


def _verdicts(here: _Operator, old: OperatorOverview | None) -> Iterator[StateVerdict]:
    if old is None:
        for name in here.declared.states:
            yield here.verdict(name, NEW, "the savepoint has no such operator")
        if here.operator.node.is_source:
            yield here.verdict(_POSITIONS, NEW, "the savepoint has no such operator: the source begins anew")
        return
    kept = [*old.states, *([_POSITIONS] if old.has_other_state else [])]
    if kept and not here.vertex.fits(old.max_parallelism):
        for name in kept:
            yield here.verdict(name, INCOMPATIBLE, _other_key_groups(old.max_parallelism, here.vertex))
        return
    if old.has_other_state:
        yield here.verdict(_POSITIONS, KEPT)
    other_keys = here.other_keys()
    unreachable = [name for name, state in old.states.items() if state.kind in STORAGE] if other_keys else []
    for name in unreachable or ([_TIMERS] if other_keys else []):
        yield here.verdict(name, INCOMPATIBLE, other_keys)
    renamed = {was: name for name, state in here.declared.states.items() for was in _earlier(name, state, old)}
    for name in (name for name in old.states if name not in unreachable):
        now = renamed.get(name, name)
        yield _compared(here, name, here.declared.states.get(now), now)
    for name in here.declared.states.keys() - old.states.keys() - set(renamed.values()):
        yield here.verdict(name, NEW, "the operator has no state of this name in the savepoint")


def _other_key_groups(before: int, vertex: JobVertex) -> str:
    if vertex.parallelism > before:
        return f"maximum parallelism {before} in the savepoint, parallelism {vertex.parallelism} in the program"
    return f"maximum parallelism {before} in the savepoint, {vertex.max_parallelism} in the program; set_max_parallelism({before})"


def _earlier(name: str, state: DeclaredState, old: OperatorOverview) -> list[str]:
    """Return the name under which the savepoint has a state that was renamed."""
    found = [] if name in old.states else [alias for alias in state.aliases if alias in old.states]
    return found[:1]


def _compared(here: _Operator, name: str, declared: DeclaredState | None, now: str) -> StateVerdict:
    """Return the outcome for a state of the savepoint; ``now``: its name in the program."""
    if declared is None:
        if not here.declared.opened:
            return here.verdict(name, KEPT)
        if here.declared.problem:
            return here.verdict(name, UNKNOWN, f"the operator could not be opened here: {here.declared.problem}")
        return here.verdict(name, UNUSED, "the operator does not ask for it when it opens; it stays in later snapshots")
    restored = _restored(here, name)
    try:
        convert = check_schema(name, restored, declared.kind, declared.serializer)
    except StateMigrationError as error:
        return here.verdict(name, INCOMPATIBLE, f"{error.message}; {error.hint}" if error.hint else error.message)
    if convert is not None:
        return here.verdict(name, CONVERTED, f"its declared type has changed in a way that values can follow{_called(name, now)}")
    if restored.ttl != (declared.ttl_ms is not None):
        why = "it has no time to live from now on" if restored.ttl else "its time to live begins when the job starts"
        return here.verdict(name, CONVERTED, why + _called(name, now))
    return here.verdict(name, KEPT, f"it is called {now!r} in the program" if now != name else "")


def _called(name: str, now: str) -> str:
    return "" if now == name else f"; it is called {now!r} in the program"


def _restored(here: _Operator, name: str) -> StateSchema:
    handles = here.stored.handles(here.operator.operator_id)
    keyed = schema_of(handles, name)
    if keyed is not None:
        return keyed
    kinds: Mapping[str, str] = {"split": "operator list", "union": "union list", "broadcast": "broadcast"}
    for facts in (handle.meta.get(OPERATOR_STATE) or {} for handle in handles):
        for part, kind in kinds.items():
            if name in facts.get(part, ()):
                types: Mapping[str, Any] = facts["types"]
                return StateSchema(kind, serializer=types.get(name))
    raise AssertionError(f"state {name!r} is in the overview and in no handle")


def _dropped(old: OperatorOverview) -> Iterator[StateVerdict]:
    name = named({"name": old.name, "uid": old.uid, "id": old.operator_id})
    why = "the program has no operator with this uid" if old.uid else "it has no uid, and nothing in the program stands where it stood"
    for state in (*old.states, *([_POSITIONS] if old.has_other_state else [])):
        yield StateVerdict(name, state, DROPPED, why)


def _warnings(operator: ChainedOperator, declared: Declared, has_state: bool) -> Iterator[str]:
    node = operator.node
    if has_state and not node.uid and not node.uid_hash:
        yield (
            f"{node.name} ({node.user_location}) has state and no uid: it is found by its place in the program only, "
            "which changes when operators are added before it"
        )
    if declared.problem:
        yield f"{node.name} ({node.user_location}) could not be opened here: {declared.problem}"
