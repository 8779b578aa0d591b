"""The partitions of a metadata table: folders, file ids of their groups, and which group holds a key.

files-0000-0                          prefix, four digits, 0
secondary-index-idx-name-0003-0       underscores of an index' name as dashes
record-index-<partition>-0003-0   where the record index is partitioned; the partition with Hive's escapes
"""

import re
from collections.abc import Iterable
from typing import Final

from hudi_format.compat import StrEnum
from hudi_format.hashing import file_group_index
from hudi_format.metadata.keys import separator_position
from hudi_format.partition_paths import escape_partition_value, unescape_partition_value

_FILE_ID = re.compile(r"(?P<prefix>.+)-(?P<index>[0-9]{4,9})(?:-0)?")
_SECONDARY: Final = "secondary_index_"
_EXPRESSION: Final = "expr_index_"


class Partition(StrEnum):
    """The partitions with fixed names.

    Clauses: MT-002.
    """

    FILES = "files"
    COLUMN_STATS = "column_stats"
    PARTITION_STATS = "partition_stats"
    BLOOM_FILTERS = "bloom_filters"
    RECORD_INDEX = "record_index"


_PREFIXES: Final = {
    Partition.FILES: "files",
    Partition.COLUMN_STATS: "col-stats",
    Partition.PARTITION_STATS: "partition-stats",
    Partition.BLOOM_FILTERS: "bloom-filters",
    Partition.RECORD_INDEX: "record-index",
}


def secondary_index_partition(name: str) -> str:
    """The folder of a secondary index, whose name may have the prefix already.

    Clauses: IX-003.
    """
    return name if name.startswith(_SECONDARY) else _SECONDARY + name


def expression_index_partition(name: str) -> str:
    """The folder of an expression index, whose name may have the prefix already.

    Clauses: IX-003.
    """
    return name if name.startswith(_EXPRESSION) else _EXPRESSION + name


def index_partitions(name: str) -> tuple[str, str, str]:
    """The folders that an index may have which a user names: that of this name, of a secondary or expression index.

    Clauses: IX-002, IX-003.
    """
    return name, secondary_index_partition(name), expression_index_partition(name)


def is_secondary_index(partition: str) -> bool:
    """Whether a folder is that of a secondary index.

    Clauses: IX-003.
    """
    return partition.startswith(_SECONDARY)


def is_expression_index(partition: str) -> bool:
    """Whether a folder is that of an expression index.

    Clauses: IX-003.
    """
    return partition.startswith(_EXPRESSION)


def metadata_file_id(partition: str, index: int, data_partition: str | None = None) -> str:
    """The file id of a group; `data_partition` names the table's partition in a partitioned record index.

    Clauses: MT-017, IX-003, IX-022.
    """
    prefix = _PREFIXES[Partition(partition)] if partition in list(Partition) else partition.replace("_", "-")
    within = "" if data_partition is None else f"-{escape_partition_value(data_partition)}"
    return f"{prefix}{within}-{index:04d}-0"


def file_group_of_id(file_id: str) -> tuple[int, str]:
    """Number of a group within its partition and what precedes it; the oldest names have no `-0` behind.

    Raises:
        ValueError: the file id is none of a metadata table.

    Clauses: MT-017.

    """
    match = _FILE_ID.fullmatch(file_id)
    if match is None:
        raise ValueError(f"{file_id!r} is no file id of a metadata table")
    return int(match["index"]), match["prefix"]


def data_partition_of_id(file_id: str) -> str | None:
    """The table's partition that a group of a partitioned record index is for, or None for a global one.

    Raises:
        ValueError: the file id is none of a metadata table.

    Clauses: IX-022.

    """
    _, prefix = file_group_of_id(file_id)
    own = _PREFIXES[Partition.RECORD_INDEX]
    return None if prefix == own else unescape_partition_value(prefix.removeprefix(own + "-"))


def file_group_count(file_ids: Iterable[str]) -> int:
    """The number of groups of a partition, from the file ids found in it.

    Raises:
        ValueError: a file id is none of a metadata table.

    Clauses: MT-017.

    """
    return len({file_group_of_id(file_id)[0] for file_id in file_ids})


def file_group_of_key(key: str, groups: int, *, by_value: bool = False) -> int:
    """The group that holds a key; `by_value` for secondary indexes of version V2, which go by the value and its `$`.

    Raises:
        ValueError: there are no groups, or a secondary index' key has no separator.

    Clauses: MT-017.

    """
    return file_group_index(key[: separator_position(key) + 1] if by_value else key, groups)
