"""One Spark session with one Apache Hudi bundle; a process has at most one."""

import os
from pathlib import Path
from typing import Any

from hudi_adapter.java import set_java_home

from hudi_conformance.apache.notices import settings_text

_SETTINGS = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# 1.0.2 reads delete blocks only where Avro's class loader sees the bundle's classes.
_IN_CLASS_PATH = "-1.0.2.jar"
_JAVA_OPTIONS = "-Duser.timezone=UTC -Dfile.encoding=UTF-8 -XX:+UseSerialGC -XX:TieredStopAtLevel=1"


def prepare_environment() -> None:
    """Choose Java, UTC and a UTF-8 locale: without the last, Java cannot open a folder with a non-ASCII name."""
    set_java_home()
    os.environ["TZ"] = "UTC"
    os.environ["LC_ALL"] = "C.UTF-8"


def start_session(jar: Path, scratch: Path) -> Any:
    """A local Spark session with this bundle, its warehouse and temporary files below `scratch`."""
    prepare_environment()
    from pyspark.sql import SparkSession  # noqa: PLC0415  Java must be chosen before

    logging = scratch / "log4j2.properties"
    logging.write_text(settings_text(scratch), encoding="utf-8")
    places = f"-Dderby.system.home={scratch} -Djava.io.tmpdir={scratch} -Dlog4j2.configurationFile={logging.as_uri()}"
    builder = SparkSession.builder.master("local[2]").appName("hudi-conformance-peer")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    if jar.name.endswith(_IN_CLASS_PATH):
        builder = builder.config("spark.driver.extraClassPath", str(jar))
    session = (
        builder.config("spark.driver.extraJavaOptions", f"{_JAVA_OPTIONS} {places}")
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.local.dir", str(scratch))
        .config("spark.jars", str(jar))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session
