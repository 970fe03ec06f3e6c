"""Records the types that real Flink gives to pairs of operands, in ``goldens/type_pairs.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some minutes. By query
and first operand there is a list: the type by second operand, null where Flink refuses the query.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def main() -> None:
    """Record all."""
    from py4j.protocol import Py4JJavaError
    from pyflink.table import EnvironmentSettings, TableEnvironment
    from pyflink.util.exceptions import TableException
    from type_pairs import OPERANDS, PUT_INTO, TABLE

    tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    tables.execute_sql(TABLE)

    def type_of(query: str) -> str | None:
        try:
            schema = tables.sql_query(query)._j_table.getResolvedSchema()
        except (Py4JJavaError, TableException):
            return None
        return str(schema.getColumnDataTypes().get(0).getLogicalType().asSummaryString())

    found = {query: {one: [type_of(query.format(one, other)) for other in OPERANDS] for one in OPERANDS} for query in PUT_INTO}
    lines = ",\n".join(
        f"{json.dumps(query)}: {{\n" + ",\n".join(f"  {json.dumps(one)}: {json.dumps(types)}" for one, types in by_first.items()) + "}"
        for query, by_first in found.items()
    )
    (HERE / "goldens" / "type_pairs.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
