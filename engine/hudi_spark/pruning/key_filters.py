"""Slices by bloom filters and key ranges of their base files; logs may bring keys that these do not know.

Clauses: IX-010, IX-012, IX-058.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hudi_adapter.filters import Column
from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY, base_file_footer
from hudi_format.errors import FormatError, UnsupportedFormat

from hudi_spark.metadata.table import FileKey
from hudi_spark.pruning.facts import UNKNOWN, Facts
from hudi_spark.pruning.indexes import expression_indexes, text_of
from hudi_spark.pruning.record_keys import key_columns, literal, spellings
from hudi_spark.pruning.situation import Situation, Source, file_keys, sought
from hudi_spark.state.slicing import FileSlice

MayHold = Callable[[str], bool]


def by_bloom_filters(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The record keys that base files may hold: by the metadata table's filters, or by those in their footers.

    Clauses: IX-010, IX-012, IX-058.
    """
    wanted = {column: _spelled(situation, column) for column in key_columns(situation)}
    if not any(wanted.values()):
        return None
    alone = [one for one in slices if one.base_file is not None and not one.log_files]
    filters = _filters(situation, alone)

    def source(one: FileSlice, column: Column) -> Facts:
        may_hold = filters.get((one.partition, one.file_id))
        if may_hold is None:
            return UNKNOWN
        spelled = wanted.get(column, {})
        return Facts(absent=frozenset(value for value, keys in spelled.items() if not any(map(may_hold, keys))))

    return source


def by_expression_blooms(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The results of functions that base files may hold, where an index has bloom filters of them.

    Clauses: IX-040, IX-058.
    """
    metadata = situation.metadata
    found = expression_indexes(situation, "bloom_filters")
    if metadata is None or not found:
        return None
    files = [key for one in slices if not one.log_files for key in file_keys(one)]
    filters = {column: metadata.expression_bloom_filters(index, files) for column, index in found.items()}
    values = {column: sought(situation.asked.condition, column, literal(situation)) for column in found}

    def source(one: FileSlice, column: Column) -> Facts:
        if column not in filters or one.log_files or not situation.speaks_of(one, column):
            return UNKNOWN
        return _beyond(filters[column], file_keys(one)[0], values[column])

    return source


def _beyond(filters: Mapping[FileKey, BloomFilter], key: FileKey, values: Sequence[Any]) -> Facts:
    texts = {value: text_of(value) for value in values}
    bloom = filters.get(key)
    if bloom is None:
        return UNKNOWN
    return Facts(
        absent=frozenset(one for one, text in texts.items() if text is not None and not bloom.may_contain(text))
    )


def _spelled(situation: Situation, column: Column) -> dict[Any, tuple[str, ...]]:
    values = sought(situation.asked.condition, column, literal(situation))
    spelled = {value: spellings(column, value) for value in values}
    return {value: keys for value, keys in spelled.items() if keys}


def _filters(situation: Situation, slices: Sequence[FileSlice]) -> dict[tuple[str, str], MayHold]:
    """What tells of each slice whether a key may be in it."""
    from_table: Mapping[FileKey, BloomFilter] = {}
    metadata = situation.metadata
    if metadata is not None and situation.has("bloom_filters"):
        from_table = metadata.bloom_filters([file_keys(one)[0] for one in slices])
    found: dict[tuple[str, str], MayHold] = {}
    for one in slices:
        bloom = from_table.get(file_keys(one)[0])
        may_hold = bloom.may_contain if bloom is not None else _in_footer(situation, one)
        if may_hold is not None:
            found[one.partition, one.file_id] = may_hold
    return found


def _in_footer(situation: Situation, one: FileSlice) -> MayHold | None:
    """What a base file's own footer tells; a file that does not open is left to the reader that needs it."""
    try:
        keys = base_file_footer(situation.storage, one.base_file or "").keys
        text = keys.get(BLOOM_FILTER_KEY)
        bloom = decode_bloom_filter(text, keys.get(BLOOM_TYPE_KEY, ""), one.base_file or "") if text else None
    except (FormatError, UnsupportedFormat):
        return None
    least, greatest = keys.get(MINIMUM_KEY), keys.get(MAXIMUM_KEY)
    if bloom is None:
        return None

    def may_hold(key: str) -> bool:
        within = (least is None or key >= least) and (greatest is None or key <= greatest)
        return within and bloom.may_contain(key)

    return may_hold
