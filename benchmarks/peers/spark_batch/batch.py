"""The word count and the join with an aggregation in plain PySpark: Python functions over RDDs."""

import argparse
import json

from pyspark.sql import SparkSession

WORD_BYTES = 40
REGIONS = 1_000
PADDING = "x" * 80


def text(number, words):
    return f"{number % words:0{WORD_BYTES}d} {number // 2 % words:0{WORD_BYTES}d}"


def word_count(spark, options):
    words = options.words
    lines = spark.range(options.records, numSlices=options.parallelism).map(lambda number: text(number, words))
    return lines.flatMap(lambda line: [(word, 1) for word in line.split()]).reduceByKey(lambda a, b: a + b)


def join(spark, options):
    count = options.customers
    orders = spark.range(options.records, numSlices=options.parallelism).map(lambda n: (n % count, (n % 100, PADDING)))
    customers = spark.range(count, numSlices=options.parallelism).map(lambda n: (n, (n % REGIONS, PADDING)))
    joined = orders.join(customers, options.parallelism)
    return joined.map(lambda record: (record[1][1][0], record[1][0][0])).reduceByKey(lambda a, b: a + b)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--customers", type=int, default=100_000)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--job", choices=("word_count", "join"), default="word_count")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()

    builder = SparkSession.builder.master(f"local[{options.parallelism}]").config("spark.ui.showConsoleProgress", "false")
    for entry in options.conf:
        key, _, value = entry.partition("=")
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    job = {"word_count": word_count, "join": join}[options.job]
    count, total = job(session.sparkContext, options).map(lambda record: (1, record[1])).reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]))
    session.stop()
    print(json.dumps({"records": options.records, "count": count, "total": total}), flush=True)


if __name__ == "__main__":
    main()
