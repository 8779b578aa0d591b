"""Beside the rules: processes that share a table, explored; traces; what is wrong with a table."""
