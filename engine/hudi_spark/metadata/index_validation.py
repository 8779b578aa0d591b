"""Whether the indexes of a metadata table say what the data files and their rows say."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.hfile.blocks import Origin
from hudi_format.metadata.codec import decode_metadata_record, metadata_schema_text, reading_metadata_schema
from hudi_format.metadata.keys import bloom_filter_key
from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats, Content, MetadataRecord, RecordLocation
from hudi_format.metadata.wrapped_values import Wrapped, plain_value

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.metadata.column_stats import FileFacts, FileKey
from hudi_spark.metadata.expression_index import ExpressionIndex
from hudi_spark.metadata.file_groups import settled
from hudi_spark.metadata.index import ENTRIES, Keeping, NewIndex
from hudi_spark.metadata.layout import MetadataLayout
from hudi_spark.metadata.record_index import RecordIndex
from hudi_spark.metadata.secondary_index import SecondaryIndex
from hudi_spark.read import Flow, TaskIdentity
from hudi_spark.table_state import EVERYTHING, GroupReader, MetadataTable

FOUND: Final = pa.schema([("index", pa.string()), ("place", pa.string()), ("message", pa.string())])


@dataclass(frozen=True, slots=True)
class Claim:
    """What indexes say of a file; `filtered`: whether there is an index of bloom filters at all."""

    file: FileKey
    statistics: tuple[ColumnStats, ...]
    bloom: BloomFilterEntry | None
    filtered: bool


def statistics_of_files(metadata: MetadataTable) -> dict[str, tuple[ColumnStats, ...]]:
    """The statistics that the index of columns has, by file name.

    Clauses: MT-011.
    """
    index = metadata.indexes.get(Partition.COLUMN_STATS)
    found: dict[str, list[ColumnStats]] = {}
    for record in {} if index is None else index.records(EVERYTHING).values():
        if isinstance(record.content, ColumnStats):
            found.setdefault(record.content.file_name or "", []).append(record.content)
    return {name: tuple(each) for name, each in found.items()}


def claim_of(file: FileKey, statistics: tuple[ColumnStats, ...], filters: Mapping[str, MetadataRecord] | None) -> Claim:
    """What indexes say of one file."""
    record = (filters or {}).get(bloom_filter_key(*file))
    bloom = record.content if record is not None and isinstance(record.content, BloomFilterEntry) else None
    return Claim(file, statistics, bloom, filters is not None)


def compared(claims: Iterable[Claim], identity: TaskIdentity, facts: FileFacts) -> pa.Table:
    """The findings of some files: what a task returns."""
    del identity
    rows = [(*one,) for claim in claims for one in _findings(claim, facts)]
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table([pa.array(list(column), pa.string()) for column in columns], FOUND)


def _findings(claim: Claim, facts: FileFacts) -> Iterator[tuple[str, str, str]]:
    _, name = claim.file
    if claim.statistics:
        true = {one.column_name: one for one in facts.statistics(claim.file)}
        for one in claim.statistics:
            why = _statistics_fault(one, true[one.column_name]) if one.column_name in true else None
            if why is not None:
                yield Partition.COLUMN_STATS, f"{name} {one.column_name}", why
    if claim.filtered:
        stored = facts.bloom_filter(claim.file)
        text, expected_text = (None if one is None else one.text for one in (stored, claim.bloom))
        if text != expected_text:
            missing = (
                "there is no filter of the file" if expected_text is None else "the filter is not that of the file"
            )
            yield Partition.BLOOM_FILTERS, name, missing


def _statistics_fault(claimed: ColumnStats, true: ColumnStats) -> str | None:
    """Why statistics are not those of the file, or None."""
    counts = (claimed.value_count, claimed.null_count)
    if counts != (true.value_count, true.null_count):
        return f"{counts} values and nulls are claimed, there are {(true.value_count, true.null_count)}"
    return unbounded(claimed, true)


def unbounded(claimed: ColumnStats, true: ColumnStats) -> str | None:
    """Why claimed bounds do not hold for a file's values, or None; absent ones claim nothing.

    Clauses: MT-011, MT-014, MT-023.
    """
    for bound, value, least in ((claimed.minimum, true.minimum, True), (claimed.maximum, true.maximum, False)):
        if bound is None or value is None:
            continue
        outer, inner = _order_of_bound(bound, claimed), _order_of_bound(value, true)
        if type(outer[1]) is not type(inner[1]):
            return f"{bound} is of another kind than {value}"
        if (inner < outer) if least else (inner > outer):
            return f"{bound.value!r:.80} does not bound {value.value!r:.80}"
    return None


def _order_of_bound(bound: Wrapped, of: ColumnStats) -> tuple[bool, Any]:
    """A bound among others of its column; floating point numbers in the order that has not-a-number above all."""
    value = plain_value(bound, of.value_type)
    if isinstance(value, float) and math.isnan(value):
        return True, 0.0
    return False, value


def expression_differences(keeping: Keeping) -> Iterator[tuple[str, str, str]]:
    """Index, place and message of what expression indexes claim and the files do not give; absent claims are none.

    `keeping` is of the table as it is, with its metadata table. The files are read by tasks, a job an index.

    Clauses: IX-040, IX-042, MT-005.
    """
    for name, index in ({} if keeping.metadata is None else keeping.metadata.indexes).items():
        if not (is_expression_index(name) and name in keeping.definitions):
            continue
        stored = index.records(EVERYTHING)
        for true in _expected_expressions(keeping, name):
            claimed = stored.get(true.key)
            why = None if claimed is None else _expression_fault(claimed.content, true.content)
            if why is not None:
                yield name, _key_of_expression(true.content, true.key), why


def _expected_expressions(keeping: Keeping, name: str) -> Iterator[MetadataRecord]:
    """The records that an index would begin with now; none where its function is not built here."""
    try:
        new: NewIndex = ExpressionIndex().begin(keeping, name)
    except UnsupportedFeature:
        return
    yield from new.content.records
    if new.content.entries is not None:
        rows, origin = new.content.entries.gathered(), Origin(name)
        release = MetadataLayout(keeping.state.configuration.version).release
        schema = reading_metadata_schema(metadata_schema_text(release), origin)
        for key, value in zip(rows.column("key").to_pylist(), rows.column("value").to_pylist(), strict=True):
            yield decode_metadata_record(key.encode(), value, schema, origin)


def _expression_fault(claimed: Content, true: Content) -> str | None:
    if isinstance(claimed, ColumnStats) and isinstance(true, ColumnStats):
        return unbounded(claimed, true)
    if isinstance(claimed, BloomFilterEntry) and isinstance(true, BloomFilterEntry) and _denies(claimed, true):
        return "the filter is not that of the file"
    return None


def _denies(claimed: BloomFilterEntry, true: BloomFilterEntry) -> bool:
    """Whether a filter lacks bits of the results; filters of another size are made otherwise and cannot be compared.

    Clauses: IX-010, IX-040.
    """
    found, wanted = (decode_bloom_filter(one.text.decode("latin-1"), one.type_code, "") for one in (claimed, true))
    if (found.hashes, found.bits, len(found.rows)) != (wanted.hashes, wanted.bits, len(wanted.rows)):
        return False
    pairs = zip(b"".join(found.rows), b"".join(wanted.rows), strict=True)
    return any(needed & ~there for there, needed in pairs)


def _key_of_expression(content: Content, key: str) -> str:
    return content.file_name or key if isinstance(content, ColumnStats) else key


# Of a group that is wrong altogether, so many tell enough.
_MOST_A_GROUP: Final = 20


def record_differences(keeping: Keeping) -> pa.Table:
    """What the record index and secondary indexes say that rows do not, and the other way round: `FOUND`.

    `keeping` is of the table as it is, with its metadata table.

    Clauses: IX-020, IX-021, IX-031.
    """
    found = [FOUND.empty_table()]
    for name, index in ({} if keeping.metadata is None else keeping.metadata.indexes).items():
        expected = _expected_locations(keeping, name)
        if expected is not None:
            groups = {one.slice.file_id: one for one in index.groups}
            work = _Comparing(name, groups, MetadataLayout(keeping.state.configuration.version).release)
            opening = pa.table([list(groups), [None] * len(groups), [None] * len(groups)], schema=ENTRIES)
            every = expected.together(keeping.executor.rows(opening)).shuffled(["file_id"])
            found.append(every.map(work, FOUND).gathered())
    return pa.concat_tables(found)


def _expected_locations(keeping: Keeping, name: str) -> Flow | None:
    file_ids = keeping.groups.get(name, ())
    if name == Partition.RECORD_INDEX:
        return RecordIndex().expected(keeping, file_ids)
    definition = keeping.definitions.get(name)
    if definition is None or not is_secondary_index(name):
        return None
    return SecondaryIndex().expected(keeping, file_ids, definition)


@dataclass(frozen=True, slots=True)
class _Comparing:
    """Compares what groups hold with what they should: what tasks run."""

    index: str
    groups: Mapping[str, GroupReader] = field(hash=False)
    release: SchemaRelease

    def __call__(self, entries: pa.Table, _: TaskIdentity) -> pa.Table:
        """A line for each difference; a row without key stands for a group that should hold nothing else."""
        lines = [
            (self.index, key, message)
            for file_id in sorted(set(entries.column("file_id").to_pylist()))
            for key, message in self._of_group(file_id, entries.filter(pc.equal(entries["file_id"], file_id)))
        ]
        return pa.table([list(one) for one in zip(*lines, strict=True)] or [[], [], []], schema=FOUND)

    def _of_group(self, file_id: str, entries: pa.Table) -> Iterator[tuple[str, str]]:
        entries = entries.filter(entries["key"].is_valid())
        wanted, repeated = self._wanted(entries), self._places_of_repeated(entries)
        stored = self.groups[file_id].records(EVERYTHING)
        wrong = dict.fromkeys(stored.keys() - wanted.keys(), "no row has it")
        wrong |= dict.fromkeys(wanted.keys() - stored.keys(), "a row has it and the index has not")
        for key in wanted.keys() & stored.keys():
            stored_location, so = _location_of(stored[key]), _location_of(wanted[key])
            if stored_location != so and stored_location not in repeated.get(key, ()):
                wrong[key] = f"the index says {stored_location}, the row is in {so}"
        yield from sorted(wrong.items())[:_MOST_A_GROUP]

    def _places_of_repeated(self, entries: pa.Table) -> dict[str, set[tuple[str, str]]]:
        """All places of the keys that inserts left in several: the index knows any one of them."""
        counted = entries.group_by("key").aggregate([("value", "count_distinct")])
        repeated = counted.filter(pc.greater(counted["value_count_distinct"], 1))["key"]
        origin = Origin(self.index)
        schema = reading_metadata_schema(metadata_schema_text(self.release), origin)
        places: dict[str, set[tuple[str, str]]] = {}
        for row in entries.filter(pc.is_in(entries["key"], repeated.combine_chunks())).to_pylist():
            places.setdefault(row["key"], set()).add(
                _location_of(decode_metadata_record(b"", row["value"], schema, origin))
            )
        return places

    def _wanted(self, entries: pa.Table) -> dict[str, MetadataRecord]:
        """The records that should be there; most have the bytes of others."""
        origin = Origin(self.index)
        schema = reading_metadata_schema(metadata_schema_text(self.release), origin)
        rows = settled(entries)
        values = rows.column("value").combine_chunks().dictionary_encode()
        known = [decode_metadata_record(b"", one, schema, origin) for one in values.dictionary.to_pylist()]
        return {
            key: known[at] for key, at in zip(rows.column("key").to_pylist(), values.indices.to_pylist(), strict=True)
        }


def _location_of(record: MetadataRecord) -> tuple[str, str]:
    content = record.content
    return (content.partition, content.file_id) if isinstance(content, RecordLocation) else ("", "")
