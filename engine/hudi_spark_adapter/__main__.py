"""`python -m hudi_spark_adapter`: the adapter of the engine."""

from hudi_spark_adapter.adapter import main

if __name__ == "__main__":
    main()
