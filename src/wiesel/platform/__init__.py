"""Internal. Tools around jobs: the command line and the names of PyFlink."""
