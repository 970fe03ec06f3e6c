"""CoProcessFunction without keys, with a side output from each input."""

from pyflink.common import Types
from pyflink.datastream import CoProcessFunction, OutputTag

LEFT = OutputTag("left", Types.STRING())
RIGHT = OutputTag("right", Types.INT())


class Route(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value
        if value % 2:
            yield LEFT, f"odd {value}"

    def process_element2(self, value, ctx):
        yield RIGHT, len(value)
        yield value


def build(env):
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
    words = env.from_collection(["ein", "zwei", "sieben"], type_info=Types.STRING())
    main = numbers.connect(words).process(Route())
    return {"main": main, "left": main.get_side_output(LEFT), "right": main.get_side_output(RIGHT)}
