"""Internal. The description of a source: plain data that creates the enumerator and the readers."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import Any, Generic

from wiesel.spi.source.enumerator import SplitEnumerator, SplitEnumeratorContext
from wiesel.spi.source.reader import SourceReader, SourceReaderContext
from wiesel.spi.source.split import SplitT
from wiesel.types.typeinfo import TypeInformation

__all__ = ["Boundedness", "Source"]


class Boundedness(enum.Enum):
    """Boundedness of a source."""

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


class Source(ABC, Generic[SplitT]):
    """A source of records. Plain picklable data; see :mod:`wiesel.spi.source` for the roles."""

    @property
    @abstractmethod
    def boundedness(self) -> Boundedness:
        """Return whether the source ends by itself."""

    @abstractmethod
    def create_enumerator(self, context: SplitEnumeratorContext[SplitT], state: Any | None = None) -> SplitEnumerator[SplitT]:
        """Make the enumerator; ``state`` is what ``snapshot_state`` returned, or None at the first start.

        At the first start the program waits for it, and its errors are the program's; after a failure it runs in a thread of the
        source's own. The context is there for the enumerator's methods, :meth:`SplitEnumerator.start` before all others.
        """

    @abstractmethod
    def create_reader(self, context: SourceReaderContext) -> SourceReader[SplitT]:
        """Make the reader of one subtask."""

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the records if the source declares one."""
        return None
