"""The indexing service: an index of an existing table, built beside its writers."""
