"""`check_table`: what is wrong with a table, without Spark."""

from collections.abc import Mapping
from pathlib import Path

from hudi_spark.arrow_reading import table_storage
from hudi_spark.checking import checking
from hudi_spark.checking.violations import Violation
from hudi_spark.errors import boundary
from hudi_spark.flows.in_process import InProcess


def check_table(
    path: str | Path, *, deep: bool = False, storage_options: Mapping[str, str] | None = None
) -> tuple[Violation, ...]:
    """Every clause of the format that a table breaks, errors first; nothing is written.

    `deep` reads the rows of base files too, and compares indexes with them.

    Raises:
        HudiError: NOT_A_TABLE; STORAGE_FAILED.

    Clauses: MT-005, RD-011, RD-018, TL-014.

    """
    with boundary(path):
        return checking.check_table(table_storage(path, storage_options), InProcess(), deep=deep)
