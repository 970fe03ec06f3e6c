"""Side outputs: one pass over the lines of a web log sorts them into pages served, slow answers, and lines that are none.

What comes out of a side output is a stream like any other: here the slow answers are counted per page.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiesel.common import Types
from wiesel.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

LINES = [
    "GET /index.html 200 12",
    "GET /search?q=tea 200 840",
    "GET /index.html 304 3",
    "POST /order 500 95",
    "GET /search?q=cake 200 1310",
    "GET /index.html",
    "GET /order 200 61",
    "-- log rotated --",
    "GET /report 200 5200",
]
SLOW_MS = 500

PAGE = Types.TUPLE([Types.STRING(), Types.INT()])
SLOW = OutputTag("slow", PAGE)
UNREADABLE = OutputTag("unreadable", Types.STRING())


class Sort(ProcessFunction):
    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[tuple[str, int] | tuple[OutputTag, object]]:
        parts = value.split()
        if len(parts) != 4 or not (parts[2].isdigit() and parts[3].isdigit()):
            yield UNREADABLE, value
            return
        page, status, milliseconds = parts[1].partition("?")[0], int(parts[2]), int(parts[3])
        if milliseconds >= SLOW_MS:
            yield SLOW, (page, 1)
        yield page, status


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    pages = env.from_collection(LINES, Types.STRING()).process(Sort(), PAGE)
    failed = pages.filter(lambda page: page[1] >= 400).map(lambda page: f"{page[0]} failed with {page[1]}", Types.STRING())
    slow = pages.get_side_output(SLOW).key_by(lambda page: page[0], Types.STRING()).sum(1)
    slow_pages = slow.map(lambda page: f"{page[0]} was slow {page[1]} times so far", Types.STRING())
    unreadable = pages.get_side_output(UNREADABLE).map(lambda line: f"not understood: {line}", Types.STRING())
    failed.union(slow_pages, unreadable).print()
    env.execute("web log")


if __name__ == "__main__":
    main()
