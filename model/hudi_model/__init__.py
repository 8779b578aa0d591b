"""The Apache Hudi table format as pure values and functions."""
