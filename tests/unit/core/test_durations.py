"""Durations. Expected values come from Flink 2.3's ``TimeUtils`` and ``java.time.Duration``."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import pytest

from wiesel.core.durations import Duration, Instant, Time, format_duration, parse_duration, to_millis
from wiesel.core.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("5 s", "PT5S"),
        ("100ms", "PT0.1S"),
        ("1 min", "PT1M"),
        ("5", "PT0.005S"),
        ("0", "PT0S"),
        ("1m", "PT1M"),
        ("2h", "PT2H"),
        ("1d", "PT24H"),
        ("1 day", "PT24H"),
        ("10 micros", "PT0.00001S"),
        ("10µs", "PT0.00001S"),
        ("7 nanos", "PT0.000000007S"),
        ("PT5S", "PT5S"),
        ("P1DT2H", "PT26H"),
        ("pt5s", "PT5S"),
        ("  3 sec ", "PT3S"),
        ("PT1.5S", "PT1.5S"),
        ("5 Seconds", "PT5S"),
        ("9999999999999 d", "PT239999999999976H"),
    ],
)
def test_durations_are_read_as_in_flink(text: str, iso: str) -> None:
    assert str(parse_duration(text)) == iso


@pytest.mark.parametrize("text", ["10us", "-5 s", "5 x", "", "1.5 s", "1 min 5 s", "PT-5S", "-PT5S", "P", "PT", "s"])
def test_what_flink_refuses_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a duration") as e:
        parse_duration(text)
    assert e.value.hint is not None
    assert "5 s" in e.value.hint


@pytest.mark.parametrize(
    ("millis", "text", "iso"),
    [
        (0, "0 ms", "PT0S"),
        (1, "1 ms", "PT0.001S"),
        (999, "999 ms", "PT0.999S"),
        (1000, "1 s", "PT1S"),
        (1500, "1500 ms", "PT1.5S"),
        (60000, "1 min", "PT1M"),
        (90000, "90 s", "PT1M30S"),
        (3600000, "1 h", "PT1H"),
        (86400000, "1 d", "PT24H"),
        (90061001, "90061001 ms", "PT25H1M1.001S"),
        (-1500, "-1500 ms", "PT-1.5S"),
        (-500, "-500 ms", "PT-0.5S"),
    ],
)
def test_durations_are_written_as_in_flink(millis: int, text: str, iso: str) -> None:
    assert format_duration(Duration.of_millis(millis)) == text
    assert str(Duration.of_millis(millis)) == iso


def test_all_forms_of_a_duration_are_one() -> None:
    forms: list[Any] = [Duration.of_seconds(90), Time.seconds(90), datetime.timedelta(minutes=1, seconds=30), 90_000, "90 s", "PT1M30S"]
    assert {to_millis(form) for form in forms} == {90_000}
    assert len({Duration.of(form) for form in forms}) == 1


@pytest.mark.parametrize("value", [None, 1.5, True, object()])
def test_other_values_are_no_durations(value: object) -> None:
    with pytest.raises(TypeError, match="a duration is expected"):
        Duration.of(value)  # type: ignore[arg-type]


def test_durations_compare_hash_and_pickle() -> None:
    assert Duration.of_days(1) == Duration.of_hours(24) == Duration.of_minutes(1440)
    assert Duration.of_millis(1) > Duration.of_nanos(999_999)
    assert pickle.loads(pickle.dumps(Duration.of_nanos(7))) == Duration(7)
    assert Duration.of_nanos(1_999_999).to_millis() == 1
    assert Duration.of_millis(1500).to_timedelta() == datetime.timedelta(seconds=1.5)


def test_instants_round_towards_the_past() -> None:
    assert repr(Instant.of_epoch_milli(-1500)) == "Instant<-2, 500000000>"
    # PyFlink gets these two wrong (-1951 and -901): it divides by 10001000 instead of a million.
    assert Instant.of_epoch_milli(-1500).to_epoch_milli() == -1500
    assert Instant(-1, 999_000_000).to_epoch_milli() == -1
    assert Instant(1, 5000).to_epoch_milli() == 1000


def test_times_of_windows() -> None:
    assert str(Time.seconds(3)) == "3000 ms"
    assert Time.days(1) == Time.hours(24) == Time.minutes(1440)
    assert Time.milliseconds(5).to_milliseconds() == 5
