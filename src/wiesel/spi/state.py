"""Internal. State descriptors, with PyFlink's names; programs import them from ``wiesel.datastream.state``.

A descriptor has a name, a type and, optionally, a TTL. ``kind`` selects the kind of state.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from wiesel.core.durations import Duration, Time, to_millis
from wiesel.state.interfaces import (
    AggregatingState,
    AppendingState,
    BroadcastState,
    ListState,
    MapState,
    MergingState,
    ReadOnlyBroadcastState,
    ReducingState,
    State,
    ValueState,
)
from wiesel.state.ttl import TtlSettings
from wiesel.types.records import RecordTypeInfo, is_record_class
from wiesel.types.typeinfo import ListTypeInfo, MapTypeInfo, PickledBytesTypeInfo, TypeInformation

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
]

D = TypeVar("D", bound="StateDescriptor")
_DEFAULT_CLEANUP_ENTRIES = 5
_DEFAULT_COMPACTION_QUERY_ENTRIES = 1000


class OperatorStateStore(ABC):
    """Operator state of a subtask: small lists and maps, written completely in every checkpoint.

    The same name returns the same state. The three kinds differ in their redistribution at a restore.

    Raises:
        StateAccessError: If the descriptor is of another kind.
        StateMigrationError: If the state restored under that name does not fit the descriptor.
    """

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """Return the broadcast map of that name. The program keeps it equal on all subtasks; each restores a copy."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return the list of that name.

        A subtask restores its own list; with another parallelism the entries of all subtasks are redistributed evenly.
        """

    @abstractmethod
    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return the union list of that name: every subtask restores the entries of all subtasks.

        Entries that a subtask does not remove (``update``) are in its list from then on, and in the union of the next restore.
        """

    @abstractmethod
    def get_registered_state_names(self) -> set[str]:
        """Return the names of all lists, including restored ones that were not accessed."""

    @abstractmethod
    def get_registered_broadcast_state_names(self) -> set[str]:
        """Return the names of all broadcast maps, including restored ones that were not accessed."""


def _type_of(given: TypeInformation | type | None) -> Any:
    if given is None:
        return PickledBytesTypeInfo()
    return RecordTypeInfo(given) if isinstance(given, type) and is_record_class(given) else given


class StateDescriptor(ABC):  # noqa: B024 - PyFlink's is abstract as well: only its subclasses are of use
    """Name, type and TTL of a state.

    Args:
        name: Unique within an operator; identifies the state after a restart.
        type_info: Type of the values; None for any picklable value. A dataclass, a ``msgspec.Struct`` or a pydantic model stands for its
            ``Types.POJO``.

    Raises:
        TypeError: If the name is not a non-empty string.
    """

    kind: ClassVar[str] = ""
    """``value``, ``list``, ``map``, ``reducing`` or ``aggregating``."""

    def __init__(self, name: str, type_info: TypeInformation | type | None) -> None:
        if not name or not isinstance(name, str):
            raise TypeError(f"the name of a state must be a non-empty string, got {name!r}")
        self.name = name
        self.type_info = _type_of(type_info)
        self._ttl_config: StateTtlConfig | None = None
        self.aliases: tuple[str, ...] = ()

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def add_alias(self: D, *names: str) -> D:
        """Add earlier names of the state: state restored under one of them is used.

        Returns:
            The descriptor itself.
        """
        if not all(names) or set(map(type, names)) - {str}:
            raise TypeError(f"the earlier names of a state must be non-empty strings, got {names!r}")
        self.aliases = (*self.aliases, *names)
        return self

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let values expire by ``ttl_config``."""
        self._ttl_config = ttl_config

    def ttl_settings(self) -> TtlSettings | None:
        """Return the TTL settings for the engine, None if values do not expire."""
        return None if self._ttl_config is None else self._ttl_config.to_settings()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.type_info})"


class ValueStateDescriptor(StateDescriptor):
    """Describes a :class:`ValueState`."""

    kind = "value"

    def __init__(self, name: str, value_type_info: TypeInformation | type | None = None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """Describes a :class:`ListState`."""

    kind = "list"

    def __init__(self, name: str, elem_type_info: TypeInformation | type | None = None) -> None:
        super().__init__(name, ListTypeInfo(_type_of(elem_type_info)))


class MapStateDescriptor(StateDescriptor):
    """Describes a :class:`MapState` or a :class:`BroadcastState`."""

    kind = "map"

    def __init__(
        self, name: str, key_type_info: TypeInformation | type | None = None, value_type_info: TypeInformation | type | None = None
    ) -> None:
        super().__init__(name, MapTypeInfo(_type_of(key_type_info), _type_of(value_type_info)))


class _CallableReduce:
    """Adapts a plain function to a reduce function."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.reduce = function


class ReducingStateDescriptor(StateDescriptor):
    """Describes a :class:`ReducingState`.

    Args:
        name: See :class:`StateDescriptor`.
        reduce_function: A ``ReduceFunction`` or a callable of two values.
        type_info: Type of the values.

    Raises:
        TypeError: If ``reduce_function`` is neither.
    """

    kind = "reducing"

    def __init__(self, name: str, reduce_function: Any, type_info: TypeInformation | type | None = None) -> None:
        super().__init__(name, type_info)
        if not hasattr(reduce_function, "reduce"):
            if not callable(reduce_function):
                raise TypeError(f"a ReduceFunction or a callable of two values is expected, got {reduce_function!r}")
            reduce_function = _CallableReduce(reduce_function)
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> Any:
        """Return an object with a method ``reduce(a, b)``."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """Describes an :class:`AggregatingState`.

    Args:
        name: See :class:`StateDescriptor`.
        agg_function: An ``AggregateFunction``.
        state_type_info: Type of its accumulator, which is stored.

    Raises:
        TypeError: If ``agg_function`` is not an aggregate function.
    """

    kind = "aggregating"

    def __init__(self, name: str, agg_function: Any, state_type_info: TypeInformation | type | None = None) -> None:
        super().__init__(name, state_type_info)
        missing = [method for method in ("create_accumulator", "add", "get_result") if not hasattr(agg_function, method)]
        if missing:
            raise TypeError(f"an AggregateFunction is expected, got {agg_function!r}, which has no {', '.join(missing)}")
        self._agg_function = agg_function

    def get_agg_function(self) -> Any:
        """Return the aggregate function."""
        return self._agg_function


class StateTtlConfig:
    """TTL settings of a state: expiry, visibility of expired values, and cleanup."""

    class UpdateType(Enum):
        """Accesses that renew the TTL."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(Enum):
        """Visibility of expired values before their cleanup."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """The time characteristic of expiry."""

        ProcessingTime = 0

    def __init__(
        self,
        update_type: UpdateType,
        state_visibility: StateVisibility,
        ttl_time_characteristic: TtlTimeCharacteristic,
        ttl: Time | Duration | datetime.timedelta,
        cleanup_strategies: CleanupStrategies,
    ) -> None:
        if to_millis(ttl) <= 0:
            raise ValueError(f"a time to live must be longer than 0 ms, got {ttl}")
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time | Duration | datetime.timedelta) -> StateTtlConfig.Builder:
        """Return a builder for the time to live ``ttl``."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> StateTtlConfig.UpdateType:
        """Return the accesses that renew the TTL."""
        return self._update_type

    def get_state_visibility(self) -> StateTtlConfig.StateVisibility:
        """Return the visibility of expired values."""
        return self._state_visibility

    def get_ttl(self) -> Time | Duration | datetime.timedelta:
        """Return the time to live."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> StateTtlConfig.TtlTimeCharacteristic:
        """Return the time characteristic of expiry."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Return whether values expire."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> StateTtlConfig.CleanupStrategies:
        """Return the cleanup strategies."""
        return self._cleanup_strategies

    def to_settings(self) -> TtlSettings | None:
        """Return the settings for the state backends, None if values do not expire."""
        if not self.is_enabled():
            return None
        incremental = self._cleanup_strategies.get_incremental_cleanup_strategy()
        return TtlSettings(
            ttl_ms=to_millis(self._ttl),
            update_on_read=self._update_type is StateTtlConfig.UpdateType.OnReadAndWrite,
            return_expired=self._state_visibility is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp,
            cleanup_in_full_snapshot=self._cleanup_strategies.in_full_snapshot() or self._cleanup_strategies.is_cleanup_in_background(),
            cleanup_entries=0 if incremental is None else incremental.get_cleanup_size(),
        )

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<update_type={self._update_type}, state_visibility={self._state_visibility}, "
            f"ttl_time_characteristic={self._ttl_time_characteristic}, ttl={self._ttl}>"
        )

    class Builder:
        """Collects the settings of a :class:`StateTtlConfig`."""

        def __init__(self, ttl: Time | Duration | datetime.timedelta) -> None:
            self._ttl = ttl
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._is_cleanup_in_background = True
            self._strategies: dict[StateTtlConfig.CleanupStrategies.Strategies, StateTtlConfig.CleanupStrategies.CleanupStrategy] = {}

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """Set the accesses that renew the TTL."""
            self._update_type = update_type
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """Renew the TTL on writes only (the default)."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """Renew the TTL on reads, too."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> StateTtlConfig.Builder:
            """Set the visibility of expired values."""
            self._state_visibility = state_visibility
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """Return expired values as long as they are there."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """Never return expired values (the default)."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic) -> StateTtlConfig.Builder:
            """Set the time characteristic of expiry."""
            self._ttl_time_characteristic = ttl_time_characteristic
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """Use processing time for expiry (the default, and the only supported time)."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Omit expired values from full snapshots."""
            strategies = StateTtlConfig.CleanupStrategies
            self._strategies[strategies.Strategies.FULL_STATE_SCAN_SNAPSHOT] = strategies.EMPTY_STRATEGY
            return self

        def cleanup_incrementally(self, cleanup_size: int, run_cleanup_for_every_record: bool = False) -> StateTtlConfig.Builder:
            """Check ``cleanup_size`` entries for expiry at every access to the state."""
            strategies = StateTtlConfig.CleanupStrategies
            self._strategies[strategies.Strategies.INCREMENTAL_CLEANUP] = strategies.IncrementalCleanupStrategy(
                cleanup_size, run_cleanup_for_every_record
            )
            return self

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
        ) -> StateTtlConfig.Builder:
            """Accepted for programs written for RocksDB: expired values are omitted whenever state files are rewritten."""
            strategies = StateTtlConfig.CleanupStrategies
            self._strategies[strategies.Strategies.ROCKSDB_COMPACTION_FILTER] = strategies.RocksdbCompactFilterCleanupStrategy(
                query_time_after_num_entries, periodic_compaction_time
            )
            return self

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Clean up on access only, unless a strategy was set."""
            self._is_cleanup_in_background = False
            return self

        def set_ttl(self, ttl: Time | Duration | datetime.timedelta) -> StateTtlConfig.Builder:
            """Set the time to live."""
            self._ttl = ttl
            return self

        def build(self) -> StateTtlConfig:
            """Return the configuration.

            Raises:
                ValueError: If the time to live is not positive.
            """
            return StateTtlConfig(
                self._update_type,
                self._state_visibility,
                self._ttl_time_characteristic,
                self._ttl,
                StateTtlConfig.CleanupStrategies(dict(self._strategies), self._is_cleanup_in_background),
            )

    class CleanupStrategies:
        """Strategies for removing expired values, in addition to the removal on access."""

        class Strategies(Enum):
            """The available strategies."""

            FULL_STATE_SCAN_SNAPSHOT = 0
            INCREMENTAL_CLEANUP = 1
            ROCKSDB_COMPACTION_FILTER = 2

        class CleanupStrategy(ABC):  # noqa: B024 - marks the classes below
            """Base of the settings of a strategy."""

        class EmptyCleanupStrategy(CleanupStrategy):
            """A strategy without settings."""

        class IncrementalCleanupStrategy(CleanupStrategy):
            """Settings of the incremental cleanup."""

            def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
                self._cleanup_size = cleanup_size
                self._run_cleanup_for_every_record = run_cleanup_for_every_record

            def get_cleanup_size(self) -> int:
                """Return the number of entries checked per access."""
                return self._cleanup_size

            def run_cleanup_for_every_record(self) -> bool:
                """Return whether records that do not access the state clean up as well."""
                return self._run_cleanup_for_every_record

        class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
            """Settings of the cleanup in compactions."""

            def __init__(self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None) -> None:
                self._query_time_after_num_entries = query_time_after_num_entries
                self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(30)

            def get_query_time_after_num_entries(self) -> int:
                """Return the number of entries after which the clock is read again."""
                return self._query_time_after_num_entries

            def get_periodic_compaction_time(self) -> Duration:
                """Return the age at which files are compacted."""
                return self._periodic_compaction_time

        EMPTY_STRATEGY = EmptyCleanupStrategy()

        def __init__(self, strategies: dict[Strategies, CleanupStrategy], is_cleanup_in_background: bool) -> None:
            self._strategies = strategies
            self._is_cleanup_in_background = is_cleanup_in_background

        def is_cleanup_in_background(self) -> bool:
            """Return whether expired values are cleaned up by default strategies."""
            return self._is_cleanup_in_background

        def in_full_snapshot(self) -> bool:
            """Return whether full snapshots omit expired values by configuration."""
            return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

        def get_incremental_cleanup_strategy(self) -> IncrementalCleanupStrategy | None:
            """Return the settings of the incremental cleanup; None if disabled."""
            default = self.IncrementalCleanupStrategy(_DEFAULT_CLEANUP_ENTRIES, False) if self._is_cleanup_in_background else None
            chosen = self._strategies.get(self.Strategies.INCREMENTAL_CLEANUP, default)
            return cast("StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None", chosen)

        def get_rocksdb_compact_filter_cleanup_strategy(self) -> RocksdbCompactFilterCleanupStrategy | None:
            """Return the settings of the cleanup in compactions; None if disabled."""
            default = (
                self.RocksdbCompactFilterCleanupStrategy(_DEFAULT_COMPACTION_QUERY_ENTRIES) if self._is_cleanup_in_background else None
            )
            chosen = self._strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER, default)
            return cast("StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None", chosen)
