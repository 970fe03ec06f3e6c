"""Fetches what a Hadoop file system for tests needs beside Spark's own jars, with Maven; prints the class path.

usage: hadoop_jars.py DIRECTORY

Nothing is fetched that lies in the directory already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

import pyspark

# Hadoop's version is that of the client that comes with Spark.
ARTIFACTS = (
    "org.apache.hadoop:hadoop-client-minicluster:3.5.0",
    "org.junit.jupiter:junit-jupiter-api:5.11.4",
    "org.junit.platform:junit-platform-commons:1.11.4",
    "org.opentest4j:opentest4j:1.3.0",
    "commons-logging:commons-logging:1.3.5",
)
SPARKS = ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar", "slf4j-api-*.jar", "log4j-*.jar")

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>wiesel</groupId><artifactId>hadoop-for-tests</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{}</dependencies>
</project>"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
)


def jar_name(artifact: str) -> str:
    _, name, version = artifact.split(":")
    return f"{name}-{version}.jar"


def fetch(directory: Path) -> list[Path]:
    """Return the jars in the directory, fetched if need be."""
    wanted = [directory / jar_name(artifact) for artifact in ARTIFACTS]
    if all(jar.exists() for jar in wanted):
        return wanted
    maven = shutil.which("mvn")
    if maven is None:
        raise SystemExit("hadoop_jars.py: there is no mvn on the PATH: install Maven (apt install maven, brew install maven)")
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as work:
        pom = Path(work, "pom.xml")
        pom.write_text(_POM.format("".join(_DEPENDENCY.format(*artifact.split(":")) for artifact in ARTIFACTS)))
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={work}/jars"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        if done.returncode != 0:
            raise SystemExit(f"hadoop_jars.py: Maven failed\n{done.stdout[-3000:]}")
        for jar in wanted:
            # Others may fetch at the same time: each jar appears whole.
            os.replace(shutil.copy(Path(work, "jars", jar.name), directory / f"{jar.name}.{uuid4().hex}"), jar)
    return wanted


def class_path(directory: Path) -> str:
    """Return the class path of a Hadoop file system in one process."""
    sparks = Path(pyspark.__file__).parent / "jars"
    return ":".join(map(str, [*fetch(directory), *(jar for pattern in SPARKS for jar in sorted(sparks.glob(pattern)))]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(class_path(Path(sys.argv[1])))
