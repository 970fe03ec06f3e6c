"""What fault tolerance costs: time to go on after a kill; bytes and rate with checkpoints of large state."""

from __future__ import annotations

from frame.case import PYFLINK, WIESEL, Case, CheckFailed, Result, Run, Scale, Target

from cases.checkpoints import EVERY_SECOND, some_were_taken
from cases.keyed_count import expected

PROGRAM = "programs/recovery.py"
BIG_STATE = "programs/big_state.py"
BIG_STATE_SQL = "programs/big_state_sql.py"


def _kills(scale: Scale) -> Case:
    kills = scale.records(5, 2)
    # PyFlink cannot keep up with 20,000/s, and then completes no checkpoint.
    rates = ((WIESEL, 20_000), (PYFLINK, 500))
    runs = tuple(Run(engine, engine, PROGRAM, {"kills": kills, "rate": rate}, {"workers_killed": kills}) for engine, rate in rates)
    return Case(
        "recovery",
        "from SIGKILL of a worker, and of the driver, to the first result nobody had seen, at 20,000 records/s, PyFlink 500 (s)",
        runs,
        (
            Target("<= 2 s after a worker", "worker_s", WIESEL, at_most=2),
            Target("<= 12 s after the driver", "driver_s", WIESEL, at_most=12),
            Target("PyFlink's / Wiesel's, worker", "worker_s", PYFLINK, WIESEL),
            Target("PyFlink's / Wiesel's, driver", "driver_s", PYFLINK, WIESEL),
        ),
        figures=("worker_s", "worker_worst_s", "driver_s"),
    )


def _enough_was_written(result: Result) -> None:
    some_were_taken(result)
    if "written_per_changed" not in result:
        raise CheckFailed("too few checkpoints were complete to compare what they wrote with what had changed")


def _large_state(scale: Scale) -> Case:
    keys = scale.records(4_000_000, 400_000)
    # Half of the numbers go to each reader: with an odd number of rounds one is half a round ahead, and both do not change the same keys.
    records = 7 * keys
    counted = expected(records, keys)
    runs = []
    for backend in ("hashmap", "lmdb"):
        conf = {"state.backend.type": backend}
        arguments = {"records": records, "keys": keys}
        runs.append(Run(f"{backend}, none", WIESEL, BIG_STATE, arguments, counted, conf=conf))
        watched = {**arguments, "checkpoints": "{folder}/checkpoints"}
        checked = {**conf, **EVERY_SECOND}
        runs.append(Run(f"{backend}, every second", WIESEL, BIG_STATE, watched, counted, conf=checked, check=_enough_was_written))
        for way, more in (WAYS if backend == "hashmap" else {}).items():
            runs.append(Run(f"{backend}, {way}", WIESEL, BIG_STATE, watched, counted, conf={**checked, **more}, check=_enough_was_written))
    return Case(
        "large-state",
        f"state of {keys:,} values of 256 bytes, each record replaces one, with and without a checkpoint each second (records/s)",
        tuple(runs),
        (*_large_state_targets("hashmap", "every second", *WAYS), *_large_state_targets("lmdb", "every second")),
        figures=("rate", "steady_cpu_us", "checkpoints", "written_per_changed"),
    )


def _hot_keys(scale: Scale) -> Case:
    keys, rounds = scale.records(4_000_000, 400_000), 10
    hot, records = keys // 100, rounds * keys
    # All numbers are multiples of ten, so behind the first round a tenth of the keys come in turn, and nine of ten of the hot ones.
    often, in_turn = 1 + (records - keys) // hot, rounds
    counts = {often: hot * 9 // 10, in_turn: keys // 10, 1: (keys - hot) * 9 // 10}
    expected = {"count": records, "total": sum(many * count * (count + 1) // 2 for count, many in counts.items())}
    arguments = {"records": records, "keys": keys, "hot": hot}
    watched = {**arguments, "checkpoints": "{folder}/checkpoints"}
    conf = {"state.backend.type": "hashmap"}
    checked = {**conf, **EVERY_SECOND}
    return Case(
        "large-state-hot",
        f"state of {keys:,} values of 256 bytes, nine of ten records of 1% of them, with and without a checkpoint each second (records/s)",
        (
            Run("none", WIESEL, BIG_STATE, arguments, expected, conf=conf),
            Run("every second", WIESEL, BIG_STATE, watched, expected, conf=checked, check=some_were_taken),
        ),
        (
            Target(">= 0.9 of the rate without", "rate", "every second", "none", at_least=0.9),
            Target("CPU per record / without", "steady_cpu_us", "every second", "none"),
        ),
        figures=("rate", "steady_cpu_us", "checkpoints"),
    )


DIRECT = {"wiesel.checkpoint.direct-io": "true"}
WAYS = {"direct I/O": DIRECT, "page cache": {"wiesel.checkpoint.direct-io": "false"}}
"""How else files can be written than a task decides by itself."""

SQL_EVERY = 1009
"""As in the program."""


def _large_state_sql(scale: Scale) -> Case:
    keys, rounds = scale.records(4_000_000, 400_000), 3
    # The numbers of a key k are k, k + keys, and so on: the rows that come out are those of the keys whose sums it divides.
    found = [k for k in range(keys) if (rounds * k + keys * rounds * (rounds - 1) // 2) % SQL_EVERY == 0]
    expected = {"count": len(found), "total": sum(found), "length": 256 * len(found)}
    arguments = {"records": rounds * keys, "keys": keys}
    watched = {**arguments, "checkpoints": "{folder}/checkpoints"}
    incremental = {"execution.checkpointing.incremental": "true", "taskmanager.memory.managed.size": "1g"}
    runs, targets = [], []
    for label, engine, conf, ways in (
        ("wiesel, hashmap", WIESEL, {"state.backend.type": "hashmap"}, {"every second": {}, "direct I/O": DIRECT}),
        ("flink, hashmap", PYFLINK, {"state.backend.type": "hashmap"}, {"every second": {}}),
        ("flink, rocksdb", PYFLINK, {"state.backend.type": "rocksdb", **incremental}, {"every second": {}}),
    ):
        none = f"{label}, none"
        runs.append(Run(none, engine, BIG_STATE_SQL, arguments, expected, conf=conf))
        for way, more in ways.items():
            with_checkpoints = f"{label}, {way}"
            options = {**conf, **EVERY_SECOND, **more}
            runs.append(Run(with_checkpoints, engine, BIG_STATE_SQL, watched, expected, conf=options, check=some_were_taken))
            least = 0.9 if engine == WIESEL else None
            targets.append(Target(f"rate / without, {with_checkpoints}", "rate", with_checkpoints, none, at_least=least))
    return Case(
        "large-state-sql",
        f"SQL, groups of {keys:,} keys with 256 bytes each, each row replaces one, with and without a checkpoint each second (rows/s)",
        tuple(runs),
        tuple(targets),
        figures=("rate", "cpu_s", "checkpoints"),
    )


def _large_state_targets(backend: str, *ways: str) -> list[Target]:
    targets = []
    for way in ways:
        pair = (f"{backend}, {way}", f"{backend}, none")
        targets += [
            Target(f">= 0.9 of the rate without, {backend}, {way}", "rate", *pair, at_least=0.9),
            Target(f"CPU per record / without, {backend}, {way}", "steady_cpu_us", *pair),
            Target(f"<= 1.3 bytes written per byte changed, {backend}, {way}", "written_per_changed", pair[0], at_most=1.3),
        ]
    return targets


def _rescale(scale: Scale) -> Case:
    keys = scale.records(500_000, 50_000)
    runs = tuple(
        Run(
            backend,
            WIESEL,
            "programs/rescale.py",
            {"keys": keys, "value-bytes": 2_000, "backend": backend},
            {"parallelism": 1},
        )
        for backend in ("hashmap", "lmdb")
    )
    # As many bytes in fewer values, at the same pace of bytes: PyFlink can keep up with some hundred records a second.
    few = {"keys": keys // 100, "value-bytes": 200_000, "rate": 100, "every": 7, "backend": "rocksdb"}
    incremental = {"execution.checkpointing.incremental": "true", "taskmanager.memory.managed.size": "1g"}
    flink = Run("pyflink, rocksdb", PYFLINK, "programs/rescale.py", few, {"parallelism": 1}, conf=incremental)
    return Case(
        "rescale",
        f"state of {keys:,} values of 2,000 bytes (PyFlink 100 times fewer of 200,000): from SIGKILL of a worker, and from the request to "
        "rescale (2 to 4 to 1), to new results (s)",
        (*runs, flink),
        tuple(
            Target(f"{way}: < 3 s beyond a restart, {run.label}", f"{figure}_beyond_s", run.label, at_most=3)
            for run in runs
            for way, figure in (("2 to 4", "up"), ("4 to 1", "down"))
        ),
        figures=("restart_s", "up_s", "down_s", "up_beyond_s", "down_beyond_s"),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_kills(scale), _large_state(scale), _hot_keys(scale), _large_state_sql(scale), _rescale(scale)]
