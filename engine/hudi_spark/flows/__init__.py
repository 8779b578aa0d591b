"""Rows in parts, worked on in this process or on Spark, through one interface."""
