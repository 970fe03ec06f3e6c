"""The word count and the join with an aggregation of the other programs, with Wiesel's data sets."""

import json

import metering
from batch_join import PADDING, REGIONS
from batch_word_count import text

from wiesel.common import Configuration, Types
from wiesel.dataset import ExecutionEnvironment

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
COUNTED = Types.TUPLE([Types.STRING(), Types.LONG()])
RECORD = Types.TUPLE([Types.LONG(), Types.LONG(), Types.STRING()])


def word_count(env, options):
    words = options.words
    lines = env.generate_sequence(0, options.records - 1).map(lambda number: text(number, words), Types.STRING())
    return lines.flat_map(lambda line: [(word, 1) for word in line.split()], COUNTED).group_by(0).sum(1)


def join(env, options):
    count = options.customers
    orders = env.generate_sequence(0, options.records - 1).map(lambda n: (n % count, n % 100, PADDING), RECORD)
    customers = env.generate_sequence(0, count - 1).map(lambda n: (n, n % REGIONS, PADDING), RECORD)
    joined = orders.join(customers).where(0).equal_to(0).apply(lambda order, customer: (customer[1], order[1]), PAIR)
    return joined.group_by(0).sum(1)


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--customers", type=int, default=100_000)
    parser.add_argument("--job", choices=("word_count", "join"), default="word_count")
    options = parser.parse_args()

    settings = dict(entry.split("=", 1) for entry in options.conf)
    env = ExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(options.parallelism)
    data = {"word_count": word_count, "join": join}[options.job](env, options)
    data.filter(metering.Meter(options.folder, options.records)).count()
    print(json.dumps(metering.summary(metering.left(options.folder, options.parallelism), options.records)), flush=True)


if __name__ == "__main__":
    main()
