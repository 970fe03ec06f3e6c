"""A paced running count per key that tells what comes out and when: the job that ``recovery.py`` kills."""

import argparse
import os
import time

from paced_source import paced
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import FilterFunction, KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class PaddedCount(KeyedProcessFunction):
    """The same with so many bytes of state per key."""

    def __init__(self, value_bytes):
        self._padding = bytes(value_bytes - 8)

    def open(self, runtime_context: RuntimeContext):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        before = self.value.value()
        count = int.from_bytes(before[:8], "big") + 1 if before else 1
        self.value.update(count.to_bytes(8, "big") + self._padding)
        yield value[0], count


class Teller(FilterFunction):
    """Appends a line for each n-th number: the number, its key's count, the time and the process."""

    def __init__(self, folder, every):
        self._folder = folder
        self._every = every

    def open(self, runtime_context: RuntimeContext):
        name = f"{runtime_context.get_index_of_this_subtask()}-{os.getpid()}-{time.time_ns()}.txt"
        # Unbuffered: what was told before a kill is to be seen.
        self._file = open(os.path.join(self._folder, name), "ab", buffering=0)  # noqa: SIM115

    def filter(self, value):
        if value[0] % self._every == 0:
            self._file.write(b"%d %d %d %d\n" % (value[0], value[1], time.time_ns(), os.getpid()))
        return False

    def close(self):
        self._file.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--told", required=True, help="where the lines go")
    # For PyFlink all numbers are made ahead, so there cannot be any number of them: enough for five minutes.
    parser.add_argument("--records", type=int, default=6_000_000)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=101)
    parser.add_argument("--value-bytes", type=int, default=0, help="of state per key; 0 is a number alone")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    configuration = Configuration()
    for entry in options.conf:
        key, _, value = entry.partition("=")
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    keys = options.keys
    # One reader: then each key's numbers come in order, and its count follows from the number.
    count = PaddedCount(options.value_bytes) if options.value_bytes else Count()
    numbers = paced(env, options.records, options.rate, parallelism=1)
    (
        numbers.key_by(lambda record: record[0] % keys, key_type=Types.LONG())
        .process(count, output_type=Types.TUPLE([Types.LONG(), Types.LONG()]))
        .filter(Teller(options.told, options.every))
        .print()
    )
    env.execute("recovery")


if __name__ == "__main__":
    main()
