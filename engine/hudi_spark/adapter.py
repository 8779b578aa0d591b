"""`python -m hudi_spark.adapter`, the command of earlier releases: it runs `python -m hudi_spark_adapter`."""

import runpy

if __name__ == "__main__":
    runpy.run_module("hudi_spark_adapter", run_name="__main__", alter_sys=True)
