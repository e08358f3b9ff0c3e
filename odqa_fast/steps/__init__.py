"""Dumps through models: compressing, answering.

`run` reads a dump, asks a worker (`odqa_fast.engines`) what the rows ask, and writes the dump
again with the column that comes of it. Replies are kept as they come (`journal`), so that a run
that was stopped goes on where it was.
"""
