"""What indexes claim of single files, compared with the files by tasks."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hudi_format.metadata.keys import bloom_filter_key
from hudi_format.metadata.partitions import Partition
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats, MetadataRecord
from hudi_format.metadata.wrapped_values import Wrapped, plain_value

from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.file_facts import FileFacts, FileKey
from hudi_spark.metadata.group_reading import EVERYTHING
from hudi_spark.metadata.table import MetadataTable

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
            why = _wrong(one, true[one.column_name]) if one.column_name in true else None
            if why is not None:
                yield Partition.COLUMN_STATS, f"{name} {one.column_name}", why
    if claim.filtered:
        stored = facts.bloom_filter(claim.file)
        text, told = (None if one is None else one.text for one in (stored, claim.bloom))
        if text != told:
            missing = "there is no filter of the file" if told is None else "the filter is not that of the file"
            yield Partition.BLOOM_FILTERS, name, missing


def _wrong(claimed: ColumnStats, true: ColumnStats) -> str | None:
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
        outer, inner = _place(bound, claimed), _place(value, true)
        if type(outer[1]) is not type(inner[1]):
            return f"{bound} is of another kind than {value}"
        if (inner < outer) if least else (inner > outer):
            return f"{bound.value!r:.80} does not bound {value.value!r:.80}"
    return None


def _place(bound: Wrapped, of: ColumnStats) -> tuple[bool, Any]:
    """A bound among others of its column; floating point numbers in the order that has not-a-number above all."""
    value = plain_value(bound, of.value_type)
    if isinstance(value, float) and math.isnan(value):
        return True, 0.0
    return False, value
