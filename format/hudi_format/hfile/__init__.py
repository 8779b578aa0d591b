"""HFile, version 3: the sorted key-value file of the metadata table."""
