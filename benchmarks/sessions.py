"""The one Spark session of a run: the engine and Apache Hudi work in it side by side, with the same settings."""

import os
from functools import cached_property
from typing import Any

from hudi_adapter.java import set_java_home
from hudi_conformance.apache.bundles import bundle_jar

CODEC = "zstd"
_SETTINGS = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": CODEC,
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "6g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Sessions:
    """A local session with the bundle of one release of Apache Hudi, started when it is first asked for."""

    def __init__(self, release: str, cores: int) -> None:
        self.release = release
        self._cores = cores

    @cached_property
    def session(self) -> Any:
        """The session."""
        set_java_home()
        os.environ["TZ"] = "UTC"
        from pyspark.sql import SparkSession  # noqa: PLC0415 - reads JAVA_HOME when it starts

        builder = SparkSession.builder.master(f"local[{self._cores}]").appName("benchmark")
        own = {"spark.sql.shuffle.partitions": str(self._cores), "spark.jars": str(bundle_jar(self.release))}
        for key, value in {**_SETTINGS, **own}.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        return session
