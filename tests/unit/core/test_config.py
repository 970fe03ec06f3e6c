"""The configuration. What PyFlink's ``Configuration`` has too was tried there (Flink 2.3)."""

from __future__ import annotations

import copy
import datetime
import pickle
from collections.abc import Iterator

import pytest

from wiesel.core import config as config_module
from wiesel.core import options
from wiesel.core.config import (
    ConfigOptions,
    Configuration,
    check_setting,
    declared_options,
    find_option,
    process_defaults,
    set_process_defaults,
)
from wiesel.core.durations import Duration
from wiesel.core.errors import ConfigurationError
from wiesel.core.memory_size import MemorySize


@pytest.fixture
def four() -> Configuration:
    return Configuration().set_string("s", "5").set_integer("i", 5).set_boolean("b", True).set_float("f", 1.5)


def test_values_are_converted_when_read_as_in_pyflink(four: Configuration) -> None:
    assert four.get_integer("s", 1) == 5
    assert four.get_string("i", "x") == "5"
    assert four.get_float("s", 0) == 5.0
    assert four.get_string("f", "") == "1.5"
    assert four.get_string("b", "") == "true"
    assert four.to_dict() == {"i": "5", "b": "true", "s": "5", "f": "1.5"}
    assert four.key_set() == {"s", "i", "b", "f"}


def test_values_that_cannot_be_converted_raise_as_in_pyflink(four: Configuration) -> None:
    with pytest.raises(ConfigurationError, match="option s: '5' is neither true nor false"):
        four.get_boolean("s", False)
    with pytest.raises(ConfigurationError, match=r"option f: 1\.5 is not a whole number"):
        four.get_integer("f", 0)


def test_missing_keys_give_the_callers_default() -> None:
    config = Configuration()
    assert (config.get_integer("m", 3), config.get_string("m", "d"), config.get_boolean("m", True), config.get_float("m", 1)) == (
        3,
        "d",
        True,
        1.0,
    )


def test_equality_looks_at_values_as_they_were_set() -> None:
    assert Configuration.from_dict({"s": "5"}) == Configuration().set_string("s", "5")
    assert Configuration().set_integer("s", 5) != Configuration().set_string("s", "5")
    assert hash(Configuration.from_dict({"s": "5"})) == hash(Configuration().set_string("s", "5"))


def test_bytes_prefixes_and_removal() -> None:
    config = Configuration().set_bytearray("y", bytearray(b"ab"))
    assert config.get_bytearray("y", bytearray()) == bytearray(b"ab")
    assert Configuration().add_all(Configuration().set_string("k", "v"), "p.").to_dict() == {"p.k": "v"}
    assert (config.remove_config("y"), config.remove_config("y")) == (True, False)
    target: dict[str, str] = {}
    Configuration().set_integer("n", 1).add_all_to_dict(target)
    assert target == {"n": "1"}


def test_secrets_are_not_shown() -> None:
    text = str(Configuration().set_string("my.password", "x").set_string("a.token", "z").set_string("k", "v"))
    assert text == "{my.password=******, a.token=******, k=v}"


def test_lists_are_parsed_as_in_pyflink() -> None:
    assert Configuration.parse_list_value("a;b") == ["a", "b"]
    assert Configuration.parse_list_value("[a, b]") == ["a", "b"]
    assert Configuration.parse_list_value("") == []
    assert Configuration.parse_list_value("'a;b';c") == ["a;b", "c"]


def test_maps_keep_what_is_quoted_together() -> None:
    config = Configuration().set_string("pipeline.global-job-parameters", "a:1,'b,c':'d:e',url:http://x")
    assert config.get(options.GLOBAL_JOB_PARAMETERS) == {"a": "1", "b,c": "d:e", "url": "http://x"}
    again = Configuration().set(options.GLOBAL_JOB_PARAMETERS, {"b,c": "d:e", "q": "it's"})
    assert Configuration.from_dict(again.to_dict()).get(options.GLOBAL_JOB_PARAMETERS) == {"b,c": "d:e", "q": "it's"}


def test_options_have_types_and_defaults() -> None:
    config = Configuration.from_dict({"execution.checkpointing.interval": "5 s", "taskmanager.memory.segment-size": "64kb"})
    assert config.get(options.CHECKPOINT_INTERVAL) == Duration.of_seconds(5)
    assert config.get("execution.checkpointing.interval") == Duration.of_seconds(5)
    assert config.get(options.SEGMENT_SIZE) == MemorySize(65536)
    assert config.get(options.BUFFER_TIMEOUT) == Duration.of_millis(100)
    assert config.get(options.RUNTIME_MODE) == "STREAMING"
    assert config.get(options.PIPELINE_NAME) is None
    assert config.get(options.PIPELINE_NAME, "job") == "job"


def test_values_of_the_right_type_and_those_near_to_it_are_taken() -> None:
    config = Configuration().set(options.BUFFER_TIMEOUT, datetime.timedelta(seconds=2)).set("heartbeat.interval", 500)
    assert config.get(options.BUFFER_TIMEOUT).to_millis() == 2000
    assert config.get(options.HEARTBEAT_INTERVAL).to_millis() == 500
    assert config.to_dict() == {"execution.buffer-timeout.interval": "2 s", "heartbeat.interval": "500"}
    assert Configuration().set_string("execution.checkpointing.mode", "at-least-once").get(options.CHECKPOINT_MODE) == "AT_LEAST_ONCE"


def test_older_names_are_found_and_newer_ones_win() -> None:
    config = Configuration.from_dict({"state.checkpoints.dir": "/old"})
    assert config.get(options.CHECKPOINT_DIR) == "/old"
    assert config.contains(options.CHECKPOINT_DIR)
    config.set("execution.checkpointing.dir", "/new")
    assert config.get(options.CHECKPOINT_DIR) == "/new"


def test_merging_takes_older_names_for_the_same_setting() -> None:
    base = Configuration.from_dict({"execution.checkpointing.dir": "/base", "parallelism.default": "2"})
    merged = base.merged({"state.checkpoints.dir": "/other"})
    assert merged.get(options.CHECKPOINT_DIR) == "/other"
    assert merged.get(options.PARALLELISM_DEFAULT) == 2
    assert base.get(options.CHECKPOINT_DIR) == "/base"


@pytest.fixture
def nothing_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_module, "_noted", set())


@pytest.mark.usefixtures("nothing_noted")
@pytest.mark.parametrize(
    ("key", "suggestion"),
    [
        ("execution.checkpointing.intervall", "execution.checkpointing.interval"),
        ("executon.checkpointing.interval", "execution.checkpointing.interval"),
        ("parallelism", "parallelism.default"),
        ("state.backend.typ", "state.backend.type"),
        ("table.exec.state.tll", "table.exec.state.ttl"),
        ("table.exec.minibatch.size", "table.exec.mini-batch.size"),
        ("table.local-timezone", "table.local-time-zone"),
        ("table.sql-dialekt", "table.sql-dialect"),
    ],
)
def test_unknown_options_are_kept_with_one_warning_that_names_the_nearest(key: str, suggestion: str) -> None:
    notes: list[str] = []
    for _ in range(2):
        check_setting(key, "1 h", notes.append)
    (note,) = notes
    assert f"unknown option '{key}' has no effect: did you mean {suggestion}" in note
    assert Configuration().set_string(key, "1 h").to_dict() == {key: "1 h"}


def test_unknown_options_of_wiesel_itself_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown option 'wiesel\.user-error-polici'") as e:
        Configuration().set_string("wiesel.user-error-polici", "1")
    assert e.value.hint is not None
    assert "did you mean wiesel.user-error-policy" in e.value.hint


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("parallelism.default", "four", "option parallelism.default: 'four' is not a whole number"),
        ("parallelism.default", "0", "option parallelism.default: 0 is too small"),
        ("pipeline.max-parallelism", "32769", "option pipeline.max-parallelism: 32769 is too large"),
        ("state.checkpoints.num-retained", "x", "option state.checkpoints.num-retained: 'x' is not a whole number"),
        ("execution.runtime-mode", "fast", "option execution.runtime-mode: 'fast' is not one of its values"),
        ("execution.checkpointing.interval", "1 ms", "option execution.checkpointing.interval: 1 ms is too small"),
        ("taskmanager.memory.segment-size", "big", "option taskmanager.memory.segment-size: 'big' is not a memory size"),
        ("pipeline.operator-chaining.enabled", "yes", "option pipeline.operator-chaining.enabled: 'yes' is neither true nor false"),
        ("restart-strategy.exponential-delay.jitter-factor", "x", "'x' is not a number"),
    ],
)
def test_wrong_values_are_refused_where_they_are_set(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as e:
        Configuration().set_string(key, value)
    assert message in e.value.message
    assert e.value.hint


def test_keys_of_flink_without_effect_are_noted_once_and_kept() -> None:
    notes: list[str] = []
    check_setting("pipeline.jars", "file:///a.jar", notes.append)
    check_setting("pipeline.jars", "file:///b.jar", notes.append)
    check_setting("state.backend.rocksdb.memory.managed", "true", notes.append)
    # Another test of this process may have set them before; each is noted at most once.
    assert len(notes) <= 2
    assert all("has no effect in Wiesel" in note for note in notes)
    assert Configuration.from_dict({"pipeline.jars": "x"}).get_string("pipeline.jars", "") == "x"


@pytest.mark.parametrize("key", ["user.k", "spark.sql.x", "s3.access-key", "fs.default-scheme", "my.own", "k", "wiesel.spark.conf.spark.x"])
def test_keys_of_the_user_and_of_spark_are_kept(key: str) -> None:
    assert Configuration().set_string(key, "v").to_dict() == {key: "v"}


def test_settings_with_a_prefix() -> None:
    config = Configuration.from_dict({"wiesel.spark.conf.spark.executor.cores": "2", "spark.x": "1"})
    assert config.with_prefix(options.SPARK_CONF_PREFIX) == {"spark.executor.cores": "2"}


def test_copies_are_independent(four: Configuration) -> None:
    for other in (Configuration(four), copy.deepcopy(four), pickle.loads(pickle.dumps(four))):
        assert other == four
        other.set_string("s", "6")
        assert four.get_string("s", "") == "5"


def test_options_can_be_built_as_in_pyflink() -> None:
    option = ConfigOptions.key("my.n").int_type().default_value(3)
    assert Configuration().get(option) == 3
    assert Configuration().set_string("my.n", "4").get(option) == 4
    assert Configuration().get(ConfigOptions.key("my.s").string_type().no_default_value()) is None


@pytest.fixture
def clean_process_defaults() -> Iterator[None]:
    before = process_defaults()
    yield
    set_process_defaults(before)


@pytest.mark.usefixtures("clean_process_defaults")
def test_process_defaults_are_checked_and_replaced() -> None:
    set_process_defaults({"parallelism.default": "3"})
    set_process_defaults({"pipeline.name": "n"})
    assert process_defaults() == {"pipeline.name": "n"}
    with pytest.raises(ConfigurationError, match="parallelism"):
        set_process_defaults({"parallelism.default": "many"})
    assert process_defaults() == {"pipeline.name": "n"}


def test_every_default_is_a_value_of_its_option() -> None:
    for option in declared_options():
        assert option.description
        if option.default is not None:
            assert option.parse(option.default) == option.default
            assert option.parse(option.default_text) == option.default
        assert find_option(option.key) is option
        assert all(find_option(key) is option for key in option.deprecated_keys)


def test_other_keys_of_tables_are_kept() -> None:
    notes: list[str] = []
    check_setting("table.shops.region", "north", notes.append)
    check_setting("table.exec.state.ttl", "1 h", notes.append)
    assert notes == []
    check_setting("table.exec.legacy-cast-behaviour", "ENABLED", notes.append)
    assert "has no effect in Wiesel: a CAST that cannot be done fails" in notes[0]
