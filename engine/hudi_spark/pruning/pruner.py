"""Leaves out the slices in which no row can make a query's filter true, and says by what means.

Clauses: IX-053, IX-054, MT-011, MT-014, IX-051.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.filters import Column, compared_type
from hudi_spark.pruning.facts import UNKNOWN, Facts, facts_of, may_hold, together
from hudi_spark.pruning.keys import by_bloom_filters, by_expression_blooms, by_record_index, by_secondary_index, literal
from hudi_spark.pruning.partition_paths import PartitionPaths
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
from hudi_spark.schema import Origins
from hudi_spark.table_state import ENABLED_KEY, FileSlice, MetadataTable, Snapshot, flag


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
        return facts_of(stats.get(one.partition, {}).get(column.name), situation.kind(column))

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
class Pruned:
    """The slices that are left to read, and what each means that had a say left out.

    Clauses: IX-051.
    """

    slices: tuple[FileSlice, ...]
    counts: tuple[Count, ...] = ()

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
    left, sources, counts = snapshot.slices, list[Source](), list[Count]()
    situation = Situation(storage, snapshot, origins, query, None, ())
    for name, found in _MEANS:
        if not left or not is_on(name, query.configs):
            continue
        if name != PARTITIONS and situation.metadata is None:
            situation = _with_metadata(situation)
        source = _source(found, situation, left)
        if source is None:
            continue
        sources.append(source)
        kept = _kept(situation, sources, left)
        counts.append(counted(name, left, kept))
        left = kept
    return Pruned(left, tuple(counts))


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


def _kept(situation: Situation, sources: Sequence[Source], slices: Sequence[FileSlice]) -> tuple[FileSlice, ...]:
    known, value = _Known(situation, sources, slices), literal(situation)
    return tuple(one for one in slices if may_hold(situation.query.condition, known.of(one), value))


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
    """The values of partition columns, by the paths.

    Clauses: IX-056.
    """
    paths = PartitionPaths(situation.snapshot.configuration, situation.query.schema)
    known: dict[str, Mapping[str, Facts]] = {}

    def source(one: FileSlice, column: Column) -> Facts:
        if one.partition not in known:
            known[one.partition] = paths.facts(one.partition)
        return known[one.partition].get(column.name, UNKNOWN) if column.function == "identity" else UNKNOWN

    return source if situation.snapshot.configuration.partition_by else None


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


_MEANS: Final[tuple[tuple[str, _Means], ...]] = (
    (PARTITIONS, _by_partitions),
    (PARTITION_STATS, by_partition_stats),
    (COLUMN_STATS, by_column_stats),
    (EXPRESSION_INDEX, _by_expressions),
    (RECORD_INDEX, by_record_index),
    (SECONDARY_INDEX, by_secondary_index),
    (BLOOM_FILTERS, by_bloom_filters),
)
