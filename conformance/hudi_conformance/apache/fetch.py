"""`python -m hudi_conformance.apache.fetch COORDINATE`: let Spark's own resolver fetch one bundle into the cache."""

import sys

from hudi_conformance.apache.session import prepare_environment
from hudi_conformance.apache.trust import PASSWORD, write_trust_store
from hudi_conformance.runner.resources import cache_folder


def fetch(coordinate: str) -> None:
    """Start an empty Spark session that requests the coordinate; its start fails when the jar cannot be had."""
    prepare_environment()
    from pyspark.sql import SparkSession  # noqa: PLC0415  Java must be chosen before

    cache = cache_folder()
    store = write_trust_store(cache)
    trust = "" if store is None else f"-Djavax.net.ssl.trustStore={store} -Djavax.net.ssl.trustStorePassword={PASSWORD}"
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", trust)
        .config("spark.jars.ivy", str(cache / "ivy"))
        .config("spark.jars.packages", coordinate)
        .getOrCreate()
    )
    session.stop()


if __name__ == "__main__":
    fetch(sys.argv[1])
