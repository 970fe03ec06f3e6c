"""Files: the names of ``pyflink.datastream.connectors.file_system``."""

from wiesel.core.lazy_names import lazy_names

_MODULES = {
    "wiesel.spi.file_formats": ("BulkFormat", "BulkWriter", "BulkWriterFactory", "FilePiece", "RecordReader", "StreamFormat"),
    "wiesel.connectors.filesystem.source": ("FileSource", "FileSourceBuilder"),
    "wiesel.connectors.filesystem.enumeration": ("FileEnumeratorProvider", "FileSplitAssignerProvider"),
    "wiesel.connectors.filesystem.sink": ("FileSink", "StreamingFileSink"),
    "wiesel.connectors.filesystem.buckets": ("BucketAssigner", "BucketContext"),
    "wiesel.connectors.filesystem.rolling": (
        "DefaultRollingPolicy",
        "OnCheckpointRollingPolicy",
        "OutputFileConfig",
        "PartFileInfo",
        "RollingPolicy",
    ),
    "wiesel.connectors.filesystem.compaction": ("FileCompactStrategy", "FileCompactor"),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, {name: module for module, names in _MODULES.items() for name in names})
