"""State of 256 bytes and more per key in SQL, all of it replaced by each row of the key; few rows come out, in the last round."""

import json
import time

import metering

EVERY = 1009
ROWS_PER_SECOND = 2_000_000_000

SOURCE = """
CREATE TABLE numbers (n BIGINT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '{rows_per_second}',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '{last}'
)
"""

# What is asked of the sum and of the count cannot be asked before there is a group.
QUERY = """
SELECT k, CHAR_LENGTH(p) FROM (
  SELECT k, LAST_VALUE(REPEAT(CAST(1000000000000000 + n AS STRING), 16)) AS p, SUM(n) AS s, COUNT(*) AS c
  FROM (SELECT n, MOD(n, {keys}) AS k FROM numbers) GROUP BY k
) WHERE c = {rounds} AND MOD(s, {every}) = 0
"""


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--keys", type=int, required=True)
    options = parser.parse_args()
    rounds = options.records // options.keys
    t_env = metering.table_environment(options)
    t_env.execute_sql(SOURCE.format(rows_per_second=ROWS_PER_SECOND, last=options.records - 1))
    query = QUERY.format(keys=options.keys, rounds=rounds, every=EVERY)
    count = total = length = 0
    started = time.time()
    with metering.CheckpointCount(options.checkpoints) as checkpoints, t_env.sql_query(query).execute().collect() as rows:
        for row in rows:
            count, total, length = count + 1, total + row[0], length + row[1]
    seconds = time.time() - started
    result = {"records": options.records, "count": count, "total": total, "length": length, "rate": round(options.records / seconds)}
    if options.checkpoints:
        result["checkpoints"] = len(checkpoints.seen)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
