"""Records what real Flink answers to the queries of Nexmark: run with the Python of an environment that has apache-flink 2.3.0 and numpy.

Usage: python record_nexmark.py; writes goldens/nexmark.json: per query how many rows are left and a digest of them, and a digest of the
events, which have to be the same wherever they are made.
"""

import json
import sys
import tempfile
from argparse import Namespace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "programs")]

from nexmark import environment, result_of  # noqa: E402 - of the benchmarks

from tests.differential.nexmark_data import QUERIES, digest_of, digest_of_events, make_events  # noqa: E402


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    events, side = make_events(folder)
    # Where rows are equal in all that a query orders by, the order of their arrival counts: hence one subtask.
    options = Namespace(events=str(events), side=str(side), parallelism=1, conf=[])
    found = {"events": digest_of_events(events)}
    for query in QUERIES:
        t_env = environment(options)
        result = result_of(t_env.sql_query((ROOT / "benchmarks" / "nexmark" / "queries" / f"{query}.sql").read_text()))
        found[query] = {"rows": sum(result.values()), "digest": digest_of(result), "some": sorted(result)[:2]}
        print(query, found[query]["rows"], flush=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (Path(__file__).parent / "goldens" / "nexmark.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
