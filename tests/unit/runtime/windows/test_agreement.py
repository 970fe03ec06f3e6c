"""The fast and the general operators against each other and against a plain recomputation, on random streams."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.harness import Record, Side
from tests.unit.runtime.windows.support import Values, aggregating, processing, reducing, state_size, windows
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.spi.functions import ProcessWindowFunction
from wiesel.spi.windows import CountTrigger, EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield (key, window.start, window.end, sorted(e[2] for e in elements))


class Merged(ProcessWindowFunction):
    """For incremental contents: the one element holds all."""

    def process(self, key, context, elements):
        window = context.window()
        (element,) = elements
        yield (key, window.start, window.end, sorted(element[2] if isinstance(element, tuple) else element))


def joined(a, b):
    return (a[0], a[1], a[2] + b[2])


KINDS = {
    "list": (processing(Contents()), lambda n: n),
    "aggregate": ({**aggregating(Values()), **processing(Merged())}, lambda n: n),
    "reduce": ({**reducing(joined), **processing(Merged())}, lambda n: (n,)),
}

# Steps of a stream: a batch of (key, timestamp), or how far the watermark advances.
BATCHES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(-15, 60)), min_size=1, max_size=8)
STEPS = st.lists(st.one_of(BATCHES, st.integers(1, 25)), max_size=12)


def numbered(steps):
    """Give each record of the stream a number, by which it can be told apart."""
    number = 0
    for step in steps:
        if isinstance(step, list):
            yield [(key, t, number + i) for i, (key, t) in enumerate(step)]
            number += len(step)
        else:
            yield step


def run(harness, steps, wrap):
    """Return what comes out in each step, in any order within it, and how many records were dropped."""
    outputs, watermark = [], -20
    for step in [*numbered(steps), None]:
        if step is None:
            harness.end_input()
        elif isinstance(step, list):
            harness.push([(k, t, wrap(n)) for k, t, n in step], [t for _, t, _ in step])
        else:
            watermark += step
            harness.watermark(watermark)
        events = harness.take()
        results = [(e.value, e.timestamp) for e in events if isinstance(e, Record)]
        aside = [(e.value[2], e.timestamp) for e in events if isinstance(e, Side)]
        outputs.append((sorted(results), sorted(aside)))
    return outputs, harness.metrics.value("numLateRecordsDropped"), state_size(harness)


def recomputed(steps, assign, merge, lateness, wrap, tagged):
    """What the contract of windows says, over plain lists."""
    open_windows = defaultdict(list)  # key -> [(start, end, numbers)]
    outputs, watermark, dropped = [], -(2**63), 0
    now = -20
    for step in [*numbered(steps), None]:
        results, aside = [], []
        if isinstance(step, list):
            for key, t, n in step:
                skipped = True
                for start, end in assign(t):
                    own = [w for w in open_windows[key] if (w[0] <= end and w[1] >= start if merge else w[:2] == (start, end))]
                    whole = (min([start, *(w[0] for w in own)]), max([end, *(w[1] for w in own)]))
                    if whole[1] - 1 + lateness <= watermark:
                        continue
                    skipped = False
                    for w in own:
                        open_windows[key].remove(w)
                    window = (*whole, sorted([n, *(m for w in own for m in w[2])]))
                    open_windows[key].append(window)
                    if window[1] - 1 <= watermark:
                        results.append(((key, *window[:2], list(window[2])), t))
                if skipped and t + lateness <= watermark:
                    if tagged:
                        aside.append((wrap(n), t))
                    else:
                        dropped += 1
        else:
            now = MAX_TIMESTAMP if step is None else now + step
            for key in open_windows:
                results += [((key, s, e, list(ns)), e - 1) for s, e, ns in open_windows[key] if watermark < e - 1 <= now]
                open_windows[key] = [w for w in open_windows[key] if w[1] - 1 + lateness > now]
            watermark = now
        outputs.append((sorted(results), sorted(aside)))
    return outputs, dropped, 0


def check(steps, assigner, assign, merge, lateness, kind, tagged):
    given_kind, wrap = KINDS[kind]
    options = {"allowed_lateness_ms": lateness, "late_tag": "late" if tagged else None, **given_kind}
    expected = recomputed(steps, assign, merge, lateness, wrap, tagged)
    assert run(windows(assigner, "general", **options), steps, wrap) == expected
    assert run(windows(assigner, "chosen", **options), steps, wrap) == expected


def starts(t, size, slide, offset):
    return [(s, s + size) for s in range(t - size, t + 1) if (s - offset) % slide == 0 and s <= t < s + size]


LATENESS = st.sampled_from([0, 0, 7, 30])
KIND = st.sampled_from(list(KINDS))


@settings(max_examples=150, deadline=None, print_blob=True)
@given(STEPS, st.integers(1, 20), st.data(), LATENESS, KIND, st.booleans())
def test_tumbling_windows(steps, size, data, lateness, kind, tagged):
    offset = data.draw(st.integers(-size + 1, size - 1))
    check(steps, TumblingEventTimeWindows(size, offset), lambda t: starts(t, size, size, offset), False, lateness, kind, tagged)


@settings(max_examples=150, deadline=None, print_blob=True)
@given(STEPS, st.integers(1, 8), st.integers(1, 4), st.integers(0, 2), st.data(), LATENESS, KIND, st.booleans())
def test_sliding_windows(steps, slide, times, more, data, lateness, kind, tagged):
    # With ``more`` the size is no multiple of the slide, as a rule, which goes the general way.
    size = slide * times + more
    offset = data.draw(st.integers(-slide + 1, slide - 1))
    check(steps, SlidingEventTimeWindows(size, slide, offset), lambda t: starts(t, size, slide, offset), False, lateness, kind, tagged)


@settings(max_examples=200, deadline=None, print_blob=True)
@given(STEPS, st.integers(1, 20), LATENESS, KIND, st.booleans())
def test_session_windows(steps, gap, lateness, kind, tagged):
    check(steps, EventTimeSessionWindows.with_gap(gap), lambda t: [(t, t + gap)], True, lateness, kind, tagged)


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_recomputation_tells_windows_apart(kind):
    # That the comparison above can fail: a window of another size gives another result.
    steps = [[("a", 1), ("a", 12)], 50]
    wrap = KINDS[kind][1]
    right = recomputed(steps, lambda t: starts(t, 10, 10, 0), False, 0, wrap, False)
    assert right != run(windows(TumblingEventTimeWindows.of(20), **KINDS[kind][0]), steps, wrap)


@pytest.mark.parametrize(
    ("assigner", "options", "expected"),
    [
        (TumblingEventTimeWindows.of(10), {}, "EventTimeWindowOperator"),
        (SlidingEventTimeWindows.of(10, 5), {"allowed_lateness_ms": 3}, "EventTimeWindowOperator"),
        (SlidingEventTimeWindows.of(10, 4), {}, "WindowOperator"),
        (EventTimeSessionWindows.with_gap(10), {}, "SessionWindowOperator"),
        (TumblingEventTimeWindows.of(10), {"trigger": CountTrigger.of(2)}, "WindowOperator"),
        (EventTimeSessionWindows.with_gap(10), {"trigger": CountTrigger.of(2)}, "WindowOperator"),
    ],
)
def test_which_operator_runs_what(assigner, options, expected):
    assert type(windows(assigner, **processing(), **options).operator).__name__ == expected
