"""Internal. Evaluation of the user's window function in its forms, and the contexts of two of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import product
from typing import Any, NoReturn

from wiesel.core.errors import StateAccessError
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.runtime_context import KeyedStates
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.runtime.windows.states import WindowStates
from wiesel.spi.functions import KeyedStateStore, ProcessAllWindowFunction, ProcessWindowFunction, user_callable
from wiesel.state.key_context import KeyContext
from wiesel.state.value_keys import key_value

__all__ = ["Evaluation", "make_evaluation"]


class Evaluation(ABC):
    """Computes results from a window's contents."""

    needs_clear = False
    """True if ``clear`` has an effect."""

    @abstractmethod
    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        """Return the results."""

    def clear(self, window: Any, namespace: Any) -> None:  # noqa: B027 - most have nothing to clear
        """The window is dropped; the current key is its key."""


class PassThrough(Evaluation):
    """Emits the contents: an incremental aggregation without a window function."""

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        return contents


class Apply(Evaluation):
    """A ``WindowFunction``."""

    def __init__(self, function: Any) -> None:
        self._apply = function.apply

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        return self._apply(key_value(key), window, contents)  # type: ignore[no-any-return]


class ApplyAll(Evaluation):
    """An ``AllWindowFunction``."""

    def __init__(self, function: Any) -> None:
        self._apply = function.apply

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        return self._apply(window, contents)  # type: ignore[no-any-return]


def _sides(contents: list[Any]) -> tuple[list[Any], list[Any]]:
    return [value for side, value in contents if not side], [value for side, value in contents if side]


class CoGroup(Evaluation):
    """A ``CoGroupFunction``; as in all joins, elements are ``(side, record)``."""

    def __init__(self, function: Any) -> None:
        self._co_group = user_callable(function, "co_group")

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        return self._co_group(*_sides(contents))  # type: ignore[no-any-return]


class Join(Evaluation):
    """A ``JoinFunction``, called with each pair of the two sides."""

    def __init__(self, function: Any) -> None:
        self._join = user_callable(function, "join")

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        return (result for pair in product(*_sides(contents)) if (result := self._join(*pair)) is not None)


class FlatJoin(Evaluation):
    """A ``FlatJoinFunction``, called with each pair of the two sides."""

    def __init__(self, function: Any) -> None:
        self._join = function.join

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        return (result for pair in product(*_sides(contents)) for result in self._join(*pair) or ())


_OF_TWO_SIDES: dict[str, type[CoGroup | Join | FlatJoin]] = {"co_group": CoGroup, "join": Join, "flat_join": FlatJoin}


class _NoWindowState(KeyedStateStore):
    """Rejects per-window state for merging windows, as there is no way to merge it."""

    def _refuse(self, state_descriptor: Any) -> NoReturn:
        raise StateAccessError(
            f"Per-window state is not allowed when using merging windows: state {state_descriptor.name!r}",
            hint="use context.global_state(), or windows that do not merge",
        )

    get_state = get_list_state = get_map_state = get_reducing_state = get_aggregating_state = _refuse


class WindowContext(ProcessWindowFunction.Context[Any], ProcessAllWindowFunction.Context[Any]):
    """The context of both kinds of process functions; one object, set to a window before each call."""

    def __init__(self, timers: InternalTimerService, window_states: KeyedStateStore, global_states: KeyedStateStore) -> None:
        self._timers = timers
        self._window_states = window_states
        self._global_states = global_states
        self.current: Any = None

    def window(self) -> Any:
        return self.current

    def current_processing_time(self) -> int:
        return self._timers.current_processing_time()

    def current_watermark(self) -> int:
        return self._timers.current_watermark

    def window_state(self) -> KeyedStateStore:
        return self._window_states

    def global_state(self) -> KeyedStateStore:
        return self._global_states


class Process(Evaluation):
    """A ``ProcessWindowFunction`` or, with ``of_all``, a ``ProcessAllWindowFunction``."""

    def __init__(self, function: Any, of_all: bool, context: WindowContext, states: WindowStates) -> None:
        self._process = function.process
        self._clear = function.clear
        self._of_all = of_all
        self._context = context
        self._states = states
        defined = getattr(type(function), "clear", None)
        self.needs_clear = defined not in (ProcessWindowFunction.clear, ProcessAllWindowFunction.clear)

    def evaluate(self, key: Any, window: Any, namespace: Any, contents: list[Any]) -> Iterable[Any] | None:
        self._context.current = window
        self._states.namespace = namespace
        if self._of_all:
            return self._process(self._context, contents)  # type: ignore[no-any-return]
        return self._process(key_value(key), self._context, contents)  # type: ignore[no-any-return]

    def clear(self, window: Any, namespace: Any) -> None:
        self._context.current = window
        self._states.namespace = namespace
        self._clear(self._context)


def make_evaluation(spec: WindowSpec, context: OperatorContext, key_context: KeyContext, timers: InternalTimerService) -> Evaluation:
    """Return the evaluation of the user's function."""
    if spec.function_kind == "pass_through":
        return PassThrough()
    if spec.function_kind == "apply":
        return ApplyAll(spec.function) if spec.of_all else Apply(spec.function)
    if spec.function_kind in _OF_TWO_SIDES:
        return _OF_TWO_SIDES[spec.function_kind](spec.function)
    states = WindowStates(context, key_context)
    window_states: KeyedStateStore = _NoWindowState() if spec.merging else states
    return Process(spec.function, spec.of_all, WindowContext(timers, window_states, KeyedStates(context, key_context)), states)
