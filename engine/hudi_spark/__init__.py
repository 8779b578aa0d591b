"""Read and write Apache Hudi tables from PySpark, or from Arrow without Spark.

A name is imported when it is first used: a Python worker of Spark that reads a file slice needs no table service.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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
    from hudi_spark.errors import DamagedLogWarning, HudiError, OutcomeUnknownError, RangeWarning, UnsupportedFeature
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
    "RangeWarning",
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

_HOMES: Final = {
    "DamagedLogWarning": "hudi_spark.errors",
    "HudiError": "hudi_spark.errors",
    "HudiTable": "hudi_spark.table",
    "Outcome": "hudi_spark.write.action",
    "OutcomeUnknownError": "hudi_spark.errors",
    "RangeWarning": "hudi_spark.errors",
    "Readings": "hudi_spark.readings",
    "RecoveryHints": "hudi_spark.services.recovered_files",
    "ServiceWarning": "hudi_spark.concurrency.effects",
    "TableDefinition": "hudi_spark.write.creation",
    "UnsupportedFeature": "hudi_spark.errors",
    "check_table": "hudi_spark.arrow",
    "create_arrow": "hudi_spark.arrow",
    "explain": "hudi_spark.arrow",
    "hudi_sql": "hudi_spark.sql",
    "load": "hudi_spark.datasource",
    "read_arrow": "hudi_spark.arrow",
    "read_batches": "hudi_spark.arrow",
    "read_changes": "hudi_spark.arrow",
    "read_incremental": "hudi_spark.arrow",
    "read_stream": "hudi_spark.arrow",
    "register": "hudi_spark.spark_source",
    "retry_on_conflict": "hudi_spark.write.writer",
    "save": "hudi_spark.datasource",
    "services_arrow": "hudi_spark.arrow",
    "write_arrow": "hudi_spark.arrow",
}


def __getattr__(name: str) -> Any:
    """A public name, from the module that has it.

    Raises:
        AttributeError: there is no such name.

    """
    if name not in _HOMES:
        # Python suggests the nearest name by these two.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=import_module(__name__))
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)
