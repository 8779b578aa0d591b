"""The table's schema, and files of other schemas brought to it."""
