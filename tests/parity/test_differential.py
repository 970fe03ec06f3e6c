"""Every differential program gives on each of Wiesel's engines the multiset of records that real Flink gave."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from tests.differential.canonical import difference, multiset
from tests.differential.programs_loader import GOLDENS, PROGRAMS, Variant, collect, load, program_names
from tests.parity.conftest import SPARK_MASTER, time_limit

ENGINES = ("local", "spark")
# The first job on Spark waits for the session; a busy machine makes everything slow.
SECONDS = 300


def expected(name: str) -> dict[str, list[Any]]:
    """Returns the golden records by variant; variants with the same result refer to each other."""
    results = json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))["results"]
    return {key: results[value] if isinstance(value, str) else value for key, value in results.items()}


def cases() -> list[Any]:
    """Returns one case per engine, program and variant, engine by engine, so that one Spark session serves them all."""
    return [
        pytest.param(engine, name, key, id=f"{engine}-{name}-{key}")
        for engine in ENGINES
        for name in program_names()
        for key in variants_on(engine, name)
    ]


def variants_on(engine: str, name: str) -> list[str]:
    """Returns the variants of a program to run on an engine.

    The local engine runs all of them, except for programs that wait for real time to pass (``NEEDS_CLOCK``): its clock is virtual. Those
    run on Spark in all variants, and the others in the one with the highest parallelism of each mode, which keeps the tests short.
    """
    variants = list(expected(name))
    if declares(name, "NEEDS_CLOCK"):
        return [] if engine == "local" else variants
    if engine == "local":
        return variants
    return list({variant.partition("-")[0]: variant for variant in variants}.values())


def declares(name: str, what: str) -> bool:
    """Says whether a program sets a flag; read from its text, as the names of PyFlink are not there yet."""
    return f"\n{what} = True\n" in (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("engine", "name", "key"), cases())
def test_same_records_as_real_flink(engine, name, key, pyflink_names):
    with time_limit(SECONDS):
        actual = multiset(run(name, key, engine))
    problem = difference(expected(name)[key], actual)
    assert not problem, f"{name} ({load(name).about}) on {engine}, {key}:\n{problem}"


@pytest.mark.parametrize("engine", ENGINES)
def test_windows_that_share_slices_give_what_flinks_windows_of_their_own_give(engine, pyflink_names):
    name, key = "window_sliding_aggregate", "streaming-p2"
    with time_limit(SECONDS):
        actual = multiset(run(name, key, engine, {"wiesel.windows.share-slices": "true"}))
    problem = difference(expected(name)[key], actual)
    assert not problem, f"{name} on {engine} with shared slices:\n{problem}"


def run(name: str, key: str, engine: str, options: Mapping[str, str] = MappingProxyType({})) -> list[Any]:
    """Runs one variant of a program and returns its records."""
    from pyflink.common import Configuration
    from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

    program = load(name)
    variant = next(variant for variant in program.variants if variant.key == key)
    config = configuration(Configuration(), engine)
    for option, value in options.items():
        config.set_string(option, value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_runtime_mode(RuntimeExecutionMode[variant.mode])
    env.set_parallelism(variant.parallelism)
    return collect(program.build(env))


def configuration(config: Any, engine: str) -> Any:
    """Sets what a test wants of any engine: the engine itself, and failures that come at once."""
    config.set_string("wiesel.engine", engine)
    config.set_string("wiesel.spark.master", SPARK_MASTER)
    config.set_string("restart-strategy.type", "none")
    return config


def test_variants_have_distinct_keys():
    assert len({Variant(p, mode).key for p in (1, 2) for mode in ("STREAMING", "BATCH")}) == 4


def test_there_are_many_programs_and_all_of_them_run():
    assert len(program_names()) >= 120
    assert all(variants_on("spark", name) or variants_on("local", name) for name in program_names())
