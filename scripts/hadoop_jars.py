"""Fetches what a Hadoop file system for tests needs beside Spark's own jars, with the Ivy that comes with Spark; prints the class path.

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
_SPARKS_JARS = Path(pyspark.__file__).parent / "jars"
SPARKS = ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar", "slf4j-api-*.jar", "log4j-*.jar")

_MODULE = """<ivy-module version="2.0"><info organisation="wiesel" module="hadoop-for-tests"/>
<configurations><conf name="default"/></configurations>
<dependencies>{}</dependencies></ivy-module>"""
_DEPENDENCY = '<dependency org="{}" name="{}" rev="{}" transitive="false" conf="default->default"/>'
_LIMIT_S = 900


def jar_name(artifact: str) -> str:
    _, name, version = artifact.split(":")
    return f"{name}-{version}.jar"


def fetch(directory: Path) -> list[Path]:
    """Return the jars in the directory, fetched if need be."""
    wanted = [directory / jar_name(artifact) for artifact in ARTIFACTS]
    if all(jar.exists() for jar in wanted):
        return wanted
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as work:
        module = Path(work, "ivy.xml")
        module.write_text(_MODULE.format("".join(_DEPENDENCY.format(*artifact.split(":")) for artifact in ARTIFACTS)))
        (ivy,) = _SPARKS_JARS.glob("ivy-*.jar")
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home, "bin", "java")) if home else "java"
        command = [java, "-jar", str(ivy), "-warn", "-cache", f"{work}/cache", "-ivy", str(module), "-confs", "default"]
        command += ["-retrieve", f"{work}/jars/[artifact]-[revision].[ext]", "-types", "jar"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_LIMIT_S)
        if done.returncode != 0 or not all(Path(work, "jars", jar.name).exists() for jar in wanted):
            raise SystemExit(f"hadoop_jars.py: the jars could not be fetched\n{done.stdout[-3000:]}")
        for jar in wanted:
            # Others may fetch at the same time: each jar appears whole.
            os.replace(shutil.copy(Path(work, "jars", jar.name), directory / f"{jar.name}.{uuid4().hex}"), jar)
    return wanted


def class_path(directory: Path) -> str:
    """Return the class path of a Hadoop file system in one process."""
    return ":".join(map(str, [*fetch(directory), *(jar for pattern in SPARKS for jar in sorted(_SPARKS_JARS.glob(pattern)))]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(class_path(Path(sys.argv[1])))
