"""Records what Hive 3.1.3's own classes return for ``murmur_hash``: ``goldens/hive_murmur_hash.json``.

They are run by a JDK 17 with the jars of PySpark 4, behind ``hive-serde``, ``hive-common`` 3.1.3 and ``hive-storage-api`` 2.7.0 of Maven
Central, which are given as a folder::

    python record_hive_murmur_hash.py FOLDER_OF_JARS
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyspark

HERE = Path(__file__).parent


def main() -> None:
    """Record all calls."""
    jars = [f"{Path(sys.argv[1]).resolve()}/*", f"{Path(pyspark.__file__).parent}/jars/*"]
    command = ["java", "--add-opens=java.base/java.net=ALL-UNNAMED", "-cp", ":".join(jars), str(HERE / "java" / "HiveMurmurHash.java")]
    lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.splitlines()
    found = dict(line.rsplit("\t", 1) for line in lines if line.startswith("murmur_hash"))
    (HERE / "goldens" / "hive_murmur_hash.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
