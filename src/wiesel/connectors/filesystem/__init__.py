"""Internal. The connector ``filesystem``: file systems, sources and sinks of files, tables over folders of files."""
