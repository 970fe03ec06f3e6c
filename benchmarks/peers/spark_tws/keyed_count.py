"""The running count per key as a Spark user writes it: transformWithState, by rows or by pandas frames.

One state access per key and micro-batch, one output row per record. The result on the last line has the figures of the other programs.
"""

import argparse
import datetime
import json
import tempfile
import time

import pandas as pd
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

OUTPUT = "key long, count long"


class CountRows(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "count long")

    def handleInputRows(self, key, rows, timerValues):
        state = self.count.get()
        count = state[0] if state else 0
        key = key[0]
        for _ in rows:
            count += 1
            yield Row(key=key, count=count)
        self.count.update((count,))

    def close(self):
        pass


class CountFrames(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "count long")

    def handleInputRows(self, key, rows, timerValues):
        state = self.count.get()
        before = count = state[0] if state else 0
        for frame in rows:
            count += len(frame)
        self.count.update((count,))
        yield pd.DataFrame({"key": key[0], "count": range(before + 1, count + 1)})

    def close(self):
        pass


def session(options):
    builder = (
        SparkSession.builder.master(f"local[{options.parallelism}]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", options.parallelism)
        .config("spark.sql.streaming.stateStore.providerClass", "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
        # A batch's commit uploads the changes alone, not a snapshot of RocksDB's files.
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .config("spark.sql.streaming.numRecentProgressUpdates", "10000")
        .config("spark.driver.memory", "4g")
    )
    for entry in options.conf:
        key, _, value = entry.partition("=")
        builder = builder.config(key, value)
    return builder.getOrCreate()


def counted(spark, options):
    numbers = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", options.batch)
        .option("numPartitions", options.parallelism)
        .load()
    )
    keyed = numbers.select((F.col("value") % options.keys).alias("key"), "value").groupBy("key")
    settings = {"outputStructType": OUTPUT, "outputMode": "Update", "timeMode": "None"}
    if options.api == "row":
        return keyed.transformWithState(statefulProcessor=CountRows(), **settings)
    return keyed.transformWithStateInPandas(statefulProcessor=CountFrames(), **settings)


def progress_of(query, batches):
    """Wait for the first batches and return their progress reports."""
    while True:
        reports = {report["batchId"]: report for report in query.recentProgress if report["numInputRows"]}
        if len(reports) >= batches:
            return [reports[number] for number in range(batches)]
        if query.exception() is not None:
            raise query.exception()
        if not query.isActive:
            raise RuntimeError("the query ended before its last batch")
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=200_000, help="records per micro-batch")
    parser.add_argument("--skip", type=int, default=1, help="first batches that the steady rate leaves out")
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--api", choices=("row", "pandas"), default="row")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()

    spark = session(options)
    checked = counted(spark, options).observe("check", F.count(F.lit(1)).alias("count"), F.sum("count").alias("total"))
    first_ns = time.time_ns()
    with tempfile.TemporaryDirectory(dir=options.folder, ignore_cleanup_errors=True) as checkpoints:
        writer = checked.writeStream.format("noop").outputMode("update").option("checkpointLocation", checkpoints)
        query = writer.start()
        reports = progress_of(query, options.records // options.batch)
        last_ns = time.time_ns()
        query.stop()
    seen = [report["observedMetrics"]["check"] for report in reports]
    steady = reports[options.skip :]
    steady_ms = sum(report["durationMs"]["triggerExecution"] for report in steady)
    steady_records = sum(report["numInputRows"] for report in steady)
    begun = datetime.datetime.fromisoformat(steady[0]["timestamp"].replace("Z", "+00:00"))
    steady_from_ns = int(begun.timestamp() * 1000) * 1_000_000
    result = {
        "records": options.records,
        "count": sum(row["count"] for row in seen),
        "total": sum(row["total"] for row in seen),
        "first_ns": first_ns,
        "last_ns": last_ns,
        "steady_from_ns": steady_from_ns,
        "steady_to_ns": steady_from_ns + steady_ms * 1_000_000,
        "steady_records": steady_records,
        "rate": round(steady_records * 1000 / steady_ms),
    }
    spark.stop()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
