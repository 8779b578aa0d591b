"""Slices by the keys that a filter pins: record index, secondary indexes, bloom filters and key ranges.

Clauses: IX-020, IX-022, IX-030, IX-055, IX-057, IX-010, IX-012, IX-058.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, Final

import pyarrow as pa
from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY, base_file_footer
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.texts import utf16_order

from hudi_spark.filters import And, Column, Comparison, Filter
from hudi_spark.merge import RECORD_KEY, merge_mode
from hudi_spark.pruning.facts import UNKNOWN, Facts
from hudi_spark.pruning.situation import Situation, Source, columns_in, expression_indexes, file_keys, text_of
from hudi_spark.table_state import FileKey, FileSlice, GroupId

_MOST_KEYS: Final = 10_000
# Others may make any key of the fields.
_KNOWN_GENERATORS: Final = frozenset(
    {"", "SIMPLE", "COMPLEX", "TIMESTAMP", "TIMESTAMPBASED", "CUSTOM", "NON_PARTITION", "NONPARTITIONED", "SQL"}
)


def spellings(column: Column, value: Any) -> tuple[str, ...]:
    """The record keys that a row with this value of the column may have; none where that is not sure.

    Writers differ on whether a key of one field names it.

    Clauses: DM-002, IX-055.
    """
    if column.name == RECORD_KEY:
        return (value,)
    text = text_of(value)
    return () if text is None else (text, f"{column.name}:{text}")


def key_columns(situation: Situation) -> tuple[Column, ...]:
    """The columns of the filter that are the whole record key."""
    configuration = situation.snapshot.configuration
    names = {RECORD_KEY} if configuration.populates_meta_fields else set()
    if len(configuration.record_key) == 1 and configuration.key_generator.removesuffix("_AVRO") in _KNOWN_GENERATORS:
        names.update(configuration.record_key)
    return tuple(
        one for one in columns_in(situation.query.condition) if one.name in names and one.function == "identity"
    )


def _follow_merging(situation: Situation) -> bool:
    """Whether indexes of records surely have every row of the newest state.

    Writers take the key of a delete out of them, also where a greater ordering value lets the row win (IX-021).
    """
    configuration = situation.snapshot.configuration
    keeps_latest = merge_mode(configuration) == "COMMIT_TIME_ORDERING" or not configuration.ordering
    return situation.query.latest and situation.has("record_index") and keeps_latest


def by_record_index(situation: Situation, _: Sequence[FileSlice]) -> Source | None:
    """The groups in which the record index says that keys live; of the newest state.

    Clauses: IX-020, IX-021, IX-055.
    """
    if not _follow_merging(situation):
        return None
    wanted = {column: _spelled(situation, column) for column in key_columns(situation)}
    groups = _groups(situation, {key for values in wanted.values() for keys in values.values() for key in keys})
    pinned = _pinned_groups(situation)
    if not any(wanted.values()) and pinned is None:
        return None
    places = {
        column: {value: _joined(groups, keys) for value, keys in values.items()} for column, values in wanted.items()
    }

    def source(one: FileSlice, column: Column) -> Facts:
        id_ = (one.partition, one.file_id)
        if pinned is not None and id_ not in pinned and column.name in situation.snapshot.configuration.record_key:
            return Facts(nulls=False, values=False)
        return _absent(places.get(column, {}), id_)

    return source


def by_secondary_index(situation: Situation, _: Sequence[FileSlice]) -> Source | None:
    """The groups that hold, by the record index, a key that has an entry with the value.

    Clauses: IX-030, IX-031, IX-057.
    """
    if not _follow_merging(situation) or situation.metadata is None:
        return None
    places: dict[Column, dict[Any, frozenset[GroupId]]] = {}
    for column, index in _secondary_indexes(situation).items():
        texts = {value: text_of(value) for value in situation.query.sought(column)}
        known = {value: text for value, text in texts.items() if text is not None}
        keys = situation.metadata.secondary_keys(index, known.values())
        groups = _groups(situation, frozenset().union(*keys.values()))
        places[column] = {value: _joined(groups, keys.get(text, ())) for value, text in known.items()}
    return (lambda one, column: _absent(places.get(column, {}), (one.partition, one.file_id))) if places else None


def _secondary_indexes(situation: Situation) -> dict[Column, str]:
    """The secondary indexes of columns of the filter.

    Writers of version V1 take an entry away where its row moves to another partition (apache/hudi issue 14090).

    Clauses: IX-004, IX-031.
    """
    found = {}
    for definition in situation.definitions:
        usable = definition.kind == "secondary_index" and definition.version != "V1" and situation.has(definition.name)
        if not usable:
            continue
        for column in columns_in(situation.query.condition):
            if definition.source_fields == (column.name,) and column.function == "identity":
                found[column] = definition.name
    return found


def _spelled(situation: Situation, column: Column) -> dict[Any, tuple[str, ...]]:
    values = situation.query.sought(column)
    spelled = {value: spellings(column, value) for value in values}
    return {value: keys for value, keys in spelled.items() if keys}


def _groups(situation: Situation, keys: Iterable[str]) -> Mapping[str, frozenset[GroupId]]:
    if situation.metadata is None:
        return {}
    found = situation.metadata.record_locations(sorted(set(keys)))
    return {key: frozenset((one.partition, one.file_id) for one in places) for key, places in found.items()}


def _joined(groups: Mapping[str, frozenset[GroupId]], keys: Iterable[str]) -> frozenset[GroupId]:
    return frozenset(id_ for key in keys for id_ in groups.get(key, ()))


def _absent(places: Mapping[Any, frozenset[GroupId]], id_: GroupId) -> Facts:
    gone = frozenset(value for value, groups in places.items() if id_ not in groups)
    return Facts(absent=gone) if gone else UNKNOWN


def _pinned_groups(situation: Situation) -> frozenset[GroupId] | None:
    """Where the keys of several fields live whose every field the filter pins; None where it does not.

    Clauses: DM-002, IX-055.
    """
    fields = situation.snapshot.configuration.record_key
    if len(fields) < 2 or situation.snapshot.configuration.key_generator.removesuffix("_AVRO") not in _KNOWN_GENERATORS:
        return None
    pins = [_pins(situation, situation.query.condition, Column(name)) for name in fields]
    if any(one is None for one in pins):
        return None
    choices = [one or () for one in pins]
    if _size(choices) > _MOST_KEYS:
        return None
    keys = [",".join(f"{name}:{text}" for name, text in zip(fields, texts, strict=True)) for texts in product(*choices)]
    return _joined(_groups(situation, keys), keys)


def _size(choices: Sequence[Sequence[str]]) -> int:
    size = 1
    for one in choices:
        size *= len(one)
    return size


def _pins(situation: Situation, condition: Filter, column: Column) -> tuple[str, ...] | None:
    """The texts that a column must have one of for the filter to hold; None where it may have others."""
    match condition:
        case And(parts):
            return next((one for one in (_pins(situation, part, column) for part in parts) if one is not None), None)
        case Comparison(column=found, operator="=" | "in") if found == column:
            texts = [text_of(value) for value in situation.query.values_of(condition) if value is not None]
            return None if None in texts else tuple(text or "__empty__" for text in texts)
        case _:
            return None


Held = Callable[[pa.Array], frozenset[str]]
"""Those of some keys that a slice may hold."""


def by_bloom_filters(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The record keys that base files may hold: by the metadata table's filters, or by those in their footers.

    Clauses: IX-010, IX-012, IX-058.
    """
    wanted = {column: _spelled(situation, column) for column in key_columns(situation)}
    if not any(wanted.values()):
        return None
    keys = {column: pa.array(chain.from_iterable(spelled.values()), pa.string()) for column, spelled in wanted.items()}
    alone = [one for one in slices if one.base_file is not None and not one.log_files]
    filters = _filters(situation, alone)

    def source(one: FileSlice, column: Column) -> Facts:
        held_of = filters.get((one.partition, one.file_id))
        if held_of is None or column not in wanted:
            return UNKNOWN
        held = held_of(keys[column])
        return Facts(absent=frozenset(value for value, texts in wanted[column].items() if held.isdisjoint(texts)))

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
    values = {column: situation.query.sought(column) for column in found}

    def source(one: FileSlice, column: Column) -> Facts:
        if column not in filters or one.log_files or not situation.speaks_of(one, column):
            return UNKNOWN
        return _beyond(filters[column], file_keys(one)[0], values[column])

    return source


def _beyond(filters: Mapping[FileKey, BloomFilter], key: FileKey, values: Sequence[Any]) -> Facts:
    texts = {value: text for value in values if (text := text_of(value)) is not None}
    bloom = filters.get(key)
    if bloom is None:
        return UNKNOWN
    held = _held_by(bloom, pa.array(texts.values(), pa.string()))
    return Facts(absent=frozenset(value for value, text in texts.items() if text not in held))


def _filters(situation: Situation, slices: Sequence[FileSlice]) -> dict[tuple[str, str], Held]:
    """What records each slice whether a key may be in it."""
    from_table: Mapping[FileKey, BloomFilter] = {}
    metadata = situation.metadata
    if metadata is not None and situation.has("bloom_filters"):
        from_table = metadata.bloom_filters([file_keys(one)[0] for one in slices])
    found: dict[tuple[str, str], Held] = {}
    for one in slices:
        bloom = from_table.get(file_keys(one)[0])
        held_of = partial(_held_by, bloom) if bloom is not None else _in_footer(situation, one)
        if held_of is not None:
            found[one.partition, one.file_id] = held_of
    return found


def _in_footer(situation: Situation, one: FileSlice) -> Held | None:
    """What a base file's own footer shows; a file that does not open is left to the reader that needs it."""
    try:
        keys = base_file_footer(situation.storage, one.base_file or "").keys
        text = keys.get(BLOOM_FILTER_KEY)
        bloom = decode_bloom_filter(text, keys.get(BLOOM_TYPE_KEY, ""), one.base_file or "") if text else None
    except (FormatError, UnsupportedFormat):
        return None
    least, greatest = keys.get(MINIMUM_KEY), keys.get(MAXIMUM_KEY)
    if bloom is None:
        return None

    lower, upper = (None if bound is None else utf16_order(bound) for bound in (least, greatest))

    def is_within(key: str) -> bool:
        rank = utf16_order(key)
        return (lower is None or rank >= lower) and (upper is None or rank <= upper)

    return lambda wanted: frozenset(filter(is_within, _held_by(bloom, wanted)))


def _held_by(bloom: BloomFilter, wanted: pa.Array) -> frozenset[str]:
    return frozenset(wanted.filter(bloom.may_contain_each(wanted)).to_pylist())
