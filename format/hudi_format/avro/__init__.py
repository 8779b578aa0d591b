"""Avro: containers, schemas, values."""
