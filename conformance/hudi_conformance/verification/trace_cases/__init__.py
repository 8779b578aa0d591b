"""Trace cases: what processes did, line by line, and whether a sound behaviour explains it.

For clauses that no answer over the protocol can show: orders of effects, locks, times.
"""
