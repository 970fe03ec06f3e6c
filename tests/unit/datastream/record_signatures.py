"""Records the signatures of PyFlink's DataStream API in ``pyflink_signatures.json``; run it with the Python of a PyFlink installation.

Only names, parameters and defaults are recorded: they are what programs written for PyFlink rely on.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pathlib

CLASSES = {
    "checkpoint_config": ["CheckpointConfig"],
    "checkpoint_storage": ["FileSystemCheckpointStorage", "JobManagerCheckpointStorage"],
    "data_stream": [
        "CloseableIterator",
        "ConnectedStreams",
        "DataStream",
        "DataStreamSink",
        "KeyedStream",
        "WindowedStream",
        "AllWindowedStream",
    ],
    "functions": [
        "AggregateFunction",
        "AllWindowFunction",
        "CoFlatMapFunction",
        "CoMapFunction",
        "CoProcessFunction",
        "FilterFunction",
        "FlatMapFunction",
        "KeyedCoProcessFunction",
        "KeyedProcessFunction",
        "KeySelector",
        "MapFunction",
        "Partitioner",
        "ProcessAllWindowFunction",
        "ProcessFunction",
        "ProcessWindowFunction",
        "ReduceFunction",
        "RuntimeContext",
        "WindowFunction",
    ],
    "output_tag": ["OutputTag"],
    "slot_sharing_group": ["MemorySize", "SlotSharingGroup"],
    "state_backend": ["EmbeddedRocksDBStateBackend", "HashMapStateBackend"],
    "stream_execution_environment": ["StreamExecutionEnvironment"],
    "timerservice": ["TimerService"],
}
ENUMS = {
    "checkpointing_mode": "CheckpointingMode",
    "execution_mode": "RuntimeExecutionMode",
    "externalized_checkpoint_retention": "ExternalizedCheckpointRetention",
    "state_backend": "PredefinedOptions",
    "time_domain": "TimeDomain",
}


def parameters(function: object) -> list[list[str]]:
    """Return name, kind and default of each parameter but ``self``."""
    found = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in found if p.name != "self"]


def methods(cls: type) -> dict[str, list[list[str]]]:
    """Return the public methods of a class and of those it inherits from."""
    result = {}
    for name in sorted(dir(cls)):
        function = inspect.getattr_static(cls, name)
        if isinstance(function, staticmethod):
            function = function.__func__
        if not name.startswith("_") and inspect.isfunction(function):
            result[name] = parameters(function)
    return result


def main() -> None:
    """Write the file."""
    modules = {name: importlib.import_module(f"pyflink.datastream.{name}") for name in (*CLASSES, *ENUMS)}
    recorded = {
        "exports": sorted(importlib.import_module("pyflink.datastream").__all__),
        "classes": {f"{module}.{c}": methods(getattr(modules[module], c)) for module, names in CLASSES.items() for c in names},
        "enums": {f"{m}.{e}": {member.name: member.value for member in getattr(modules[m], e)} for m, e in ENUMS.items()},
    }
    target = pathlib.Path(__file__).with_name("pyflink_signatures.json")
    target.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
