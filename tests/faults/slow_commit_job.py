"""A job of two sinks that commit, one of them slowly: numbers, each to both. Used by the tests of slow commits.

As a program it runs in a directory until the file ``go`` exists; the options are those of ``counting_job``, and ``--commit-s``. It prints
what ``JobClient.get_job_metrics`` says as lines of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tests.faults.counting_job import PacedSource, configuration, option_parser  # noqa: E402
from tests.faults.matrix_job import LedgerCommitter, LedgerSink, create_ledger, ledger  # noqa: E402
from wiesel.common import Configuration, WatermarkStrategy  # noqa: E402
from wiesel.datastream import StreamExecutionEnvironment  # noqa: E402
from wiesel.spi.sink import CommitRequest, Committer  # noqa: E402

SLOW, FAST = "slow.db", "fast.db"
BEGUN = "commit-has-begun"
"""The file that is there while the slow sink commits."""


class SlowSink(LedgerSink):
    """A sink whose commits take so long, in s. The file ``commit-has-begun`` is there meanwhile."""

    def __init__(self, path: Path, commit_s: float) -> None:
        super().__init__(path)
        self.commit_s = commit_s

    def create_committer(self) -> Committer[Any]:
        return SlowCommitter(self.path, self.commit_s)


class SlowCommitter(LedgerCommitter):
    def __init__(self, path: Path, commit_s: float) -> None:
        super().__init__(path)
        self.commit_s = commit_s

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        begun = self.path.with_name(BEGUN)
        begun.touch()
        time.sleep(self.commit_s)
        super().commit(requests)
        begun.unlink()


def build(directory: Path, settings: Configuration, *, records: int, rate: float, commit_s: float) -> StreamExecutionEnvironment:
    """Return the environment with the job; what it commits is in two databases in the directory."""
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    pairs = env.from_source(PacedSource(records, rate, str(directory / "go")), WatermarkStrategy.no_watermarks(), "numbers")
    for name, sink in ((SLOW, SlowSink(directory / SLOW, commit_s)), (FAST, LedgerSink(directory / FAST))):
        create_ledger(directory / name)
        pairs.sink_to(sink).name(name).uid(name)
    return env


def committed(path: Path) -> list[str]:
    """Return what is visible, sorted."""
    with ledger(path) as connection:
        return sorted(value for (value,) in connection.execute("SELECT value FROM entries NATURAL JOIN parts"))


def main() -> int:
    parser = option_parser()
    parser.add_argument("--commit-s", type=float, default=5.0)
    options = parser.parse_args()
    env = build(options.directory, configuration(options), records=options.records, rate=options.rate, commit_s=options.commit_s)
    client = env.execute_async("slow commits")
    end = client.get_job_execution_result()
    while True:
        ended = end.done()
        print(json.dumps(client.get_job_metrics().result()), flush=True)
        if ended:
            end.result()
            return 0
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
