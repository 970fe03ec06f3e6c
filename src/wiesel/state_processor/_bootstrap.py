"""Internal. Execution of a bootstrap transformation's operator over its records, and its snapshot."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.core import code_pickling
from wiesel.core.clock import Clock, SystemClock
from wiesel.core.errors import SerializationError
from wiesel.runtime.operator import OperatorContext, StreamOperator
from wiesel.runtime.registry import make_operator
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.user_code import UserCode
from wiesel.state.backend import StateFileWriter
from wiesel.state.key_groups import ChannelSelector, key_group_range
from wiesel.state.value_keys import comparable_keys
from wiesel.state_processor._operator import NoOutput, operator_context
from wiesel.state_processor._parts import working_backend
from wiesel.state_processor.operators import OperatorIdentifier
from wiesel.state_processor.transformation import StateBootstrapTransformation
from wiesel.wire.batch import Batch

__all__ = ["bootstrap"]

_BATCH = 4096


def bootstrap(
    made: StateBootstrapTransformation,
    identifier: OperatorIdentifier,
    *,
    parallelism: int,
    max_parallelism: int,
    backend: str,
    checkpoint_id: int,
    files: StateFileWriter,
) -> list[OperatorStateSnapshot]:
    """Return the state of each subtask, written.

    Raises:
        UserFunctionError: The user's function raised.
        SerializationError: It, or a value in the state, cannot be pickled.
    """
    clock = SystemClock()
    try:
        payload = code_pickling.dumps(made.spec.payload)
    except Exception as error:
        raise SerializationError(
            f"{made.name} (made at {made.location}) cannot be pickled: {error}", hint="it must not hold open files, locks or connections"
        ) from error
    with ExitStack() as stack:
        subtasks = [
            _Subtask(made, pickle.loads(payload), identifier, subtask, parallelism, max_parallelism, backend, clock, stack)
            for subtask in range(parallelism)
        ]
        key_of = _opened(made.key_selector, subtasks[0].context, stack)
        for batch in _batches(made, key_of):
            for subtask, share in _shares(batch, max_parallelism, parallelism):
                subtasks[subtask].operator.process_batch(share)
        return [subtask.snapshot(checkpoint_id, files) for subtask in subtasks]


class _Subtask:
    """The operator in one subtask."""

    def __init__(
        self,
        made: StateBootstrapTransformation,
        payload: Any,
        identifier: OperatorIdentifier,
        subtask: int,
        parallelism: int,
        max_parallelism: int,
        backend: str,
        clock: Clock,
        stack: ExitStack,
    ) -> None:
        groups = key_group_range(subtask, max_parallelism, parallelism)
        operator_id = identifier.operator_id
        self._backend = stack.enter_context(
            working_backend(backend, groups, clock=clock, operator_id=operator_id, subtask=subtask, parallelism=parallelism)
        )
        self._clock = clock
        self.operator: StreamOperator = make_operator(made.spec.kind, made.spec.params, payload)
        self.context = operator_context(
            self._backend,
            clock,
            operator_id=operator_id,
            name=made.name,
            uid=identifier.uid,
            max_parallelism=max_parallelism,
            subtask=subtask,
            parallelism=parallelism,
            location=made.location,
        )
        self.operator.setup(self.context, NoOutput())
        stack.callback(self.operator.close)
        self.operator.open()

    def snapshot(self, checkpoint_id: int, files: StateFileWriter) -> OperatorStateSnapshot:
        """Take a snapshot of all state and write it."""
        self.operator.prepare_snapshot(checkpoint_id)
        self.operator.snapshot_state(checkpoint_id, self._clock.now_ms())
        return OperatorStateSnapshot(self._backend.snapshot(checkpoint_id, full=True).run(files))


def _opened(selector: Any, context: OperatorContext, stack: ExitStack) -> Callable[[Any], Any] | None:
    """Open a key selector as in a task, and return the key function; None if there is no selector."""
    if selector is None:
        return None
    guard = UserCode(context, NoOutput())
    guard.open(selector, StreamingRuntimeContext(context))
    stack.callback(guard.close, selector)
    return selector.get_key if hasattr(selector, "get_key") else selector  # type: ignore[no-any-return]


def _batches(made: StateBootstrapTransformation, key_of: Callable[[Any], Any] | None) -> Iterator[Batch]:
    records = iter(made.records())
    while chunk := list(islice(records, _BATCH)):
        values = [value for value, _ in chunk]
        timestamps = [timestamp for _, timestamp in chunk]
        keys = None if key_of is None else comparable_keys(list(map(key_of, values)))
        yield Batch(values, None if all(t is None for t in timestamps) else timestamps, keys)


def _shares(batch: Batch, max_parallelism: int, parallelism: int) -> Iterable[tuple[int, Batch]]:
    """Distribute a batch: by key, or round-robin."""
    if parallelism == 1:
        return [(0, batch)]
    count = len(batch)
    if batch.keys is None:
        places = [i % parallelism for i in range(count)]
    else:
        places = ChannelSelector(max_parallelism, parallelism).channels(batch.keys)
    chosen: dict[int, list[int]] = {}
    for i, place in enumerate(places):
        chosen.setdefault(place, []).append(i)
    return [(place, _part(batch, indexes)) for place, indexes in chosen.items()]


def _part(batch: Batch, indexes: list[int]) -> Batch:
    values, timestamps, keys = batch.values, batch.timestamps, batch.keys
    return Batch(
        [values[i] for i in indexes],
        None if timestamps is None else [timestamps[i] for i in indexes],
        None if keys is None else [keys[i] for i in indexes],
    )
