"""flat_map with a generator function, a lambda that returns a list, and a FlatMapFunction."""

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction

LINES = ["to be or not to be", "that is the question", "", "be  quick"]


class Split(FlatMapFunction):
    def open(self, runtime_context):
        self.separator = " "

    def flat_map(self, value):
        for word in value.split(self.separator):
            if word:
                yield word


def letters(line):
    yield from line.replace(" ", "")[:3]


def build(env):
    lines = env.from_collection(LINES, type_info=Types.STRING())
    return {
        "class": lines.flat_map(Split(), output_type=Types.STRING()),
        "list": lines.flat_map(lambda line: line.split(), output_type=Types.STRING()),
        "generator": lines.flat_map(letters, output_type=Types.STRING()),
        "pairs": lines.flat_map(lambda line: ((w, len(w)) for w in line.split()), Types.TUPLE([Types.STRING(), Types.INT()])),
    }
