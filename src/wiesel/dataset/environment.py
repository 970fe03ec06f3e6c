"""The environment in which a program over bounded data is built and run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wiesel.common import JobExecutionResult
from wiesel.connectors.collect_sink import CollectDelivery, CollectReceiver, CollectSink
from wiesel.connectors.collection import collection_source
from wiesel.connectors.filesystem.source import FileSource
from wiesel.connectors.number_sequence import NumberSequenceSource
from wiesel.core import options
from wiesel.core.argument_checks import require_built, require_count, require_instance
from wiesel.core.config import Configuration
from wiesel.core.managed_memory import managed_memory_bytes
from wiesel.core.parallelism import default_parallelism
from wiesel.core.user_location import program_error, user_location
from wiesel.dataset._builtin import to_tuple
from wiesel.dataset._explain import plan_json, plan_text
from wiesel.dataset._optimizer import PlannedNode, optimize
from wiesel.dataset._plan import Node
from wiesel.dataset._translation import Translation
from wiesel.dataset.data_set import DataSet
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream import job_execution as _execution
from wiesel.datastream.closeable_iterator import CloseableIterator
from wiesel.formats.csv import CsvReaderFormat, CsvSchema
from wiesel.formats.text import TextLineFormat
from wiesel.spi.source import Boundedness, Source
from wiesel.types import Types
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["ExecutionEnvironment"]

_JOB_NAME = "DataSet Job"


class ExecutionEnvironment:
    """The entry point of programs over bounded data: creates sources, holds settings and runs jobs in BATCH mode.

    Args:
        configuration: Initial settings.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._config = Configuration() if configuration is None else configuration
        self._nodes = 0
        self._collects = 0
        self._sinks: list[Node] = []

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> ExecutionEnvironment:
        """Return a new environment with the settings of the command line and these, which win."""
        return ExecutionEnvironment(StreamExecutionEnvironment.get_execution_environment(configuration)._config)

    def set_parallelism(self, parallelism: int) -> ExecutionEnvironment:
        """Set the default parallelism of operations."""
        self._config.set(options.PARALLELISM_DEFAULT, require_count(parallelism, "parallelism"))
        return self

    def get_parallelism(self) -> int:
        """Return the default parallelism of operations."""
        return default_parallelism(self._config)

    # Sources.

    def from_collection(self, collection: Iterable[Any], type_info: TypeInformation | None = None) -> DataSet[Any]:
        """Return the elements of a collection, which travel with the program."""
        source, declared = collection_source(collection, type_info)
        return self._source(source, "Collection", declared).set_parallelism(1)

    def from_elements(self, *elements: Any) -> DataSet[Any]:
        """Return the arguments."""
        return self.from_collection(elements)

    def generate_sequence(self, start: int, end: int) -> DataSet[int]:
        """Return the integers from ``start`` to ``end``, inclusive."""
        return self._source(NumberSequenceSource(start, end), "Sequence", Types.LONG())

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataSet[str]:
        """Return the lines of a file, or of all files of a directory."""
        require_instance(file_path, str, "the path of a file", "give a text")
        source = FileSource.for_record_stream_format(TextLineFormat(charset_name), file_path).build()
        return self._source(source, f"Text {file_path}", Types.STRING())

    def read_csv(
        self,
        file_path: str,
        types: Sequence[TypeInformation],
        names: Sequence[str] | None = None,
        *,
        field_delimiter: str = ",",
        ignore_first_line: bool = False,
        ignore_invalid_lines: bool = False,
    ) -> DataSet[Any]:
        """Return the lines of CSV files as tuples, or as rows if ``names`` are given.

        Args:
            file_path: A file, or a directory whose files are all read.
            types: The types of the columns.
            names: Their names.
            field_delimiter: Delimiter of columns.
            ignore_first_line: Skip the first line of files.
            ignore_invalid_lines: Skip lines that do not match the types, instead of failing the job.
        """
        if names is not None and len(names) != len(types):
            raise program_error(f"read_csv() got {len(names)} names for {len(types)} types", "give a name per column")
        builder = CsvSchema.builder().set_column_separator(field_delimiter).set_skip_first_data_row(ignore_first_line)
        for name, kind in zip(names or [f"f{i}" for i in range(len(types))], types, strict=True):
            builder.add_column(name, kind)
        csv_format = CsvReaderFormat.for_schema(builder.build(), ignore_invalid_lines)
        source = FileSource.for_record_stream_format(csv_format, file_path).build()
        rows = self._source(source, f"CSV {file_path}", csv_format.produced_type)
        return rows if names is not None else rows.map(to_tuple, Types.TUPLE(list(types)))

    def from_source(self, source: Source[Any], name: str = "Source", type_info: TypeInformation | None = None) -> DataSet[Any]:
        """Return the records of a bounded source."""
        require_built(source, Source, "from_source()")
        if source.boundedness is not Boundedness.BOUNDED:
            raise program_error("from_source() got a source that never ends", "use a bounded one, or a DataStream program")
        return self._source(source, name, require_type(type_info or source.produced_type, "from_source()"))

    def _source(self, source: Source[Any], name: str, output_type: TypeInformation) -> DataSet[Any]:
        return DataSet(self, self._node("source", name, (), output_type, params={"source": source}))

    def _node(self, kind: str, name: str, inputs: tuple[Node, ...], output_type: TypeInformation, **attributes: Any) -> Node:
        self._nodes += 1
        return Node(self._nodes, kind, name, inputs, output_type, user_location(), **attributes)

    # Running.

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run all sinks added since the last call and wait for the end.

        Raises:
            JobExecutionError: If the job failed.
            ProgramError: If there is no sink.
        """
        sinks = self._require_sinks()
        client = self._start(sinks, job_name)
        self._sinks.clear()
        return _execution.wait(client)

    def explain(self) -> str:
        """Return the plan of the sinks with estimates and reasons, without execution."""
        return self._explain(self._require_sinks())

    def get_execution_plan(self) -> str:
        """Return the optimised plan of the sinks as JSON, in Flink's form, without execution."""
        return plan_json(self._planned(self._require_sinks()))

    def _require_sinks(self) -> list[Node]:
        if not self._sinks:
            raise program_error(
                "no sinks were added since the last execute(), so there is nothing to run",
                "add one, e.g. data.write_text(path); collect(), count() and print() run by themselves",
            )
        return list(self._sinks)

    def _planned(self, ends: Sequence[Node]) -> dict[int, PlannedNode]:
        return optimize(ends, self.get_parallelism(), managed_memory_bytes(self._config))

    def _explain(self, ends: Sequence[Node]) -> str:
        return plan_text(self._planned(ends), managed_memory_bytes(self._config))

    def _start(self, sinks: Sequence[Node], job_name: str | None) -> Any:
        settings = Configuration(self._config)
        # Bounded data is not part of checkpoints.
        settings.remove_config(options.CHECKPOINT_INTERVAL.key)
        plan = self._planned(sinks)
        # The rounds of an iteration need all of its operators concurrently.
        loops = any(planned.head is not None for planned in plan.values())
        mode = RuntimeExecutionMode.STREAMING if loops else RuntimeExecutionMode.BATCH
        streams = StreamExecutionEnvironment(settings).set_runtime_mode(mode)
        translation = Translation(streams, plan)
        graph = streams._graph_of([translation.operator(sink.id) for sink in sinks], job_name or self._job_name())
        return _execution.start(graph, settings)

    def _job_name(self) -> str:
        return self._config.get(options.PIPELINE_NAME) or _JOB_NAME

    def _collect(self, node: Node) -> list[Any]:
        self._collects += 1
        receiver = CollectReceiver(CollectDelivery.NO_RESTART)
        sink = CollectSink(f"dataset-{self._collects}", receiver)
        end = self._node("sink", "Collect", (node,), node.output_type, params={"sink": sink}, parallelism=1)
        with CloseableIterator(self._start([end], None), receiver) as results:
            return list(results)
