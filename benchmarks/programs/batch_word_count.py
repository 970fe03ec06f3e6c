"""Word count over bounded data in BATCH mode: texts of two words, one reduce per word."""

import metering
from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

WORD_BYTES = 40


def text(number, words):
    return f"{number % words:0{WORD_BYTES}d} {number // 2 % words:0{WORD_BYTES}d}"


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--words", type=int, default=100_000)
    options = parser.parse_args()
    words = options.words
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])

    env = metering.environment(options)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    numbers = env.from_source(NumberSequenceSource(0, options.records - 1), metering.no_watermarks(), "numbers", Types.LONG())
    counts = (
        numbers.map(lambda number: text(number, words), output_type=Types.STRING())
        .flat_map(lambda line: [(word, 1) for word in line.split()], output_type=pair)
        .key_by(lambda record: record[0], key_type=Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    metering.run(env, counts, options)


if __name__ == "__main__":
    main()
