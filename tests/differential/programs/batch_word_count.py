"""The word count in both modes: running counts in STREAMING, final counts in BATCH."""

from pyflink.common import Types

LINES = ["to be or not to be", "that is the question", "whether tis nobler in the mind to suffer", "the slings and arrows"]


def build(env):
    lines = env.from_collection(LINES, type_info=Types.STRING())
    return (
        lines.flat_map(lambda line: line.split(), output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )


PARALLELISM = (1, 2, 3)
MODES = ("STREAMING", "BATCH")
