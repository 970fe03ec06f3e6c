"""Writes the options of real Flink to ``tests/unit/core/flink_options.json``. Run it with a Python that has PyFlink 2.3.

Only keys of the namespaces in which Wiesel refuses unknown keys are kept, without the many of the ForSt backend, and those of committers.
"""

from __future__ import annotations

import json
import re
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pyflink
from pyflink.java_gateway import get_gateway

NAMESPACES = (
    "parallelism pipeline execution state restart-strategy taskmanager jobmanager heartbeat python metrics task env slot sql-client"
).split()
BESIDES = ("sink.committer.",)
LEFT_OUT = ("state.backend.forst.",)
TARGET = Path(__file__).parents[1] / "unit" / "core" / "flink_options.json"


def class_names() -> list[str]:
    home = Path(pyflink.__file__).parent
    jars = [*home.glob("lib/flink-dist*.jar"), *home.glob("lib/flink-table-api*.jar"), *home.glob("opt/flink-*.jar")]
    names = (name for jar in jars for name in zipfile.ZipFile(jar).namelist())
    wanted = re.compile(r"org/apache/flink/(?!.*shaded).*Options?\.class$")
    return [name[:-6].replace("/", ".") for name in names if wanted.match(name)]


@cache
def loader_of_client() -> Any:
    """A loader that knows the classes of the SQL client too, which are not on PyFlink's class path."""
    gateway = get_gateway()
    jars = list(Path(pyflink.__file__).parent.glob("opt/flink-sql-client*.jar"))
    urls = gateway.new_array(gateway.jvm.java.net.URL, len(jars))
    for place, jar in enumerate(jars):
        urls[place] = gateway.jvm.java.io.File(str(jar)).toURI().toURL()
    return gateway.jvm.java.net.URLClassLoader(urls, gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader())


def options_of(jvm: Any, name: str) -> dict[str, dict[str, Any]]:
    loader = loader_of_client()
    option_class = jvm.java.lang.Class.forName("org.apache.flink.configuration.ConfigOption")
    value_class, is_list = option_class.getDeclaredField("clazz"), option_class.getDeclaredField("isList")
    value_class.setAccessible(True)
    is_list.setAccessible(True)
    try:
        fields = jvm.java.lang.Class.forName(name, True, loader).getFields()
    except Exception as e:  # noqa: BLE001 - classes whose own dependencies are not in the jars
        print(f"left out: {name}: {type(e).__name__}")
        return {}
    found = {}
    for field in fields:
        if field.getType().getName() != "org.apache.flink.configuration.ConfigOption":
            continue
        option = field.get(None)
        default = option.defaultValue()
        if isinstance(default, str) and default.startswith("/"):
            default = None  # a place on the machine that recorded it
        kind = re.split(r"[.$]", value_class.get(option).getName())[-1]
        found[option.key()] = {
            "default": default if default is None or isinstance(default, int | float | str) else default.toString(),
            "fallback": [fallback.getKey() for fallback in option.fallbackKeys()],
            "type": kind + (" list" if is_list.get(option) else ""),
        }
    return found


def main() -> None:
    jvm = get_gateway().jvm
    found: dict[str, dict[str, Any]] = {}
    for name in class_names():
        found.update(options_of(jvm, name))
    wanted = {key: value for key, value in found.items() if key.split(".")[0] in NAMESPACES or key.startswith(BESIDES)}
    kept = {key: value for key, value in wanted.items() if "<" not in key and not key.startswith(LEFT_OUT)}
    lines = [f" {json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(kept.items())]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(kept)} options")


if __name__ == "__main__":
    main()
