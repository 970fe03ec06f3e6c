"""Records what Hive's own ``sentences`` returns for random texts: ``goldens/hive_sentences.json``.

Spark calls the class of Hive 2.3, which is in its jars. Run it with an interpreter that has PySpark 4 and a JDK 17 on the path. Recorded
are the texts with their sentences, which are lists of words.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

TARGET = Path(__file__).parent / "goldens" / "hive_sentences.json"
SEED, COUNT = 17, 1500
NAME = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFSentences"

EXAMPLES = (
    "Hello there! How are you?",
    "Hello there! I am a UDF.",
    'He said "Stop." Then he left. (Really?) Yes... and no.',
    "Mr. Smith paid $1,000.50 on 3.4.2020, i.e. 5% of it. don't re-do it! U.S.A. is",
    "Größe über alles; Été à Paris. Ελλάδα. Привет, мир! 日本語。カタカナ ひらがな！漢字",
    "line one\nline two\r\n\r\nline three\ttab",
    "",
    " ",
    "a_b a-b a.b a'b a\"b 1.2 1,2 1'2 1:2 1/2 a1 1a $1 #1 .5 5% 5¢ 5& ¢5",
)
WORDS = (
    *"the a I Hello world don't rock'n'roll re-do e-mail UDF Größe Été année слово Мир λόγος NASA x1 3D snake_case café naïve".split(),
    *"1 12 3.14 1,000.50 $5 $1,234.00 10% 50¢ #1 2020-01-02 10:30 1/2 e.g i.e U.S.A Mr Dr p.m".split(),
    *"日本語 カタカナ ひらがな 漢字カナ混じり 한국어".split(),
)
BETWEEN = (
    *(" ", " ", " ", " ", " ", " ", " ", ", ", ", ", "; ", ": ", " - ", " – ", "—", "/", " & ", " (", ") "),
    *(' "', '" ', " '", "' ", "\t", "\n", "。", "！", "？", "、"),
    *(". ", ". ", ". ", ".  ", "! ", "? ", "... ", "?! ", '." ', '!" ', ".) ", "?) ", ".\n", "!\n\n", ".\r\n", ' ("'),
    *('. "', ". (", ". 'T", "… ", " … ", ".’ ", " “", "” ", ".” ", " «", "» ", ".» ", ".\u00a0"),
)
ENDS = ("", "", ".", "!", "?", "...", '."', ".)", "\n", ". ", ".\n")


def texts() -> list[str]:
    """Return the examples, and random words with what may stand between words."""
    chance = random.Random(SEED)
    found = dict.fromkeys(EXAMPLES)
    while len(found) < COUNT:
        words = [chance.choice(WORDS) for _ in range(chance.randrange(1, 12))]
        words = [word.capitalize() if chance.random() < 0.3 else word for word in words]
        found["".join(word + chance.choice(BETWEEN) for word in words[:-1]) + words[-1] + chance.choice(ENDS)] = None
    return list(found)


def main() -> None:
    """Record all."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").enableHiveSupport()
    builder = builder.config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:metastore;create=true")
    spark = builder.config("spark.sql.warehouse.dir", tempfile.mkdtemp()).getOrCreate()
    spark.sql(f"CREATE TEMPORARY FUNCTION hive_sentences AS '{NAME}'")
    spark.createDataFrame(list(enumerate(texts())), "n INT, t STRING").createOrReplaceTempView("texts")
    rows = spark.sql("SELECT t, hive_sentences(t, 'en', 'us') AS s FROM texts ORDER BY n").collect()
    lines = ",\n".join(json.dumps([row["t"], row["s"]]) for row in rows)
    TARGET.write_text(f"[\n{lines}\n]\n")
    spark.stop()


if __name__ == "__main__":
    main()
