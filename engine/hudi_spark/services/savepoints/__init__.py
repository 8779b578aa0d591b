"""Savepoints: what a table was at a write is kept until the savepoint is deleted."""
