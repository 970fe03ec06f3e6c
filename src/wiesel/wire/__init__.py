"""Internal. Data exchanged between tasks: batches of records, control events, buffers and their codecs."""
