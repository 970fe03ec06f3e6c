"""Internal. ``CachedDataStream``: a stream whose records are cached for later jobs of the same environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from wiesel.connectors.stream_cache import CacheFile, CacheSink, CacheSource, StreamCache
from wiesel.core.errors import ProgramError
from wiesel.core.user_location import program_error, user_location
from wiesel.datastream._stream import DataStream
from wiesel.graph.specs import OperatorSpec
from wiesel.graph.transformations import CacheTransformation, OperatorTransformation, all_before
from wiesel.spi.watermark import WatermarkStrategy
from wiesel.types.record_type import T

if TYPE_CHECKING:
    from wiesel.datastream.slot_sharing_group import SlotSharingGroup
    from wiesel.datastream.state_backend import StateBackend
    from wiesel.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["CachedDataStream", "StreamCaches", "cache_of"]


class StreamCaches:
    """The caches of an environment: determines before each job which are written by it, and which are read."""

    def __init__(self, environment: StreamExecutionEnvironment) -> None:
        self._environment = environment
        self._known: list[tuple[CacheTransformation, StreamCache, OperatorTransformation]] = []

    def add(self, transformation: CacheTransformation, cache: StreamCache) -> None:
        """Add a new cache."""
        computed = transformation.input
        spec = OperatorSpec("sink", payload={"sink": CacheSink(cache), "input_type": computed.output_type})
        writer = self._environment._new_operator("Cache", spec, (computed,), computed.output_type, "{}: Writer")
        writer.node.is_sink = True
        self._known.append((transformation, cache, writer))

    def look(self) -> None:
        """Let jobs read the complete caches."""
        for transformation, cache, _ in self._known:
            files = cache.files()
            if not files:
                transformation.reader = None
            elif transformation.reader is None or transformation.reader.node.operator.payload["source"].files != files:
                transformation.reader = self._reader(transformation, files)

    def _reader(self, transformation: CacheTransformation, files: tuple[CacheFile, ...]) -> OperatorTransformation:
        payload = {"source": CacheSource(files), "watermark_strategy": WatermarkStrategy.no_watermarks(), "output_type": None}
        name, spec = f"Cache of {transformation.input.node.name}", OperatorSpec("source", payload=payload)
        reader = self._environment._new_operator(name, spec, (), transformation.output_type, "Source: {}")
        reader.node.is_source = reader.node.bounded = True
        reader.node.parallelism, reader.node.parallelism_set = len(files), True
        return reader

    def writers(self, operators: Iterable[OperatorTransformation]) -> list[OperatorTransformation]:
        """Return the sinks of the caches that a job of these operators computes."""
        reachable = {id(operator) for operator in all_before(operators)}
        found = []
        for transformation, cache, writer in self._known:
            if transformation.reader is None and id(transformation.input) in reachable:
                cache.prepare()
                writer.node.parallelism = transformation.input.node.parallelism
                writer.node.slot_sharing_group = transformation.input.node.slot_sharing_group
                found.append(writer)
        return found

    def clear(self) -> None:
        """Drop the records of all caches."""
        for _, cache, _ in self._known:
            cache.invalidate()


class CachedDataStream(DataStream[T]):
    """A stream whose records are cached by the first job that computes them, and read by later jobs of this environment.

    It is not an operator, so it has no name, uid or parallelism.
    """

    def __init__(self, environment: StreamExecutionEnvironment, transformation: CacheTransformation, cache: StreamCache) -> None:
        super().__init__(environment, transformation)
        self._cache = cache

    def invalidate(self) -> None:
        """Drop the cached records; the next job that needs them computes and caches them again."""
        self._cache.invalidate()

    def _no_operator(self, setting: str) -> ProgramError:
        return program_error(f"{setting} is not supported for a CachedDataStream", "call it on the stream before cache()")

    def _refuse(self, setting: str) -> NoReturn:
        raise self._no_operator(setting)

    def get_name(self) -> str:
        """Raise, as a cached stream is not an operator."""
        self._refuse("get_name()")

    def name(self, name: str) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("name()")

    def uid(self, uid: str) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("uid()")

    def set_uid_hash(self, uid_hash: str) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("set_uid_hash()")

    def set_parallelism(self, parallelism: int) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("set_parallelism()")

    def set_max_parallelism(self, max_parallelism: int) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("set_max_parallelism()")

    def set_state_backend(self, state_backend: StateBackend | str) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("set_state_backend()")

    def force_non_parallel(self) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("force_non_parallel()")

    def set_buffer_timeout(self, timeout_millis: int) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("set_buffer_timeout()")

    def start_new_chain(self) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("start_new_chain()")

    def disable_chaining(self) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("disable_chaining()")

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> NoReturn:
        """Raise, as a cached stream is not an operator."""
        self._refuse("slot_sharing_group()")


def cache_of(stream: DataStream[T]) -> CachedDataStream[T]:
    """See ``DataStream.cache``."""
    computed = stream._transformation
    if not isinstance(computed, OperatorTransformation):
        raise program_error(
            "cache() keeps what an operator puts out, but here a partitioning or union of streams was made, which is none",
            "call it on the stream that an operator such as map() returned",
        )
    environment = stream.get_execution_environment()
    cache = StreamCache()
    transformation = CacheTransformation(computed.output_type, user_location(), computed)
    environment._stream_caches.add(transformation, cache)
    return CachedDataStream(environment, transformation, cache)
