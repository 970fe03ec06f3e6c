"""Names of side outputs."""

from __future__ import annotations

from typing import Any

from wiesel.types.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TypeInformation

__all__ = ["OutputTag", "output_tags_exist"]


class OutputTag:
    """The name and record type of a side output.

    A process function sends a record there by yielding the pair ``(tag, value)``.

    Args:
        tag_id: The name; tags of one name denote the same side output.
        type_info: The type of the records. None: any Python object; a list of types: a row of them.

    Raises:
        ValueError: If the name is empty.
        TypeError: If ``type_info`` is of another type.
    """

    tag_id: str
    type_info: TypeInformation

    def __new__(cls, *args: Any, **kwargs: Any) -> OutputTag:
        # Every instantiation (calls, pickle, copy) passes here, so this shows whether any result can be tagged at all.
        global _made
        _made = True
        return super().__new__(cls)

    def __init__(self, tag_id: str, type_info: TypeInformation | list[TypeInformation] | None = None) -> None:
        if not tag_id:
            raise ValueError("OutputTag tag_id cannot be None or empty string")
        if type_info is None:
            type_info = PickledBytesTypeInfo()
        elif isinstance(type_info, list):
            type_info = RowTypeInfo(type_info)
        elif not isinstance(type_info, TypeInformation):
            raise TypeError("OutputTag type_info must be None, list or TypeInformation")
        self.tag_id = tag_id
        self.type_info = type_info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and self.tag_id == other.tag_id

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r}, {self.type_info})"


_made = False


def output_tags_exist() -> bool:
    """Return whether this process has ever created an output tag; if not, results need no check for tags."""
    return _made
