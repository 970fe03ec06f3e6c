"""ProcessFunction: yields, returned lists, no result; the timestamp of a record that has none."""

from pyflink.common import Types
from pyflink.datastream import ProcessFunction


class Yields(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        if value % 2:
            yield -value


class ReturnsList(ProcessFunction):
    def process_element(self, value, ctx):
        return [value, value * 10] if value > 2 else None


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def build(env):
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.LONG())
    return {
        "yields": numbers.process(Yields(), output_type=Types.LONG()),
        "list": numbers.process(ReturnsList(), output_type=Types.LONG()),
        "times": numbers.process(Times()),
    }
