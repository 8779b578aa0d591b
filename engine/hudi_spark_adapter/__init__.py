"""The hudi_spark_adapter of the engine."""
