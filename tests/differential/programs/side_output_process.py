"""Side outputs of a ProcessFunction: several tags, typed and pickled, read more than once, and a tag nobody reads."""

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction

EVEN = OutputTag("even", Types.INT())
NAMES = OutputTag("names", Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()]))
PICKLED = OutputTag("pickled")
UNREAD = OutputTag("unread", Types.STRING())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        from pyflink.common import Row

        yield value
        if value % 2 == 0:
            yield EVEN, value
        yield NAMES, Row(f"n{value}", value)
        yield PICKLED, {value}
        yield UNREAD, "lost"


def build(env):
    main = env.from_collection([1, 2, 3, 4], type_info=Types.INT()).process(Split(), output_type=Types.INT())
    return {
        "main": main,
        "even": main.get_side_output(EVEN),
        "even again": main.get_side_output(EVEN).map(lambda n: -n),
        "names": main.get_side_output(NAMES),
        "pickled": main.get_side_output(PICKLED),
        "mapped": main.map(lambda n: n * 100),
    }


PARALLELISM = (1, 2, 3)
