"""A table changes its version: 6, 8, 9 and back, step by step."""
