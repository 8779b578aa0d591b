"""Compaction: slices with logs become base files. Planned by triggers and strategies, carried out a task a slice."""
