"""Running reduce per key: one output per input record, the first one unchanged."""

from pyflink.common import Types

WORDS = ["a", "b", "a", "c", "a", "b", "d", "a", "c", "a"] * 3


def build(env):
    pairs = env.from_collection(WORDS, type_info=Types.STRING()).map(
        lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()])
    )
    return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))


PARALLELISM = (1, 2, 3)
MODES = ("STREAMING", "BATCH")
