"""Read and write Apache Hudi tables from PySpark, or from Arrow without Spark."""

from hudi_spark.arrow import (
    check_table,
    create_arrow,
    explain,
    read_arrow,
    read_batches,
    read_changes,
    read_incremental,
    read_stream,
    services_arrow,
    write_arrow,
)
from hudi_spark.concurrency.effects import ServiceWarning
from hudi_spark.datasource import load, save
from hudi_spark.errors import DamagedLogWarning, HudiError, OutcomeUnknownError, UnsupportedFeature
from hudi_spark.readings import Readings
from hudi_spark.services.recovered_files import RecoveryHints
from hudi_spark.spark_source import register
from hudi_spark.sql import hudi_sql
from hudi_spark.table import HudiTable
from hudi_spark.write.action import Outcome
from hudi_spark.write.creation import TableDefinition
from hudi_spark.write.writer import retry_on_conflict

__all__ = [
    "DamagedLogWarning",
    "HudiError",
    "HudiTable",
    "Outcome",
    "OutcomeUnknownError",
    "Readings",
    "RecoveryHints",
    "ServiceWarning",
    "TableDefinition",
    "UnsupportedFeature",
    "check_table",
    "create_arrow",
    "explain",
    "hudi_sql",
    "load",
    "read_arrow",
    "read_batches",
    "read_changes",
    "read_incremental",
    "read_stream",
    "register",
    "retry_on_conflict",
    "save",
    "services_arrow",
    "write_arrow",
]
