"""SQL with a Python function over lines of 100 bytes: one call per line, and few rows that come out, which are counted."""

import json
import time

import metering
from pyflink.table import DataTypes
from pyflink.table.udf import udf


@udf(result_type=DataTypes.BIGINT())
def number(line):
    return int(line[:10])


@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def numbers(lines):
    return lines.str.slice(0, 10).astype("int64")


QUERY = "SELECT n FROM (SELECT {function}(line) AS n FROM lines) WHERE MOD(n, {every}) = 0"


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--input", required=True, help="folder of text files")
    parser.add_argument("--every", type=int, required=True, help="the rows that come out: those whose number it divides")
    parser.add_argument("--function", default="number")
    options = parser.parse_args()

    t_env = metering.table_environment(options)
    t_env.execute_sql(f"CREATE TABLE lines (line STRING) WITH ('connector'='filesystem', 'path'='{options.input}', 'format'='raw')")
    t_env.create_temporary_function("number", number)
    t_env.create_temporary_function("numbers", numbers)
    marks, total = [], 0
    with t_env.sql_query(QUERY.format(function=options.function, every=options.every)).execute().collect() as rows:
        for count, row in enumerate(rows, 1):
            total += row[0]
            marks.append((time.time_ns(), count))
    part = {"count": len(marks), "total": total, "marks": marks}
    print(json.dumps(metering.summary([part], options.records)), flush=True)


if __name__ == "__main__":
    main()
