"""Internal. What stands around a job: the command line and the names of PyFlink."""
