"""Python map and filter over lines of 100 bytes: no state, no exchange; what a record costs on its way through Python."""

import metering
from pyflink.common import Types
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat


def parse(line):
    return line, int(line[:10])


def wanted(record):
    return record[1] % 4 != 0


def main():
    parser = metering.arguments(__doc__)
    parser.add_argument("--input", required=True, help="folder of text files")
    options = parser.parse_args()

    env = metering.environment(options)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), options.input).build()
    lines = env.from_source(source, metering.no_watermarks(), "lines")
    kept = lines.map(parse, output_type=Types.TUPLE([Types.STRING(), Types.LONG()])).filter(wanted)
    metering.run(env, kept, options)


if __name__ == "__main__":
    main()
