"""Files: the names of ``pyflink.datastream.connectors.file_system``."""

from wiesel.core.lazy_names import lazy_names

_MODULES = {
    "wiesel.spi.file_formats": ("BulkFormat", "BulkWriter", "BulkWriterFactory", "FilePiece", "RecordReader", "StreamFormat"),
    "wiesel.connectors.file_source": ("FileSource", "FileSourceBuilder"),
    "wiesel.connectors.file_enumeration": ("FileEnumeratorProvider", "FileSplitAssignerProvider"),
    "wiesel.connectors.file_sink": ("FileSink", "StreamingFileSink"),
    "wiesel.connectors.file_buckets": ("BucketAssigner", "BucketContext"),
    "wiesel.connectors.file_rolling": (
        "DefaultRollingPolicy",
        "OnCheckpointRollingPolicy",
        "OutputFileConfig",
        "PartFileInfo",
        "RollingPolicy",
    ),
    "wiesel.connectors.file_compaction": ("FileCompactStrategy", "FileCompactor"),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, {name: module for module, names in _MODULES.items() for name in names})
