"""Dumps through models: compressing, answering.

`job` says what is to be done. `run` reads a dump, asks a component, a reader or a compressor, what
the rows ask, and writes the dump again with the columns of its `step`. Replies are kept as they
come (`run_replies`), so that a run that was stopped goes on where it was.
"""
