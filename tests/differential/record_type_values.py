"""Records what values of declared types become in PyFlink, to ``goldens_type_values.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink (``pip install apache-flink==2.3.0``) and a JDK on the path:

    python tests/differential/record_type_values.py

The results of functions are encoded and decoded by PyFlink's own coders, as between the Python process and Flink's, each cell in a process
of its own. A cell that is refused has the name of the exception, after an exclamation mark.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from type_values import cells, namespace, shown


def _result(coder: Any, value: Any) -> str:
    """Encode and decode a value in a process of its own: some values end it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = shown(coder.decode(coder.encode(value)))
        except Exception as error:  # noqa: BLE001 - whatever the coder meets is the result
            text = f"!{type(error).__name__}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text or "!the process ended"


def main() -> None:
    """Record the table."""
    from pyflink.common import Row, Types
    from pyflink.fn_execution.coders import from_type_info

    names = namespace(Types, Row)
    table = {}
    for declared, values in cells().items():
        coder = from_type_info(eval(f"Types.{declared}", names)).get_impl()
        table[declared] = {value: _result(coder, eval(value, names)) for value in values}
    path = Path(__file__).with_name("goldens_type_values.json")
    path.write_text(json.dumps(table, indent=0, ensure_ascii=False) + "\n")
    print(sum(map(len, table.values())), "cells")


if __name__ == "__main__":
    main()
