"""Internal. Execution of after-match skip strategies: matches in the order of their beginnings, each discarding others."""

from __future__ import annotations

from wiesel.cep.partial_matches import COUNTER, Group, Turn
from wiesel.cep.skip import AfterMatchSkipStrategy
from wiesel.core.errors import UserFunctionError

__all__ = ["Skipper"]


class Skipper:
    """Emits complete matches as soon as no earlier run is left."""

    def __init__(self, strategy: AfterMatchSkipStrategy, stages: tuple[str, ...]) -> None:
        self._strategy = strategy
        self._stage = stages.index(strategy.pattern_name) if strategy.pattern_name in stages else None

    def release(self, turn: Turn) -> list[int]:
        """Return the nodes of the due matches, and record the outcome of all groups."""
        groups = {start: group for start, group in turn.before.items() if start != COUNTER}
        groups.update({start: group for start, group in turn.changed.items() if group is not None})
        for start in [s for s, group in turn.changed.items() if group is None]:
            groups.pop(start, None)
        if not any(group[2] for group in groups.values()):
            return []
        released: list[int] = []
        order = sorted(groups)
        position = 0
        while position < len(order):
            start = order[position]
            group = groups.get(start)
            if group is None or not group[2]:
                if group is not None and group[1]:
                    break  # an earlier match is still possible
                position += 1
                continue
            node = group[2][0]
            self._set(turn, groups, start, (group[0], group[1], group[2][1:]))
            turn.refer(node, -1)
            released.append(node)
            self._skip(turn, groups, order, position, node)
        return released

    def _set(self, turn: Turn, groups: dict[int, Group], start: int, group: Group) -> None:
        turn.changed[start] = groups[start] = group
        if not group[1] and not group[2]:
            turn.changed[start] = None
            del groups[start]

    def _skip(self, turn: Turn, groups: dict[int, Group], order: list[int], position: int, node: int) -> None:
        limit = self._limit(turn.path(node))
        if limit is None:
            return
        for start in order[position:]:
            if start >= limit:
                break
            group = groups.get(start)
            if group is not None:
                for run in group[1]:
                    turn.refer(run[1], -1)
                for complete in group[2]:
                    turn.refer(complete, -1)
                self._set(turn, groups, start, (group[0], (), ()))

    def _limit(self, path: list[tuple[int, int]]) -> int | None:
        """Return the number of the event before which all partial matches are discarded; None for none."""
        strategy = self._strategy
        first = path[0][1]
        if strategy.kind == "skip_to_next":
            return first + 1
        if strategy.kind == "skip_past_last_event":
            return path[-1][1] + 1
        events = [number for stage, number in path if stage == self._stage]
        if not events:
            if strategy.throws_on_miss:
                raise UserFunctionError(
                    f"a match has no event of the pattern {strategy.pattern_name!r}, to which the skip strategy skips",
                    hint="skip to a pattern that is not optional, or leave throw_exception_on_miss() out",
                )
            return None
        limit = events[0] if strategy.kind == "skip_to_first" else events[-1]
        if strategy.throws_on_miss and limit == first:
            raise UserFunctionError(
                f"a match begins with the event of the pattern {strategy.pattern_name!r}, to which the skip strategy skips: the same "
                "match would be found again",
                hint="skip to a later pattern, or leave throw_exception_on_miss() out",
            )
        return limit
