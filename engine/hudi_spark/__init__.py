"""Read Apache Hudi tables from PySpark, or from Arrow without Spark."""
