"""Whether expression indexes say what their function gives of the files that are read now."""

from collections.abc import Iterator

from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.hfile.blocks import Origin
from hudi_format.metadata.codec import decode_metadata_record, metadata_schema_text, reading_metadata_schema
from hudi_format.metadata.partitions import is_expression_index
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats, Content, MetadataRecord

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.indexing.comparing import unbounded
from hudi_spark.indexing.expression_index import ExpressionIndex
from hudi_spark.indexing.index import Keeping, NewIndex
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.metadata.group_reading import EVERYTHING


def expression_differences(keeping: Keeping) -> Iterator[tuple[str, str, str]]:
    """Index, place and message of what expression indexes claim and the files do not give; absent claims are none.

    `keeping` is of the table as it is, with its metadata table. The files are read by tasks, a job an index.

    Clauses: IX-040, IX-042, MT-005.
    """
    for name, index in ({} if keeping.metadata is None else keeping.metadata.indexes).items():
        if not (is_expression_index(name) and name in keeping.definitions):
            continue
        stored = index.records(EVERYTHING)
        for true in _expected(keeping, name):
            claimed = stored.get(true.key)
            why = None if claimed is None else _wrong(claimed.content, true.content)
            if why is not None:
                yield name, _place(true.content, true.key), why


def _expected(keeping: Keeping, name: str) -> Iterator[MetadataRecord]:
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


def _wrong(claimed: Content, true: Content) -> str | None:
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


def _place(content: Content, key: str) -> str:
    return content.file_name or key if isinstance(content, ColumnStats) else key
