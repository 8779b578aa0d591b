"""The records of a metadata table: values, keys, and how both are written."""
