"""Sources and sinks: the names of ``pyflink.datastream.connectors``."""

from wiesel.core.lazy_names import lazy_names
from wiesel.datastream.connectors.base import DeliveryGuarantee, Sink, Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]

_FILES = (
    "BucketAssigner",
    "BulkFormat",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
)

_OTHER_SYSTEMS = {
    "Kafka": (
        *("DynamicKafkaSource", "DynamicKafkaSourceBuilder", "FlinkKafkaConsumer", "FlinkKafkaProducer", "KafkaMetadataService"),
        *("KafkaRecordDeserializationSchema", "KafkaSource", "KafkaStreamSetSubscriber", "KafkaStreamSubscriber", "Semantic"),
        *("SingleClusterTopicMetadataService", "StreamPatternSubscriber"),
    ),
    "JDBC": ("JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"),
    "Pulsar": ("PulsarSource", "PulsarSourceBuilder", "StartCursor", "StopCursor"),
    "RabbitMQ": ("RMQConnectionConfig", "RMQSink", "RMQSource"),
}
_WAY_OUT = "there is no connector for {}: write a source or sink against wiesel.spi, or read and write files (file_system)"

# PyFlink has these names here too; each connector is imported lazily.
__getattr__, __dir__, _loaded_later = lazy_names(
    __name__,
    {
        "NumberSequenceSource": "wiesel.datastream.connectors.number_seq",
        "DataGeneratorSource": "wiesel.datastream.connectors.datagen",
        **dict.fromkeys(_FILES, "wiesel.datastream.connectors.file_system"),
    },
    {name: _WAY_OUT.format(system) for system, names in _OTHER_SYSTEMS.items() for name in names},
)
__all__ += _loaded_later
