"""Counts words, as a stream: each word gives its count so far. With --output the counts at the end of the text go to files.

    wiesel run examples/word_count.py
    wiesel run examples/word_count.py --input book.txt --output counts

At a terminal without arguments it counts a text of its own.
"""

from __future__ import annotations

import argparse
import re
import sys

from wiesel.common import Encoder, Types, WatermarkStrategy
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, StreamFormat

TEXT = [
    "To be, or not to be, that is the question:",
    "Whether 'tis nobler in the mind to suffer",
    "The slings and arrows of outrageous fortune,",
    "Or to take arms against a sea of troubles",
    "And by opposing end them.",
]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Counts the words of a text.")
    parser.add_argument("--input", help="file or directory to read")
    parser.add_argument("--output", help="directory to write to")
    options = parser.parse_args(arguments)

    env = StreamExecutionEnvironment.get_execution_environment()
    if options.output is not None:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)  # only the last count of each word
    if options.input is not None:
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), options.input).process_static_file_set().build()
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "text")
    else:
        lines = env.from_collection(TEXT, Types.STRING())

    counts = (
        lines.flat_map(lambda line: re.findall(r"[\w']+", line.lower()), Types.STRING())
        .map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    if options.output is not None:
        sink = FileSink.for_row_format(options.output, Encoder.simple_string_encoder())
        texts = counts.map(lambda pair: f"{pair[0]},{pair[1]}", Types.STRING())
        texts.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    else:
        counts.print()
    env.execute("word count")


if __name__ == "__main__":
    main(sys.argv[1:])
