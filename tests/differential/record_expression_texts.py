"""Records what ``str()`` of the expressions of ``expression_text_cases.py`` is in real Flink: ``goldens/expression_texts.json``.

Run it with the interpreter of a virtual environment that holds real PyFlink 2.3 and a JDK 17 on the path; it takes some seconds.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from expression_text_cases import EXPRESSIONS

TARGET = Path(__file__).parent / "goldens" / "expression_texts.json"


def main() -> None:
    from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment, expression, expressions

    TableEnvironment.create(EnvironmentSettings.in_streaming_mode())  # it starts Java
    names = {**vars(expression), **vars(expressions), "DataTypes": DataTypes, "Decimal": Decimal}
    names |= {name: expressions.col(name) for name in "abc"}
    found = {each: str(eval(each, names)) for each in EXPRESSIONS}  # noqa: S307 - it evaluates what is written beside it
    TARGET.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
