"""The schema that a write uses, rows brought to it, and changes of a schema as actions."""
