"""Whether indexes of records say what rows say: a job for each, which compares group by group in tasks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hfile.blocks import Origin
from hudi_format.metadata.codec import decode_metadata_record, metadata_schema_text, reading_metadata_schema
from hudi_format.metadata.partitions import Partition, is_secondary_index
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import MetadataRecord, RecordLocation

from hudi_spark.flows.flow import Flow, TaskIdentity
from hudi_spark.indexing.comparing import FOUND
from hudi_spark.indexing.entries import settled
from hudi_spark.indexing.index import ENTRIES, Keeping
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.indexing.record_index import RecordIndex
from hudi_spark.indexing.secondary_index import SecondaryIndex
from hudi_spark.metadata.group_reading import EVERYTHING, GroupReader

# Of a group that is wrong altogether, so many tell enough.
_MOST_A_GROUP: Final = 20


def record_differences(keeping: Keeping) -> pa.Table:
    """What the record index and secondary indexes say that rows do not, and the other way round: `FOUND`.

    `keeping` is of the table as it is, with its metadata table.

    Clauses: IX-020, IX-021, IX-031.
    """
    found = [FOUND.empty_table()]
    for name, index in ({} if keeping.metadata is None else keeping.metadata.indexes).items():
        expected = _expected(keeping, name)
        if expected is not None:
            groups = {one.slice.file_id: one for one in index.groups}
            work = _Comparing(name, groups, MetadataLayout(keeping.state.configuration.version).release)
            opening = pa.table([list(groups), [None] * len(groups), [None] * len(groups)], schema=ENTRIES)
            every = expected.together(keeping.executor.rows(opening)).shuffled(["file_id"])
            found.append(every.map(work, FOUND).gathered())
    return pa.concat_tables(found)


def _expected(keeping: Keeping, name: str) -> Flow | None:
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
            said, so = _place(stored[key]), _place(wanted[key])
            if said != so and said not in repeated.get(key, ()):
                wrong[key] = f"the index says {said}, the row is in {so}"
        yield from sorted(wrong.items())[:_MOST_A_GROUP]

    def _places_of_repeated(self, entries: pa.Table) -> dict[str, set[tuple[str, str]]]:
        """All places of the keys that inserts left in several: the index knows any one of them."""
        counted = entries.group_by("key").aggregate([("value", "count_distinct")])
        repeated = counted.filter(pc.greater(counted["value_count_distinct"], 1))["key"]
        origin = Origin(self.index)
        schema = reading_metadata_schema(metadata_schema_text(self.release), origin)
        places: dict[str, set[tuple[str, str]]] = {}
        for row in entries.filter(pc.is_in(entries["key"], repeated.combine_chunks())).to_pylist():
            places.setdefault(row["key"], set()).add(_place(decode_metadata_record(b"", row["value"], schema, origin)))
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


def _place(record: MetadataRecord) -> tuple[str, str]:
    content = record.content
    return (content.partition, content.file_id) if isinstance(content, RecordLocation) else ("", "")
