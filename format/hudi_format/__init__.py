"""Bytes of the Apache Hudi table format, read and written, one file or one name at a time."""
