"""How many file groups an index of records begins with."""

import math
from typing import Final

from hudi_spark.options.resolving import Options

# What releases take a record of such an index to weigh.
_BYTES_A_RECORD: Final = 48


def groups_for(options: Options, records: int, *, partitioned: bool = False) -> int:
    """The number of groups that options give an index of so many records, of the whole table or of one partition.

    Clauses: MT-017.
    """
    scope = "hoodie.metadata." if partitioned else "hoodie.metadata.global."
    least, most = (options.number(f"{scope}record.level.index.{end}.filegroup.count") for end in ("min", "max"))
    growth = options.decimal("hoodie.metadata.record.index.growth.factor")
    most_bytes = options.number("hoodie.metadata.record.index.max.filegroup.size")
    return estimated_groups(records, least, most, growth, most_bytes)


def estimated_groups(records: int, least: int, most: int, growth: float, most_bytes: int) -> int:
    """As many groups as hold the records that are expected, within the bounds.

    Clauses: MT-017.
    """
    held = math.ceil(records * growth) // max(most_bytes // _BYTES_A_RECORD, 1)
    if least == most or held <= least:
        return max(least, 1)
    return max(min(held, most), 1)
