"""Records what real Flink gives for the random programs of ``random_streams.py``: ``goldens/random_streams.jsonl``, a line per seed.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path:

    python tests/differential/record_random_streams.py 0 200     # what is missing of the seeds from 0 to 199

A few programs share one process, as PyFlink's local workers leave threads behind.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from canonical import multiset
from programs_loader import GOLDENS, HERE, _tagger

TARGET = GOLDENS / "random_streams.jsonl"
PROGRAMS_PER_PROCESS = 10
SECONDS_PER_PROGRAM = 30


def load() -> ModuleType:
    """Load the programs under names that nobody can import, so that their functions are shipped by value."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))  # for `punctuated`
    spec = importlib.util.spec_from_file_location("__random_streams__", HERE / "random_streams.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del sys.modules["random_stream_functions"]
    return module


def parallelism_of(seed: int) -> int:
    """Return the parallelism of most operators of a program."""
    return 1 + seed % 3


def build(env: Any, seed: int) -> Any:
    """Build a program and return the stream of its results, each with the name of its stream.

    What names them is not chained, so that declared types show their effect.
    """
    env.set_parallelism(parallelism_of(seed))
    results = load().build(env, seed)
    named = [stream.map(_tagger(name)).disable_chaining() for name, stream in results.items()]
    return named[0].union(*named[1:]) if len(named) > 1 else named[0]


def recorded() -> dict[int, Any]:
    """Return what is recorded, by seed: the records, or ``{"fails": message}`` of a program that PyFlink cannot run."""
    if not TARGET.exists():
        return {}
    return {line["seed"]: line["records"] for line in map(json.loads, TARGET.read_text(encoding="utf-8").splitlines())}


def write(found: dict[int, Any]) -> None:
    """Write what is recorded."""
    lines = (json.dumps({"seed": seed, "records": found[seed]}, separators=(",", ":")) for seed in sorted(found))
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def record_here(seeds: list[int]) -> None:
    """Record programs in this process, up to one that fails: the process is not fit for more after it."""
    import record
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment

    for seed in seeds:
        config = Configuration()
        for key, value in (("python.fn-execution.bundle.size", "1"), ("python.executable", sys.executable)):
            config.set_string(key, value)
        config.set_string("restart-strategy.type", "none")
        config.set_string("taskmanager.numberOfTaskSlots", "16")
        env = StreamExecutionEnvironment.get_execution_environment(config)
        env.add_jars(record.watermarks_jar())
        try:
            records: Any = multiset(record.collect(build(env, seed), env))
        except Exception as error:  # noqa: BLE001 - what PyFlink cannot run is part of the record
            traces = [line for line in str(error).splitlines() if line and not line.startswith(("\tat ", "  File", "    "))]
            records = {"fails": [line[:300] for line in traces[-12:]]}
        write(recorded() | {seed: records})
        print(f"{seed}: {len(records)} records" if isinstance(records, list) else f"{seed} fails: {records['fails'][-3:]}", flush=True)
        if isinstance(records, dict):
            return


def main() -> None:
    """Record what is missing, a few programs in each process."""
    if sys.argv[1] == "--here":
        record_here([int(seed) for seed in sys.argv[2:]])
        sys.stdout.flush()
        os._exit(0)  # threads of PyFlink's workers would go on
    while seeds := [seed for seed in range(int(sys.argv[1]), int(sys.argv[2])) if seed not in recorded()]:
        command = [sys.executable, str(Path(__file__).resolve()), "--here", *map(str, seeds[:PROGRAMS_PER_PROCESS])]
        child = subprocess.Popen(command, start_new_session=True)
        try:
            child.wait(timeout=SECONDS_PER_PROGRAM * PROGRAMS_PER_PROCESS)
        except subprocess.TimeoutExpired:
            seed = next(seed for seed in seeds if seed not in recorded())
            write(recorded() | {seed: {"fails": ["it does not end"]}})
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # also the gateway's JVM


if __name__ == "__main__":
    main()
