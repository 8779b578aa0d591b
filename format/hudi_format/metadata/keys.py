"""The keys of the metadata table's records.

files             path of the partition, `.` where there is none; `__all_partitions__`
column_stats      column id + partition id + file id
partition_stats   column id + partition id
bloom_filters     partition id + file id
record_index      the record key
secondary_index_  value, `$`, record key, with a backslash before each `$`, backslash and U+0000 in either
expr_index_       as column_stats or bloom_filters; of partitions: column id + id of a marker + partition id
"""

from typing import Final

from hudi_format.hashing import column_index_id, file_index_id, partition_index_id
from hudi_format.metadata.records import UNPARTITIONED

# The name in place of a partition before the statistics of whole partitions in an expression index.
PARTITION_STATS_MARK: Final = "__partition_stat__"

_SEPARATOR = "$"
_ESCAPE = "\\"
_NULL = "\0"


def files_key(partition: str) -> str:
    """The key of the list of a partition's files.

    Clauses: MT-010.
    """
    return partition or UNPARTITIONED


def column_stats_key(column: str, partition: str, file_name: str) -> str:
    """The key of the statistics of a column in a file.

    Clauses: MT-012.
    """
    return column_index_id(column) + partition_index_id(files_key(partition)) + file_index_id(file_name)


def partition_stats_key(column: str, partition: str) -> str:
    """The key of the statistics of a column in a partition.

    Clauses: MT-012.
    """
    return column_index_id(column) + partition_index_id(files_key(partition))


def expression_partition_stats_key(column: str, partition: str) -> str:
    """The key of the statistics of an expression in a whole partition.

    Clauses: IX-042.
    """
    return expression_partition_stats_prefix(column) + partition_index_id(files_key(partition))


def expression_partition_stats_prefix(column: str) -> str:
    """What the keys of an expression's statistics of partitions begin with.

    Clauses: IX-042.
    """
    return column_index_id(column) + partition_index_id(PARTITION_STATS_MARK)


def bloom_filter_key(partition: str, file_name: str) -> str:
    """The key of the bloom filter of a base file.

    Clauses: IX-011.
    """
    return partition_index_id(files_key(partition)) + file_index_id(file_name)


def secondary_key(value: str | None, record_key: str) -> str:
    """The key that says that a record has a value; None is null.

    Clauses: IX-030, IX-033.
    """
    return secondary_prefix(value) + _escaped(record_key)


def secondary_prefix(value: str | None) -> str:
    """What the keys of all records with a value begin with, the separator included.

    Clauses: IX-030, IX-033.
    """
    return (_NULL if value is None else _escaped(value)) + _SEPARATOR


def split_secondary_key(key: str) -> tuple[str | None, str]:
    """Value and record key of a key.

    Raises:
        ValueError: there is no separator.

    Clauses: IX-030, IX-033.

    """
    end = separator_position(key)
    value = key[:end]
    return (None if value == _NULL else _unescaped(value)), _unescaped(key[end + 1 :])


def separator_position(key: str) -> int:
    """Where the separator of a secondary index' key stands: the first `$` without a backslash before it.

    Raises:
        ValueError: there is none.

    Clauses: IX-030, IX-033.

    """
    position = 0
    while position < len(key):
        if key[position] == _SEPARATOR:
            return position
        position += 2 if key[position] == _ESCAPE else 1
    raise ValueError(f"the key {key[:80]!r} has no separator")


def _escaped(text: str) -> str:
    for special in (_ESCAPE, _SEPARATOR, _NULL):
        text = text.replace(special, _ESCAPE + special)
    return text


def _unescaped(text: str) -> str:
    parts, position = [], 0
    while position < len(text):
        position += text[position] == _ESCAPE
        parts.append(text[position : position + 1])
        position += 1
    return "".join(parts)
