"""A bounded source of the elements of a collection, shipped with the program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import cloudpickle

from wiesel.connectors.split_list import SplitList
from wiesel.core import code_pickling
from wiesel.core.argument_checks import describe
from wiesel.core.errors import ArgumentTypeError, ProgramError, SerializationError, TypeMismatchError
from wiesel.core.user_location import program_error, user_location
from wiesel.spi.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from wiesel.types.checks import check_all
from wiesel.types.collected import from_collection_converter
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["CollectionSource", "CollectionSplit", "collection_source"]

_CHUNK = 1000
"""Elements pickled together, and emitted by one poll."""


@dataclass(frozen=True)
class CollectionSplit:
    """Elements ``start`` to ``end`` (exclusive); those before ``position`` have been read."""

    start: int
    end: int
    position: int

    @property
    def split_id(self) -> str:
        """Return the split's name."""
        return f"collection-{self.start}-{self.end}"


class CollectionSource(Source[CollectionSplit]):
    """Reads the elements in order; with several readers each reads a range of them.

    The elements are checked and pickled immediately: later changes of the collection have no effect, and errors of elements are raised
    where the source is created.

    Args:
        elements: The elements.
        type_info: Their declared type; any picklable objects if it is None.

    Raises:
        TypeMismatchError: If an element does not have the declared type; names its index and the place in it.
        SerializationError: If an element cannot be pickled; names its index.
    """

    def __init__(self, elements: Sequence[Any], type_info: TypeInformation | None = None) -> None:
        if type_info is not None:
            elements = _conform(elements, type_info)
        self._type_info = type_info
        self._count = len(elements)
        self._chunks = [_pickled(elements[i : i + _CHUNK], i) for i in range(0, self._count, _CHUNK)]

    @property
    def boundedness(self) -> Boundedness:
        """Return BOUNDED."""
        return Boundedness.BOUNDED

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the declared type."""
        return self._type_info

    def create_enumerator(
        self, context: SplitEnumeratorContext[CollectionSplit], state: Any | None = None
    ) -> SplitEnumerator[CollectionSplit]:
        """Create the enumerator: one split per reader, along the bounds of chunks."""
        return _CollectionEnumerator(context, self._splits(context.parallelism) if state is None else list(state))

    def _splits(self, parallelism: int) -> list[CollectionSplit]:
        chunks = len(self._chunks)
        bounds = [min(_CHUNK * (chunks * i // parallelism), self._count) for i in range(parallelism)] + [self._count]
        return [CollectionSplit(a, b, a) for a, b in pairwise(bounds) if a < b]

    def create_reader(self, context: SourceReaderContext) -> SourceReader[CollectionSplit]:
        """Create the reader of one subtask."""
        return _CollectionReader(context, self._chunks)


def _conform(elements: Sequence[Any], type_info: TypeInformation) -> list[Any]:
    """Convert the elements to the declared type."""
    convert = from_collection_converter(type_info)
    if convert is not None:
        elements = list(map(convert, elements))
    check_all(type_info, elements, "element")
    coerce = type_info.compile_coercer()
    if coerce is None:
        return list(elements)
    result: list[Any] = []
    try:
        result.extend(map(coerce, elements))
    except TypeMismatchError as error:
        raise TypeMismatchError(f"element {len(result)}: {error.message}", hint=error.hint, element=len(result)) from error
    return result


def _pickled(chunk: Sequence[Any], first: int) -> bytes:
    try:
        # cloudpickle, because a class of the elements may be defined in the program's main module.
        return code_pickling.dumps(list(chunk))
    except Exception as error:
        if len(chunk) == 1:
            raise SerializationError(
                f"element {first} of the collection cannot be sent to the workers: {error}",
                hint="use elements of plain values, or make their class picklable",
                element=first,
            ) from error
    # One of several cannot be pickled: identify it.
    for offset, element in enumerate(chunk):
        _pickled([element], first + offset)
    raise SerializationError(
        f"elements {first} to {first + len(chunk) - 1} of the collection can only be pickled one by one",
        hint="use elements of plain values",
    )


class _CollectionEnumerator(SplitEnumerator[CollectionSplit]):
    def __init__(self, context: SplitEnumeratorContext[CollectionSplit], splits: list[CollectionSplit]) -> None:
        self._context = context
        self._splits = splits

    def add_reader(self, subtask: int) -> None:
        # Readers send requests when they are idle.
        return

    def handle_split_request(self, subtask: int) -> None:
        if self._splits:
            self._context.assign_splits({subtask: [self._splits.pop(0)]})
        else:
            self._context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return list(self._splits)


class _CollectionReader(SourceReader[CollectionSplit]):
    def __init__(self, context: SourceReaderContext, chunks: list[bytes]) -> None:
        self._context = context
        self._chunks = chunks
        self._splits: SplitList[CollectionSplit] = SplitList()
        self._no_more = False
        self._loaded: tuple[int, list[Any]] | None = None

    def start(self) -> None:
        if not self._splits:
            self._context.request_split()

    def _chunk(self, index: int) -> list[Any]:
        if self._loaded is None or self._loaded[0] != index:
            self._loaded = (index, cloudpickle.loads(self._chunks[index]))
        return self._loaded[1]

    def poll(self, output: ReaderOutput) -> InputStatus:
        if not self._splits:
            return InputStatus.END_OF_INPUT if self._no_more else InputStatus.NOTHING_AVAILABLE
        split = self._splits.take()
        if split is None:
            return InputStatus.NOTHING_AVAILABLE
        index, offset = divmod(split.position, _CHUNK)
        position = min((index + 1) * _CHUNK, split.end, split.position + output.wanted)
        output.collect(self._chunk(index)[offset : position - index * _CHUNK], None, split.split_id)
        if position < split.end:
            self._splits.put_back(replace(split, position=position))
            return InputStatus.MORE_AVAILABLE
        output.split_finished(split.split_id)
        if not self._splits:
            self._context.request_split()
        return InputStatus.MORE_AVAILABLE if self._splits.readable else InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Sequence[CollectionSplit]) -> None:
        self._splits.add(splits)

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        self._splits.pause_or_resume(to_pause, to_resume)

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def snapshot_state(self, checkpoint_id: int) -> list[CollectionSplit]:
        return self._splits.all()


def collection_source(collection: Iterable[Any], type_info: TypeInformation | None) -> tuple[CollectionSource, TypeInformation]:
    """Return the source of a collection and the type of its elements.

    Raises:
        ProgramError: It is no collection.
        TypeMismatchError: An element does not have the declared type.
        SerializationError: An element cannot be pickled.
    """
    if isinstance(collection, (str, bytes)) or not isinstance(collection, Iterable):
        raise program_error(
            f"from_collection() needs a list, got {describe(collection)}", "write from_collection([...])", ArgumentTypeError
        )
    declared = require_type(type_info, "from_collection()")
    try:
        return CollectionSource(list(collection), None if type_info is None else declared), declared
    except ProgramError as error:
        raise type(error)(f"{error.message} (at {user_location()})", hint=error.hint, **error.details) from error
