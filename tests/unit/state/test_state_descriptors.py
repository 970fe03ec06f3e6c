"""Descriptors and time-to-live settings have PyFlink's names and defaults."""

from __future__ import annotations

import datetime
import inspect
import pickle
from typing import Any

import pytest

from wiesel.core.durations import Duration, Time
from wiesel.spi import state
from wiesel.spi.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from wiesel.state.ttl import TtlSettings
from wiesel.types import Types

# Public members of the classes of pyflink.datastream.state 2.3, listed with inspect.getmembers from the real package.
MAP = ["clear", "contains", "get", "is_empty", "items", "keys", "put", "put_all", "remove", "values"]
PYFLINK: dict[str, list[str]] = {
    "OperatorStateStore": ["get_broadcast_state"],
    "State": ["clear"],
    "ValueState": ["clear", "update", "value"],
    "AppendingState": ["add", "clear", "get"],
    "MergingState": ["add", "clear", "get"],
    "ReducingState": ["add", "clear", "get"],
    "AggregatingState": ["add", "clear", "get"],
    "ListState": ["add", "add_all", "clear", "get", "update"],
    "MapState": MAP,
    "ReadOnlyBroadcastState": ["clear", "contains", "get", "is_empty", "items", "keys", "values"],
    "BroadcastState": MAP,
    "StateDescriptor": ["enable_time_to_live", "get_name"],
    "ValueStateDescriptor": ["enable_time_to_live", "get_name"],
    "ListStateDescriptor": ["enable_time_to_live", "get_name"],
    "MapStateDescriptor": ["enable_time_to_live", "get_name"],
    "ReducingStateDescriptor": ["enable_time_to_live", "get_name", "get_reduce_function"],
    "AggregatingStateDescriptor": ["enable_time_to_live", "get_agg_function", "get_name"],
    "StateTtlConfig": [
        *("Builder", "CleanupStrategies", "StateVisibility", "TtlTimeCharacteristic", "UpdateType", "get_cleanup_strategies"),
        *("get_state_visibility", "get_ttl", "get_ttl_time_characteristic", "get_update_type", "is_enabled", "new_builder"),
    ],
    "StateTtlConfig.UpdateType": ["Disabled", "OnCreateAndWrite", "OnReadAndWrite"],
    "StateTtlConfig.StateVisibility": ["NeverReturnExpired", "ReturnExpiredIfNotCleanedUp"],
    "StateTtlConfig.TtlTimeCharacteristic": ["ProcessingTime"],
    "StateTtlConfig.Builder": [
        *("build", "cleanup_full_snapshot", "cleanup_in_rocksdb_compact_filter", "cleanup_incrementally", "disable_cleanup_in_background"),
        *("never_return_expired", "return_expired_if_not_cleaned_up", "set_state_visibility", "set_ttl", "set_ttl_time_characteristic"),
        *("set_update_type", "update_ttl_on_create_and_write", "update_ttl_on_read_and_write", "use_processing_time"),
    ],
    "StateTtlConfig.CleanupStrategies": [
        *("CleanupStrategy", "EMPTY_STRATEGY", "EmptyCleanupStrategy", "IncrementalCleanupStrategy", "RocksdbCompactFilterCleanupStrategy"),
        *("Strategies", "get_incremental_cleanup_strategy", "get_rocksdb_compact_filter_cleanup_strategy", "in_full_snapshot"),
        "is_cleanup_in_background",
    ],
}


@pytest.mark.parametrize("name", PYFLINK)
def test_classes_have_all_names_of_pyflink(name: str) -> None:
    found: Any = state
    for part in name.split("."):
        found = getattr(found, part)
    assert set(PYFLINK[name]) <= {member for member, _ in inspect.getmembers(found)}


def test_map_like_states_can_be_indexed() -> None:
    for cls in (state.MapState, state.BroadcastState):
        assert all(hasattr(cls, method) for method in ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__iter__"))
    assert not hasattr(state.ReadOnlyBroadcastState, "__setitem__")


def test_descriptors_know_their_type_and_kind() -> None:
    assert ValueStateDescriptor("v", Types.INT()).type_info == Types.INT()
    assert ListStateDescriptor("l", Types.STRING()).type_info == Types.LIST(Types.STRING())
    assert MapStateDescriptor("m", Types.STRING(), Types.LONG()).type_info == Types.MAP(Types.STRING(), Types.LONG())
    assert ValueStateDescriptor("v").type_info == Types.PICKLED_BYTE_ARRAY()
    reducing = ReducingStateDescriptor("r", lambda a, b: a + b, Types.INT())
    assert reducing.get_reduce_function().reduce(1, 2) == 3
    kinds = [ValueStateDescriptor("a"), ListStateDescriptor("a"), MapStateDescriptor("a"), reducing]
    assert [descriptor.kind for descriptor in kinds] == ["value", "list", "map", "reducing"]
    assert reducing.get_name() == reducing.name == "r"


@pytest.mark.parametrize(
    "make", [lambda: ReducingStateDescriptor("r", 5), lambda: AggregatingStateDescriptor("a", print), lambda: ValueStateDescriptor("")]
)
def test_nonsense_is_refused(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


def test_ttl_defaults_are_those_of_flink() -> None:
    config = StateTtlConfig.new_builder(Time.seconds(5)).build()
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    assert config.get_ttl() == Time.seconds(5)
    assert config.is_enabled()
    strategies = config.get_cleanup_strategies()
    assert strategies.is_cleanup_in_background()
    assert not strategies.in_full_snapshot()
    incremental = strategies.get_incremental_cleanup_strategy()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (5, False)
    compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
    assert compaction is not None
    assert (compaction.get_query_time_after_num_entries(), compaction.get_periodic_compaction_time()) == (1000, Duration.of_days(30))


def test_ttl_settings_for_the_backends() -> None:
    config = (
        StateTtlConfig.new_builder(datetime.timedelta(minutes=1))
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_incrementally(7, True)
        .cleanup_full_snapshot()
        .build()
    )
    assert config.to_settings() == TtlSettings(60_000, True, True, True, 7)
    quiet = StateTtlConfig.new_builder(Time.hours(1)).disable_cleanup_in_background().build()
    assert quiet.to_settings() == TtlSettings(3_600_000, False, False, False, 0)
    assert quiet.get_cleanup_strategies().get_incremental_cleanup_strategy() is None
    assert quiet.get_cleanup_strategies().get_rocksdb_compact_filter_cleanup_strategy() is None
    off = StateTtlConfig.new_builder(Time.hours(1)).set_update_type(StateTtlConfig.UpdateType.Disabled).build()
    assert not off.is_enabled()
    assert off.to_settings() is None
    with pytest.raises(ValueError, match="longer than 0"):
        StateTtlConfig.new_builder(Time.hours(0)).build()


def test_descriptors_can_be_sent_to_workers() -> None:
    descriptor = MapStateDescriptor("m", Types.STRING(), Types.LONG())
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).cleanup_in_rocksdb_compact_filter(10).build())
    copy = pickle.loads(pickle.dumps(descriptor))
    assert (copy.name, copy.type_info, copy.ttl_settings()) == (descriptor.name, descriptor.type_info, descriptor.ttl_settings())
