"""Parts common to all APIs: types, rows, time, configuration, job handles, watermark strategies."""

import importlib
from typing import Any

from wiesel.common.completable_future import CompletableFuture
from wiesel.common.config_options import ConfigOption, ConfigOptions
from wiesel.common.configuration import Configuration
from wiesel.common.execution_config import ExecutionConfig
from wiesel.common.input_dependency_constraint import InputDependencyConstraint
from wiesel.common.job_client import JobClient
from wiesel.common.job_execution_result import JobExecutionResult
from wiesel.common.job_id import JobID
from wiesel.common.job_status import JobStatus
from wiesel.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from wiesel.common.serialization import ByteArraySchema, DeserializationSchema, Encoder, SerializationSchema, SimpleStringSchema
from wiesel.common.serializer import TypeSerializer
from wiesel.common.time import Duration, Instant, Time
from wiesel.common.typeinfo import Alias, TypeInformation, Types
from wiesel.common.types import Row, RowKind
from wiesel.common.watermark_strategy import WatermarkStrategy

__all__ = [
    "Alias",
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]

# Older programs import the schemas of formats from here, which live with the formats now.
_MOVED = {
    f"{name}Row{way}Schema": f"wiesel.datastream.formats.{name.lower()}"
    for name in ("Json", "Csv", "Avro")
    for way in ("Serialization", "Deserialization")
}
__all__ += sorted(_MOVED)


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MOVED[name]), name)
