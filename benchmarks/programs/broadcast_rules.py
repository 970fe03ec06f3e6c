"""Rules in broadcast state, looked up for each record of a stream without keys."""

import metering
from pyflink.common import Types
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

RULES = 10


def descriptor():
    return MapStateDescriptor("rules", Types.LONG(), Types.LONG())


class Apply(BroadcastProcessFunction):
    """Pass records on with the rule for them, 0 before it has come."""

    def __init__(self):
        self._rules = descriptor()

    def process_element(self, value, ctx):
        rule = ctx.get_broadcast_state(self._rules).get(value % RULES)
        yield rule or 0, value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self._rules).put(value[0], value[1])


def main():
    options = metering.arguments(__doc__).parse_args()
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    env = metering.environment(options)
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    rules = env.from_collection([(i, 3 * i) for i in range(RULES)], pair)
    metering.run(env, numbers.rebalance().connect(rules.broadcast(descriptor())).process(Apply(), pair), options)


if __name__ == "__main__":
    main()
