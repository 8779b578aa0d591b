"""Leaves out the slices in which no row can make a query's filter true, and says by what means.

A partition's path says something of the columns that it was made of.

Clauses: IX-053, IX-054, MT-011, MT-014, IX-051, DM-033, DM-031, DM-032, IX-056.
"""

import calendar
import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.filters import Column, compared_type
from hudi_spark.pruning.facts import UNKNOWN, Facts, facts_of, may_hold, together
from hudi_spark.pruning.keys import by_bloom_filters, by_expression_blooms, by_record_index, by_secondary_index
from hudi_spark.pruning.situation import (
    PruningQuery,
    Situation,
    Source,
    columns_in,
    derived_facts,
    expression_indexes,
    file_keys,
    index_definitions,
)
from hudi_spark.schema import DEFAULT_PARTITION, Origins, path_values, typed_value
from hudi_spark.table_state import ENABLED_KEY, FileSlice, MetadataTable, Snapshot, TableConfiguration, flag

_PREFIXES: Final = (
    "hoodie.keygen.timebased.",
    "hoodie.deltastreamer.keygen.timebased.",
    "hoodie.streamer.keygen.timebased.",
)
_UNITS: Final = {
    "UNIX_TIMESTAMP": 1,
    "EPOCHMILLISECONDS": 1_000,
    "EPOCHMICROSECONDS": 1_000_000,
}
_SCALARS: Final = {"SECONDS": 1, "MILLISECONDS": 1_000, "MICROSECONDS": 1_000_000}
_LETTERS: Final = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour"}
_FIRST: Final = (("year", 1970), ("month", 1), ("day", 1), ("hour", 0))
_ORDER: Final = ("year", "month", "day", "hour")
_TOKEN: Final = re.compile(r"yyyy|MM|dd|HH|hh|[^A-Za-z']+|'[^']*'|.")
_UTC: Final = ("", "UTC", "GMT", "Z", "Etc/UTC", "GMT+0:00", "UTC+0:00")


@dataclass(frozen=True, slots=True)
class TimestampPaths:
    """How paths are read.

    `expression` matches a path; `fields` are the parts of the date that it has, coarsest first; `scale` is how many
    of the column's units a second has.
    """

    expression: re.Pattern[str]
    fields: tuple[str, ...]
    scale: int

    def bounds(self, text: str) -> tuple[int, int] | None:
        """The least and the greatest number whose moment is written so, or None."""
        found = self.expression.fullmatch(text)
        if found is None:
            return None
        try:
            year, month, day, hour = (int(found[name]) if name in self.fields else at for name, at in _FIRST)
            begin = dt.datetime(year, month, day, hour, tzinfo=dt.timezone.utc)
            end = begin + self._length(begin)
        except (ValueError, OverflowError):
            return None
        least, beyond = (calendar.timegm(one.timetuple()) for one in (begin, end))
        # Writers round fractions of a second towards zero: before 1970 that is up.
        return (least - (least <= 0)) * self.scale, beyond * self.scale - 1

    def _length(self, begin: dt.datetime) -> dt.timedelta:
        finest = self.fields[-1]
        if finest == "year":
            return dt.timedelta(days=366 if calendar.isleap(begin.year) else 365)
        if finest == "month":
            return dt.timedelta(days=calendar.monthrange(begin.year, begin.month)[1])
        return dt.timedelta(days=1) if finest == "day" else dt.timedelta(hours=1)


def timestamp_paths(properties: Mapping[str, str]) -> TimestampPaths | None:
    """How numbers became paths, where that is a range of numbers for each path: in UTC, by year, month, day, hour."""
    scale = _scale(properties)
    zones = (time_setting(properties, "timezone"), time_setting(properties, "output.timezone"))
    if scale is None or any(zone not in _UTC for zone in zones):
        return None
    tokens = _TOKEN.findall(time_setting(properties, "output.dateformat"))
    pieces = [_piece(token) for token in tokens]
    fields = tuple(_LETTERS[token] for token in tokens if token in _LETTERS)
    if not fields or None in pieces or sorted(fields, key=_ORDER.index) != list(_ORDER[: len(fields)]):
        return None
    ordered = tuple(sorted(fields, key=_ORDER.index))
    return TimestampPaths(re.compile("".join(piece for piece in pieces if piece is not None)), ordered, scale)


def _scale(properties: Mapping[str, str]) -> int | None:
    kind = time_setting(properties, "timestamp.type").upper()
    if kind == "SCALAR":
        return _SCALARS.get(time_setting(properties, "timestamp.scalar.time.unit").upper())
    return _UNITS.get(kind)


def _piece(word: str) -> str | None:
    if word in _LETTERS:
        return f"(?P<{_LETTERS[word]}>[0-9]{{{len(word)}}})"
    if word.startswith("'") and len(word) > 1:
        return re.escape(word[1:-1])
    return None if word[0].isalpha() or word == "'" else re.escape(word)


def time_setting(properties: Mapping[str, str], key: str) -> str:
    """A setting of the timestamp key generator, under whichever of its names it is given; empty where it is not."""
    return next((properties[prefix + key].strip() for prefix in _PREFIXES if prefix + key in properties), "")


# The default partition of releases before 0.12.
_OLD_DEFAULT: Final = "default"
_PLAIN: Final = frozenset({"", "SIMPLE", "COMPLEX", "SIMPLE_AVRO", "COMPLEX_AVRO"})


class PartitionPaths:
    """The partition columns of a table and how their values became paths."""

    def __init__(self, configuration: TableConfiguration, schema: pa.Schema) -> None:
        self._configuration = configuration
        self._schema = schema
        self._types = _field_types(configuration)
        self._stamps = timestamp_paths(configuration.properties)

    def facts(self, partition: str) -> Mapping[str, Facts]:
        """What is known of columns in the rows of a partition; nothing where path and values are not surely one."""
        if not self._types or not partition:
            return {}
        if self._configuration.partitions.columns_dropped:
            return self._dropped(partition)
        texts = self._texts(partition)
        return {name: self._of_text(name, text) for name, text in texts.items() if name in self._schema.names}

    def _dropped(self, partition: str) -> dict[str, Facts]:
        """Columns that the files lack are read from the path itself."""
        try:
            texts = path_values(partition, self._configuration)
            fields = [self._schema.field(name) for name in texts if name in self._schema.names]
            values = {field.name: typed_value(texts[field.name], field, partition).as_py() for field in fields}
        except (HudiError, UnsupportedFeature):
            return {}
        return {name: exactly(value) for name, value in values.items()}

    def _texts(self, partition: str) -> dict[str, str | None]:
        """The text of each field, as far as every folder is surely one field's."""
        fields = self._configuration.partition_by
        if len(fields) > 1 and len(partition.split("/")) != len(fields):
            return {}
        named = self._named(partition, fields)
        # In a table that is not hive-styled a text may look so.
        hive = self._configuration.partitions.hive
        if (hive and len(named) < len(fields)) or (not hive and any(self._is_text(name) for name in named)):
            return {}
        try:
            return path_values(partition, self._configuration)
        except HudiError:
            return {}

    def _is_text(self, name: str) -> bool:
        return name in self._schema.names and bool(kinds.is_string(self._schema.field(name).type))

    def _named(self, partition: str, fields: tuple[str, ...]) -> set[str]:
        parts = partition.split("/") if len(fields) > 1 else [partition]
        return {name for part, name in zip(parts, fields, strict=True) if part.startswith(f"{name}=")}

    def _of_text(self, name: str, text: str | None) -> Facts:
        kind = self._schema.field(name).type
        if self._types[name] == "TIMESTAMP":
            return UNKNOWN if text is None else self._of_stamp(text, kind)
        if text is None or text == _OLD_DEFAULT:
            # Null and the empty text lie in the default partition, and so does its name as a text.
            is_text = kinds.is_string(kind)
            return Facts("", text or DEFAULT_PARTITION, unordered=False) if is_text else exactly(None)
        value = value_of_text(text, kind)
        return UNKNOWN if value is None else exactly(value)

    def _of_stamp(self, text: str, kind: pa.DataType) -> Facts:
        if self._stamps is None or not kinds.is_integer(kind):
            return UNKNOWN
        found = self._stamps.bounds(text)
        return UNKNOWN if found is None else Facts(*found, unordered=False)


def exactly(value: Any) -> Facts:
    """That every row has one value, or null."""
    return Facts(value, value, nulls=value is None, values=value is not None, unordered=value != value)  # noqa: PLR0124


def value_of_text(text: str, kind: pa.DataType) -> Any:
    """The one value of a type that is written like this, or None where there may be others, or none."""
    if kinds.is_string(kind):
        return text
    try:
        if kinds.is_integer(kind):
            number = int(text)
            return number if str(number) == text else None
        if kinds.is_date32(kind):
            day = dt.date.fromisoformat(text)
            return day if day.isoformat() == text else None
    except ValueError:
        return None
    return {"true": True, "false": False}.get(text) if kinds.is_boolean(kind) else None


def _field_types(configuration: TableConfiguration) -> dict[str, str]:
    """How each partition field became text, SIMPLE or TIMESTAMP; none where the generator is not known."""
    fields, generator = configuration.partition_by, configuration.key_generator
    if configuration.partitions.slashed:
        return {}
    if generator in _PLAIN:
        return dict.fromkeys(fields, "SIMPLE")
    if generator in ("TIMESTAMP", "TIMESTAMPBASED", "TIMESTAMP_AVRO"):
        return dict.fromkeys(fields, "TIMESTAMP")
    if generator in ("CUSTOM", "CUSTOM_AVRO"):
        listed = configuration.properties.get("hoodie.table.partition.fields", "").split(",")
        pairs = [part.strip().partition(":") for part in listed if part.strip()]
        named = {name: kind.upper() or "SIMPLE" for name, _, kind in pairs}
        return named if set(named.values()) <= {"SIMPLE", "TIMESTAMP"} else {}
    return {}


def by_column_stats(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The ranges of columns in the files of each slice."""
    names = sorted({column.name for column in columns_in(situation.query.condition)})
    if situation.metadata is None or not situation.has("column_stats"):
        return None
    stats = situation.metadata.column_stats(names, [key for one in slices for key in file_keys(one)])

    def source(one: FileSlice, column: Column) -> Facts:
        if column.function != "identity" or not situation.speaks_of(one, column):
            return UNKNOWN
        kind = situation.kind(column)
        return together(facts_of(stats.get(key, {}).get(column.name), kind) for key in file_keys(one))

    return source


def by_partition_stats(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The ranges of columns in whole partitions; they are those of the newest state.

    While a compaction is pending, writers have counted only the slices that it opened, without what these are joined
    with, and called the bounds tight.

    Clauses: MT-014, IX-051.
    """
    if situation.metadata is None or not situation.has("partition_stats") or not situation.query.latest:
        return None
    instants = situation.snapshot.timeline.instants
    if any(one.action == "compaction" and one.state != "COMPLETED" for one in instants):
        return None
    names = sorted({column.name for column in columns_in(situation.query.condition)})
    stats = situation.metadata.partition_stats(names, sorted({one.partition for one in slices}))

    def source(one: FileSlice, column: Column) -> Facts:
        if column.function != "identity" or not situation.speaks_of(one, column):
            return UNKNOWN
        kind = situation.kind(column)
        # Of a file with a not-a-number among floats released writers state zero as bounds, which no partition shows.
        return UNKNOWN if kinds.is_floating(kind) else facts_of(stats.get(one.partition, {}).get(column.name), kind)

    return source


def by_expression_stats(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The ranges of functions' results in the files of each slice, where an index has them.

    Clauses: IX-040, IX-041.
    """
    metadata = situation.metadata
    found = expression_indexes(situation, "column_stats")
    if metadata is None or not found:
        return None
    files = [key for one in slices for key in file_keys(one)]
    stats = {column: metadata.expression_stats(index, column.name, files) for column, index in found.items()}

    def source(one: FileSlice, column: Column) -> Facts:
        if column not in stats or not situation.speaks_of(one, column):
            return UNKNOWN
        kind = compared_type(column, situation.query.schema)
        return together(facts_of(stats[column].get(key), kind) for key in file_keys(one))

    return source


PARTITIONS: Final = "partitions"
PARTITION_STATS: Final = "partition_stats"
COLUMN_STATS: Final = "column_stats"
EXPRESSION_INDEX: Final = "expression_index"
RECORD_INDEX: Final = "record_index"
SECONDARY_INDEX: Final = "secondary_index"
BLOOM_FILTERS: Final = "bloom_filters"

_SKIPPING: Final = "hoodie.enable.data.skipping"
# Each is switched off where one of its options says false.
_SWITCHES: Final[Mapping[str, tuple[str, ...]]] = {
    PARTITIONS: ("hoodie.file.index.enable",),
    PARTITION_STATS: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.partition.stats.enable"),
    COLUMN_STATS: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.column.stats.enable"),
    EXPRESSION_INDEX: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.expression.enable"),
    RECORD_INDEX: (
        _SKIPPING,
        ENABLED_KEY,
        "hoodie.metadata.record.index.enable",
        "hoodie.metadata.global.record.level.index.enable",
        "hoodie.metadata.record.level.index.enable",
    ),
    SECONDARY_INDEX: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.secondary.enable"),
    BLOOM_FILTERS: (_SKIPPING, "hoodie.metadata.index.bloom.filter.enable"),
}
PRUNING_OPTIONS: Final = frozenset(option for options in _SWITCHES.values() for option in options)


# Releases leave some of these indexes without the rows from before they were created: they are used when requested.
_OFF_BY_DEFAULT: Final = frozenset({"hoodie.metadata.index.secondary.enable"})


def is_on(means: str, configs: Mapping[str, str]) -> bool:
    """Whether no option switches a means of pruning off."""
    states = (configs.get(option, "false" if option in _OFF_BY_DEFAULT else "true") for option in _SWITCHES[means])
    return all(state.strip().lower() != "false" for state in states)


@dataclass(frozen=True, slots=True)
class Count:
    """What one means left of the slices, and of their base and log files, that were there before it."""

    means: str
    slices_before: int
    slices_after: int
    files_before: int
    files_after: int

    def __str__(self) -> str:
        files = f"{self.files_before - self.files_after} of {self.files_before} files"
        return f"{self.means}: {self.slices_after} of {self.slices_before} slices left, {files} skipped"


@dataclass(frozen=True, slots=True)
class PartitionCount:
    """How many partitions there are, and how many of them their paths left."""

    before: int
    after: int
    means: str = PARTITIONS

    def __str__(self) -> str:
        return f"{self.means}: {self.after} of {self.before} left"


@dataclass(frozen=True, slots=True)
class Pruned:
    """The slices that are left to read, and what each means that had a say left out.

    Clauses: IX-051.
    """

    slices: tuple[FileSlice, ...]
    counts: tuple[PartitionCount | Count, ...] = ()

    def __str__(self) -> str:
        lines = [str(count) for count in self.counts]
        return "\n".join([*lines, f"{len(self.slices)} slices, {files_of(self.slices)} files to read"])


def files_of(slices: Sequence[FileSlice]) -> int:
    """How many files slices have."""
    return sum(len(one.log_files) + (one.base_file is not None) for one in slices)


def counted(means: str, before: Sequence[FileSlice], after: Sequence[FileSlice]) -> Count:
    """The count of one means."""
    return Count(means, len(before), len(after), files_of(before), files_of(after))


_Means = Callable[[Situation, Sequence[FileSlice]], Source | None]


def prune(storage: Storage, snapshot: Snapshot, origins: Origins, query: PruningQuery) -> Pruned:
    """The slices of a snapshot that a query has to read, and by what means the others were left out.

    What an index does not say, or says in files that do not parse, leaves slices in.

    Clauses: IX-051, IX-052, IX-054, IX-056.
    """
    left, sources, counts = snapshot.slices, list[Source](), list[PartitionCount | Count]()
    situation = Situation(storage, snapshot, origins, query, None, ())
    for name, found in _MEANS:
        # Where the record index says where keys live, bloom filters add nothing.
        answered = name == BLOOM_FILTERS and any(one.means == RECORD_INDEX for one in counts)
        looked_for = left or (name == PARTITIONS and snapshot.passed_over)
        if not looked_for or answered or not is_on(name, query.configs):
            continue
        if name != PARTITIONS and situation.metadata is None:
            situation = _with_metadata(situation)
        source = _source(found, situation, left)
        if source is None:
            continue
        # Each later means asks all before it again; what lists absent keys is large, and nothing asks it again.
        sources.append(source if name in _OF_KEYS else cache(source))
        kept = _kept(situation, sources, left, whole=name == PARTITIONS)
        counts.append(_partitions(snapshot, kept) if name == PARTITIONS else counted(name, left, kept))
        left = kept
    return Pruned(left, tuple(counts))


def partitions_left(
    storage: Storage, snapshot: Snapshot, origins: Origins, query: PruningQuery, partitions: frozenset[str]
) -> frozenset[str]:
    """The partitions that may hold a row for which the filter is true, by their paths.

    Clauses: IX-051, IX-056.
    """
    situation = Situation(storage, snapshot, origins, query, None, ())
    source = _source(_by_partitions, situation, ()) if is_on(PARTITIONS, query.configs) else None
    if source is None:
        return partitions
    slices = tuple(FileSlice(one, "", "", None, ()) for one in sorted(partitions))
    return frozenset(one.partition for one in _kept(situation, [source], slices, whole=False))


def _partitions(snapshot: Snapshot, kept: Sequence[FileSlice]) -> PartitionCount:
    before, after = (len({one.partition for one in each}) for each in (snapshot.slices, kept))
    return PartitionCount(before + snapshot.passed_over, after)


def _with_metadata(situation: Situation) -> Situation:
    configuration = situation.snapshot.configuration
    usable = flag(situation.query.configs, ENABLED_KEY, default=True)
    opened = None
    if usable:
        opened = MetadataTable.open(situation.storage, configuration, situation.snapshot.timeline)
    definitions = index_definitions(situation.storage, configuration) if opened is not None else ()
    return replace(situation, metadata=opened or _NO_INDEXES, definitions=definitions)


_NO_INDEXES: Final = MetadataTable({})


def _source(found: _Means, situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    try:
        return found(situation, slices)
    except (FormatError, UnsupportedFormat, HudiError, UnsupportedFeature, OSError):
        return None


def _kept(
    situation: Situation, sources: Sequence[Source], slices: Sequence[FileSlice], *, whole: bool
) -> tuple[FileSlice, ...]:
    """The slices that may hold a row; `whole`: what is known of one is known of all of its partition."""
    queried = tuple({one.partition: one for one in slices}.values()) if whole else slices
    known, query = _Known(situation, sources, queried), situation.query
    kept = tuple(one for one in queried if may_hold(query.condition, known.of(one), query.values_of))
    if not whole:
        return kept
    partitions = {one.partition for one in kept}
    return tuple(one for one in slices if one.partition in partitions)


class _Known:
    """All that the means so far know, together; of functions also what follows from their columns."""

    def __init__(self, situation: Situation, sources: Sequence[Source], slices: Sequence[FileSlice]) -> None:
        self._sources = sources
        columns = [one for one in columns_in(situation.query.condition) if one.function != "identity"]
        plain = {one: [self._gathered(each, Column(one.name)) for each in slices] for one in columns}
        derived = {one: derived_facts(one, facts, situation) for one, facts in plain.items()}
        self._derived = {one: dict(zip(slices, facts, strict=True)) for one, facts in derived.items()}

    def of(self, one: FileSlice) -> Callable[[Column], Facts]:
        """What is known of columns in a slice."""

        def know(column: Column) -> Facts:
            found = self._gathered(one, column)
            return _narrowed(found, self._derived[column][one]) if column in self._derived else found

        return know

    def _gathered(self, one: FileSlice, column: Column) -> Facts:
        found = UNKNOWN
        for source in self._sources:
            found = _narrowed(found, source(one, column))
        return found


def _narrowed(first: Facts, second: Facts) -> Facts:
    try:
        return first.narrowed(second)
    except TypeError:
        return first


def _by_partitions(situation: Situation, _: Sequence[FileSlice]) -> Source | None:
    """The values of partition columns, by the paths; a partial update that is read alone may leave one out.

    Clauses: IX-056, RD-019.
    """
    paths = PartitionPaths(situation.snapshot.configuration, situation.query.schema)
    known: dict[str, Mapping[str, Facts]] = {}

    def source(one: FileSlice, column: Column) -> Facts:
        if one.partition not in known:
            found = paths.facts(one.partition)
            known[one.partition] = _or_null(found) if situation.query.unmerged else found
        return known[one.partition].get(column.name, UNKNOWN) if column.function == "identity" else UNKNOWN

    return source if situation.snapshot.configuration.partition_by else None


def _or_null(known: Mapping[str, Facts]) -> dict[str, Facts]:
    return {name: replace(facts, nulls=True) for name, facts in known.items()}


def _by_expressions(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    found = [one for one in (by_expression_stats(situation, slices), by_expression_blooms(situation, slices)) if one]
    if not found:
        return None

    def source(one: FileSlice, column: Column) -> Facts:
        known = UNKNOWN
        for each in found:
            known = _narrowed(known, each(one, column))
        return known

    return source


_OF_KEYS: Final = frozenset({RECORD_INDEX, SECONDARY_INDEX, BLOOM_FILTERS})
_MEANS: Final[tuple[tuple[str, _Means], ...]] = (
    (PARTITIONS, _by_partitions),
    (PARTITION_STATS, by_partition_stats),
    (COLUMN_STATS, by_column_stats),
    (EXPRESSION_INDEX, _by_expressions),
    (RECORD_INDEX, by_record_index),
    (SECONDARY_INDEX, by_secondary_index),
    (BLOOM_FILTERS, by_bloom_filters),
)
