"""Records what Java's ``StrictMath`` returns for chosen and random numbers: ``goldens/strict_math.json``.

Flink's functions call ``Math``, whose hyperbolic functions and cube root are those of ``StrictMath``. Run it with an interpreter that has
PySpark 4, for its way to a JVM, and Java 17 on the path. Numbers are recorded in hexadecimal digits, as ``float.hex`` writes them.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

from pyspark.java_gateway import launch_gateway

TARGET = Path(__file__).parent / "goldens" / "strict_math.json"
FUNCTIONS = ("cbrt", "cosh", "expm1", "sinh", "tanh")
SEED, COUNT = 3, 100
EDGES = (
    *(0.0, 5e-324, 1e-310, 2.0**-1022, 2.0**-56, 2.0**-55, 2.0**-54, 2.0**-29, 2.0**-28, 1e-5, 0.1, 0.25, 0.3, 0.5, 1.0, 8.0, 27.0, 1000.0),
    *(0.5 * math.log(2), 1.5 * math.log(2), math.log(2), 21.9, 22.0, 22.1, 36.9, 37.1, 38.9, 39.1, 55.9, 56.1, 709.0, 709.78, 709.79),
    *(710.0, 710.4758, 710.4759, 711.0, 1e10, 1.7976931348623157e308, math.inf),
)


def samples() -> list[float]:
    """Return edges and random numbers of all sizes, with both signs, and no number."""
    chance = random.Random(SEED)
    spread = [chance.uniform(0, 60) for _ in range(COUNT)] + [2 ** chance.uniform(-1074, 1023.9) for _ in range(COUNT // 2)]
    near = [chance.uniform(0, 2) for _ in range(COUNT)] + [chance.uniform(60, 711) for _ in range(COUNT // 4)]
    positive = [*EDGES, *spread, *near]
    return [*positive, *(-number for number in positive), math.nan]


def main() -> None:
    """Record all."""
    gateway = launch_gateway()
    strict = gateway.jvm.java.lang.StrictMath
    found = {name: [(x.hex(), float(getattr(strict, name)(x)).hex()) for x in samples()] for name in FUNCTIONS}
    TARGET.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in found.items()) + "\n}\n")
    gateway.shutdown()


if __name__ == "__main__":
    main()
