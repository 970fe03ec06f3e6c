"""Records what Flink's own pattern matching gives for patterns made at random.

Run it with Wiesel's development environment, a JDK 17 on the path, and the folder of Flink's jars:

    python tests/differential/record_cep.py <...>/site-packages/pyflink/lib

Left out are patterns that Wiesel refuses because Flink would not come back from them, and streams on which Flink fails with an error
of its own (a NullPointerException).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import count, islice
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.unit.cep.pattern_cases import ends_a_group, random_case  # noqa: E402
from tests.unit.cep.running import run  # noqa: E402

TARGET = HERE / "goldens_cep.jsonl"
CASES = 460
# What is rare is looked for among more: conditions that end a repeated group.
RARE_CASES = 60


def in_flink(cases: list[dict[str, Any]], jars: Path) -> list[dict[str, Any]]:
    classpath = ":".join(str(jars / name) for name in ("flink-cep-2.3.0.jar", "flink-dist-2.3.0.jar", "log4j-api-2.25.3.jar"))
    with tempfile.TemporaryDirectory(prefix="cep-") as folder:
        given, results = Path(folder, "cases.json"), Path(folder, "results.jsonl")
        given.write_text(json.dumps(cases))
        subprocess.run(["javac", "-cp", classpath, "-d", folder, str(HERE / "java" / "CepCases.java")], check=True)
        subprocess.run(["java", "-cp", f"{classpath}:{folder}", "CepCases", str(given), str(results)], check=True)
        return [json.loads(line) for line in results.read_text().splitlines()]


def main() -> None:
    cases = [random_case(seed) for seed in range(CASES)]
    cases += islice((case for case in map(random_case, count(CASES)) if ends_a_group(case["steps"])), RARE_CASES)
    cases = [case for case in cases if "repeated" not in run(case).get("refused", "")]
    lines = [
        json.dumps({**case, "result": result}, separators=(",", ":"))
        for case, result in zip(cases, in_flink(cases, Path(sys.argv[1])), strict=True)
        if "NullPointerException" not in result.get("failed", "")
    ]
    TARGET.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} cases in {TARGET}")


if __name__ == "__main__":
    main()
