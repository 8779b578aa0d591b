"""What a table at rest breaks: every clause, with the file, and nothing is written."""

from hudi_spark.fsck.check import check_table
from hudi_spark.fsck.violations import Violation

__all__ = ["Violation", "check_table"]
