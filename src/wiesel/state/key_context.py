"""Internal. The current key of keyed state."""

from __future__ import annotations

from typing import Any, NoReturn

from wiesel.core.errors import StateAccessError

__all__ = ["NO_KEY", "KeyContext"]


class _NoKey:
    """Marks that there is no current key. It refuses to be hashed, so state needs no separate check to refuse access."""

    __slots__ = ()

    def __hash__(self) -> NoReturn:
        raise StateAccessError(
            "keyed state was accessed where there is no current key",
            hint="use keyed state after key_by, in process_element, on_timer and the like; not in open() or close(), "
            "and in process_broadcast_element through ctx.apply_to_keyed_state(...)",
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return "NO_KEY"

    def __reduce__(self) -> str:
        return "NO_KEY"


NO_KEY: Any = _NoKey()


class KeyContext:
    """Holds the current key of an operator. The operator sets ``key`` before it calls user code; state handles read it.

    Set it back to ``NO_KEY`` after a batch, so that access outside of records and timers is refused.
    """

    __slots__ = ("key",)

    def __init__(self) -> None:
        self.key: Any = NO_KEY
