"""Leaves out the slices in which no row can make a query's filter true.

Clauses: IX-051.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hudi_adapter.filters import Column
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.metadata.listing import ENABLED_KEY
from hudi_spark.metadata.table import MetadataTable
from hudi_spark.pruning import means
from hudi_spark.pruning.derived import derived_facts
from hudi_spark.pruning.facts import UNKNOWN, Facts
from hudi_spark.pruning.file_statistics import by_column_stats, by_expression_stats, by_partition_stats
from hudi_spark.pruning.indexes import index_definitions
from hudi_spark.pruning.key_filters import by_bloom_filters, by_expression_blooms
from hudi_spark.pruning.means import Count, Pruned, counted, is_on
from hudi_spark.pruning.outcomes import may_hold
from hudi_spark.pruning.partition_paths import PartitionPaths
from hudi_spark.pruning.record_keys import by_record_index, by_secondary_index, literal
from hudi_spark.pruning.situation import Asked, Situation, Source, columns_in
from hudi_spark.schemas.origins import Origins
from hudi_spark.state.configuration import flag
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot

_Means = Callable[[Situation, Sequence[FileSlice]], Source | None]


def prune(storage: Storage, snapshot: Snapshot, origins: Origins, asked: Asked) -> Pruned:
    """The slices of a snapshot that a query has to read, and by what means the others were left out.

    What an index does not say, or says in files that do not parse, leaves slices in.

    Clauses: IX-051, IX-052, IX-054, IX-056.
    """
    left, sources, counts = snapshot.slices, list[Source](), list[Count]()
    situation = Situation(storage, snapshot, origins, asked, None, ())
    for name, found in _MEANS:
        if not left or not is_on(name, asked.configs):
            continue
        if name != means.PARTITIONS and situation.metadata is None:
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
    usable = flag(situation.asked.configs, ENABLED_KEY, default=True)
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
    return tuple(one for one in slices if may_hold(situation.asked.condition, known.of(one), value))


class _Known:
    """All that the means so far know, together; of functions also what follows from their columns."""

    def __init__(self, situation: Situation, sources: Sequence[Source], slices: Sequence[FileSlice]) -> None:
        self._sources = sources
        columns = [one for one in columns_in(situation.asked.condition) if one.function != "identity"]
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
    paths = PartitionPaths(situation.snapshot.configuration, situation.asked.schema)
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
    (means.PARTITIONS, _by_partitions),
    (means.PARTITION_STATS, by_partition_stats),
    (means.COLUMN_STATS, by_column_stats),
    (means.EXPRESSION_INDEX, _by_expressions),
    (means.RECORD_INDEX, by_record_index),
    (means.SECONDARY_INDEX, by_secondary_index),
    (means.BLOOM_FILTERS, by_bloom_filters),
)
