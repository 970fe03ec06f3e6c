"""Records what real Flink gives for the steps of ``catalog_objects.txt``: ``goldens/catalog_objects.json``.

Run it with a Python that has PyFlink 2.3 and a JDK 17 on the path.
"""

from __future__ import annotations

import json
from pathlib import Path

from catalog_steps import outcomes, steps
from pyflink.table import EnvironmentSettings, TableEnvironment

TARGET = Path(__file__).parent / "goldens" / "catalog_objects.json"


def main() -> None:
    found = outcomes("pyflink", TableEnvironment.create(EnvironmentSettings.in_batch_mode()))
    lines = [json.dumps([step, outcome], ensure_ascii=False) for step, outcome in zip(steps(), found, strict=True)]
    TARGET.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
