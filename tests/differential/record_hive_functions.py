"""Records what Spark SQL returns for the expressions of ``hive_functions.txt``: ``goldens/hive_functions.json``.

Spark took these functions over from Hive with their rules; where its rules are others, the tests hold the examples of Hive's manual
against them instead. Run it with an interpreter that has PySpark 4 and a JDK 17 on the path. Recorded are values as texts, null for NULL.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "hive_functions.json"


def main() -> None:
    """Record all expressions."""
    lines = [line for line in (HERE / "hive_functions.txt").read_text().splitlines() if line and not line.startswith("#")]
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.ansi.enabled", "false").getOrCreate()
    found: dict[str, str | None] = {}
    for line in lines:
        found[line] = spark.sql(f"SELECT CAST({line} AS STRING) AS v").collect()[0]["v"]
    TARGET.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    spark.stop()


if __name__ == "__main__":
    main()
