"""Streams: the names of ``pyflink.datastream.data_stream``."""

from wiesel.datastream._cached_stream import CachedDataStream
from wiesel.datastream._stream import DataStream
from wiesel.datastream.broadcast_streams import BroadcastConnectedStream, BroadcastStream
from wiesel.datastream.closeable_iterator import CloseableIterator
from wiesel.datastream.connected_streams import ConnectedStreams
from wiesel.datastream.data_stream_sink import DataStreamSink
from wiesel.datastream.iterative_streams import ConnectedIterativeStreams, IterativeStream
from wiesel.datastream.joined_streams import CoGroupedStreams, IntervalJoin, JoinedStreams
from wiesel.datastream.keyed_stream import KeyedStream
from wiesel.datastream.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "CoGroupedStreams",
    "ConnectedIterativeStreams",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "IntervalJoin",
    "IterativeStream",
    "JoinedStreams",
    "KeyedStream",
    "WindowedStream",
]
