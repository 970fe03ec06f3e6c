"""One query of Nexmark over the generated events, by the Table API and SQL: written nowhere, or its result counted."""

import json
import time
from pathlib import Path

import metering
from pyflink.common import RowKind
from pyflink.table import DataTypes, TableDescriptor
from pyflink.table.udf import udf

HERE = Path(__file__).parent.parent / "nexmark"


@udf(result_type=DataTypes.BIGINT())
def count_char(text, char):
    return text.count(char)


def environment(options):
    t_env = metering.table_environment(options)
    tables = (HERE / "tables.sql").read_text().replace("${events}", options.events).replace("${side}", options.side)
    for statement in tables.split(";"):
        if statement.strip():
            t_env.execute_sql(statement)
    t_env.create_temporary_function("count_char", count_char)
    return t_env


def result_of(table):
    """Return what the changes of a query leave: each row with how often it is there, as text.

    A query whose changes are upserts, without the rows that they replace, leaves too much; those of Nexmark that are read here are none.
    """
    left = {}
    with table.execute().collect() as rows:
        for row in rows:
            key = repr(tuple(row))
            more = 1 if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
            left[key] = left.get(key, 0) + more
            if not left[key]:
                del left[key]
    return left


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--query", required=True)
    parser.add_argument("--events", required=True, help="folder of the events")
    parser.add_argument("--side", required=True, help="folder of the side input")
    parser.add_argument("--result", help="file for the result, in place of writing it nowhere")
    options = parser.parse_args()
    t_env = environment(options)
    table = t_env.sql_query((HERE / "queries" / f"{options.query}.sql").read_text())
    started = time.time()
    if options.result:
        Path(options.result).write_text(json.dumps(result_of(table), indent=0, sort_keys=True))
    else:
        table.execute_insert(TableDescriptor.for_connector("blackhole").build()).wait()
    seconds = time.time() - started
    result = {"query": options.query, "records": options.records, "seconds": round(seconds, 3)}
    print(json.dumps({**result, "rate": round(options.records / seconds)}), flush=True)


if __name__ == "__main__":
    main()
