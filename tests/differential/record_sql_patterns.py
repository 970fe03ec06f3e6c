"""Records what real Flink finds by random regular expressions (``pattern_samples.py``), in ``goldens/sql_patterns.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes a minute. Each pattern
is recorded with its texts and, by text, the values of ``CALLS``.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
SEED, PATTERNS, TEXTS = 2303, 700, 6
CALLS = (
    "REGEXP(t, p)",
    "REGEXP_EXTRACT(t, p, 0)",
    "REGEXP_EXTRACT(t, p, 1)",
    "REGEXP_EXTRACT(t, p, 2)",
    "REGEXP_SUBSTR(t, p)",
    "REGEXP_COUNT(t, p)",
    "REGEXP_REPLACE(t, p, '<>')",
)


def main() -> None:
    from pattern_samples import pattern, texts
    from pyflink.table import EnvironmentSettings, TableEnvironment

    rng = random.Random(SEED)
    cases = [(pattern(rng), texts(rng, TEXTS)) for _ in range(PATTERNS)]
    tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    tables.get_config().set("parallelism.default", "1")
    with tempfile.TemporaryDirectory() as folder:
        rows = [{"n": n, "i": i, "p": each, "t": text} for n, (each, its) in enumerate(cases) for i, text in enumerate(its)]
        Path(folder, "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}'"
        tables.execute_sql(f"CREATE TABLE samples (n INT, i INT, p STRING, t STRING) WITH ({options})")
        found: list[list[list[object]]] = [[[] for _ in its] for _, its in cases]
        for call in CALLS:
            with tables.sql_query(f"SELECT n, i, {call} FROM samples").execute().collect() as values:
                for n, i, value in values:
                    found[n][i].append(value)
    goldens = {
        "seed": SEED,
        "calls": CALLS,
        "cases": [[each, list(zip(its, values, strict=True))] for (each, its), values in zip(cases, found, strict=True)],
    }
    text = json.dumps(goldens, separators=(",", ":")).replace("],[[", "],\n[[").replace(']],["', ']],\n["')
    (HERE / "goldens" / "sql_patterns.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
