"""Internal. Generates ``docs/configuration.md`` from the options: ``python -m wiesel.core.option_docs > docs/configuration.md``."""

from __future__ import annotations

import sys
from typing import Any

from wiesel.core.config import ConfigOption, declared_options

__all__ = ["render_markdown"]

_SECTIONS = (
    ("The job", ("parallelism.", "pipeline.", "python.")),
    (
        "How records flow",
        ("execution.runtime-mode", "execution.buffer-timeout", "taskmanager.", "metrics.", "wiesel.exchange.", "wiesel.windows."),
    ),
    ("Checkpoints and state", ("execution.checkpointing.", "execution.state-recovery.", "state.")),
    ("Failures", ("restart-strategy.", "heartbeat.", "task.", "jobmanager.", "wiesel.user-error-policy")),
    ("SQL client", ("sql-client.",)),
    ("Processes", ("",)),
)
_TYPES = {
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "str": "text",
    "duration": "duration",
    "memory": "memory size",
    "enum": "one of the values",
    "list": "list",
    "map": "map",
}
_INTRODUCTION = """# Options

This page is generated from the option definitions (`python -m wiesel.core.option_docs > docs/configuration.md`); a test
fails when it is out of date.

Options have Flink's keys. They are set on the command line (`wiesel run -D key=value`), in a `Configuration`, or by the methods of the
environment; the later of these wins. An unknown key is kept, as in Flink, with a warning that suggests similar keys; below `wiesel.` it
is an error. Keys of Flink that have no effect here, such as `pipeline.jars` or `state.backend.rocksdb.*`, are accepted and logged once.
Keys that start with `user.`, `fs.` or `s3.` are kept unchanged, and those that start with `spark.` or `wiesel.spark.conf.` are passed to
Spark. Keys below `table.` are the options of [SQL](sql.md); of these only a key that is similar to an existing one causes a warning.

- A duration is a whole number and a unit: `5 s`, `100ms`, `1 min`, `2 h`, `1 d` (milliseconds without a unit), or ISO-8601: `PT5S`.
- A memory size is a whole number and a unit: `32kb`, `64 mb`, `1g` (bytes without a unit); units are powers of 1024.
- A list is written `a;b` or `[a, b]`, a map `k1:v1,k2:v2`.
"""


def render_markdown() -> str:
    """Return the page."""
    rest = declared_options()
    parts = [_INTRODUCTION]
    for title, prefixes in _SECTIONS:
        chosen = [option for option in rest if option.key.startswith(prefixes)]
        rest = [option for option in rest if option not in chosen]
        rows = "\n".join(_row(option) for option in chosen)
        parts.append(f"## {title}\n\n| key | default | type | meaning |\n| --- | --- | --- | --- |\n{rows}\n")
    return "\n".join(parts)


def _row(option: ConfigOption[Any]) -> str:
    kind = ", ".join(f"`{choice}`" for choice in option.choices) if option.choices else _TYPES[option.type]
    default = f"`{option.default_text}`" if option.default not in (None, "") else "(none)"
    older = f" Also: {', '.join(f'`{key}`' for key in option.deprecated_keys)}." if option.deprecated_keys else ""
    return f"| `{option.key}` | {default} | {kind} | {option.description}{older} |"


if __name__ == "__main__":
    sys.stdout.write(render_markdown())
