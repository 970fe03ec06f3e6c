"""Records what Hive's own table functions return for the calls of ``hive_table_functions.txt``: ``goldens/hive_table_functions.json``.

Spark calls the classes of Hive 2.3, which are in its jars; what it writes differently from Flink stands behind an arrow. Run it with an
interpreter that has PySpark 4 and a JDK 17 on the path. Recorded are the names of the columns and the rows as texts, or ``fails`` with the
message.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

HERE = Path(__file__).parent
TARGET = HERE / "goldens" / "hive_table_functions.json"
PACKAGE = "org.apache.hadoop.hive.ql.udf.generic.GenericUDTF"
CLASSES = {
    "explode": "Explode",
    "posexplode": "PosExplode",
    "inline": "Inline",
    "stack": "Stack",
    "json_tuple": "JSONTuple",
    "parse_url_tuple": "ParseUrlTuple",
}


def recorded(spark: SparkSession, line: str) -> dict[str, Any]:
    """Return what a call returns."""
    try:
        found = spark.sql(f"SELECT hive_{line}")
        names = found.columns
        texts = found.selectExpr(*(f"CAST(`{name}` AS STRING)" for name in names)).collect()
        return {"columns": names, "rows": [list(row) for row in texts]}
    except Exception as error:  # noqa: BLE001 - what Hive refuses is part of the record
        return {"fails": str(error).split("\n")[0][:300]}


def main() -> None:
    """Record all calls."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").enableHiveSupport()
    builder = builder.config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:metastore;create=true")
    spark = builder.config("spark.sql.warehouse.dir", tempfile.mkdtemp()).getOrCreate()
    for name, of in CLASSES.items():
        spark.sql(f"CREATE TEMPORARY FUNCTION hive_{name} AS '{PACKAGE}{of}'")
    lines = (HERE / "hive_table_functions.txt").read_text().splitlines()
    found = {line.split("  =>  ")[0]: recorded(spark, line.split("  =>  ")[-1]) for line in lines}
    texts = ",\n".join(f"{json.dumps(line, ensure_ascii=False)}: {json.dumps(each, ensure_ascii=False)}" for line, each in found.items())
    TARGET.write_text(f"{{\n{texts}\n}}\n")
    spark.stop()


if __name__ == "__main__":
    main()
