"""The bytes that Apache Hudi wrote: every file is read, and what has one form is written back the same."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.avro.files import read_container
from hudi_format.base.bloom_filters import build_bloom_filter, decode_bloom_filter, encode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, base_file_footer, read_base_file
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import HFile, open_hfile
from hudi_format.hfile.writer import write_hfile
from hudi_format.log.blocks import BlockType, CorruptBlock, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import (
    decode_avro_arrow,
    decode_avro_records,
    decode_command,
    decode_records,
    encode_avro_records,
)
from hudi_format.log.deletes import decode_deletes, encode_deletes
from hudi_format.names import (
    BaseFileName,
    LogFileName,
    is_checksum_side_file,
    parse_data_file_name,
    parse_timeline_file_name,
    timeline_file_name,
)
from hudi_format.storage import Storage, open_storage
from hudi_format.table.properties import check_checksum, parse_properties, serialise_properties
from hudi_format.timeline import plans
from hudi_format.timeline.commit_metadata import parse_commit_metadata, serialise_avro, serialise_json

GOLDEN = unpacked_corpus()
BASES = sorted(path / "table" for path in GOLDEN.glob("v*/apache_*"))
FORMS = {form.schema["name"]: form for form in vars(plans).values() if isinstance(form, plans.PlanForm)}
NAMES = {open_storage(base).base: f"{base.parent.parent.name}/{base.parent.name}" for base in BASES}
"""By the folder of its files, which is named after their digests."""
PROPERTIES = ".hoodie/hoodie.properties"
KRYO = 2
OWN_FOLDERS = (".hoodie/metadata", ".hoodie/archived", ".hoodie/timeline/history")


def each_table(test: Callable[[Storage], None]) -> Callable[[Storage], None]:
    return pytest.mark.parametrize("storage", [open_storage(base) for base in BASES], ids=lambda one: NAMES[one.base])(
        test
    )


def test_the_corpus_holds_tables_of_every_version():
    assert {base.parent.parent.name for base in BASES} >= {"v6", "v8", "v9"}


@each_table
def test_properties_are_read_and_written_line_by_line(storage: Storage):
    data = storage.read(PROPERTIES)
    properties = parse_properties(data, PROPERTIES)
    check_checksum(properties, PROPERTIES)
    entries = sorted(line for line in data.decode().splitlines() if not line.startswith("#"))
    assert sorted(serialise_properties(properties).decode().splitlines()) == entries


def timeline_files(storage: Storage) -> list[tuple[str, str, bytes]]:
    layout = parse_properties(storage.read(PROPERTIES), PROPERTIES).get("hoodie.timeline.layout.version", "1")
    folder = ".hoodie/timeline" if layout == "2" else ".hoodie"
    files = storage.list_files(folder, recursive=False)
    return [(layout, file.path, storage.read(file.path)) for file in files]


@each_table
def test_timeline_names_are_read_and_written(storage: Storage):
    for layout, path, _ in timeline_files(storage):
        name = path.rpartition("/")[2]
        parsed = parse_timeline_file_name(name, 2 if layout == "2" else 1)
        if parsed is None:
            assert name.startswith("hoodie.properties")
        else:
            assert timeline_file_name(parsed, 2 if layout == "2" else 1) == name


@each_table
def test_completed_commits_in_json_are_written_back_byte_for_byte(storage: Storage):
    for _, path, data in timeline_files(storage):
        if data.startswith(b"{") and path.endswith("commit") and b'"numUpdates"' not in data and b'"cdcStats"' in data:
            assert serialise_json(parse_commit_metadata(data, path)) == data


@each_table
def test_json_before_version_six_loses_nothing_but_its_sums(storage: Storage):
    for _, path, data in timeline_files(storage):
        if data.startswith(b"{") and path.endswith("commit"):
            metadata = parse_commit_metadata(data, path)
            assert parse_commit_metadata(serialise_json(metadata), path) == metadata
            stats = json.loads(data)["partitionToWriteStats"].values()
            assert [one.path for one in metadata.write_stats] == [one["path"] for filed in stats for one in filed]


@each_table
def test_containers_are_written_back_with_the_same_record(storage: Storage):
    for _, path, data in timeline_files(storage):
        if not data.startswith(b"Obj"):
            continue
        schema, records = read_container(data, path)
        if schema["name"] in FORMS:
            form = FORMS[schema["name"]]
            again = form.serialise(form.parse(data, path))
        else:
            again = serialise_avro(parse_commit_metadata(data, path), replace="Replace" in schema["name"])
        written = read_container(again, path)[1]
        assert _filed(written) == _filed(records)


def _filed(records: list[dict[str, object]]) -> object:
    """Records as JSON without what older schemas lack and without the partition that stats in flight leave out."""

    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items() if item is not None and key != "partitionPath"}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean(records)


def data_files(storage: Storage) -> list[tuple[str, BaseFileName | LogFileName]]:
    files = [file.path for file in storage.list_files(skip=(".hoodie",))]
    named = [(path, parse_data_file_name(path.rpartition("/")[2])) for path in files]
    foreign = [path.rpartition("/")[2] for path, name in named if name is None]
    assert all(name.startswith(".hoodie_partition_metadata") or is_checksum_side_file(name) for name in foreign)
    return [(path, name) for path, name in named if name is not None]


@each_table
def test_base_files_are_read_and_their_filters_rebuilt_bit_for_bit(storage: Storage):
    for path, name in data_files(storage):
        if not isinstance(name, BaseFileName):
            continue
        footer, table = base_file_footer(storage, path), read_base_file(storage, path)
        assert table.num_rows == footer.rows
        if BLOOM_FILTER_KEY in footer.keys:
            text = footer.keys[BLOOM_FILTER_KEY]
            bloom = decode_bloom_filter(text, footer.keys[BLOOM_TYPE_KEY], path)
            keys = table.column("_hoodie_record_key").to_pylist()
            assert encode_bloom_filter(build_bloom_filter(keys, bloom.keys_a_row or 1)) == text


@each_table
def test_log_files_are_read_and_their_content_written_back_byte_for_byte(storage: Storage):
    for path, name in data_files(storage):
        if isinstance(name, LogFileName):
            for block in read_blocks(storage.read(path), path):
                if isinstance(block, CorruptBlock):
                    assert "torn" in NAMES[storage.base] or "garbage" in NAMES[storage.base]
                else:
                    _check_block(block, path)


def _check_block(block: RawBlock, path: str) -> None:
    (again,) = read_blocks(encode_block(block.type, block.header, block.content), path)
    assert isinstance(again, RawBlock)
    assert (again.header, again.content, again.length) == (block.header, block.content, block.length)
    if block.type is BlockType.AVRO_DATA:
        records = decode_avro_records(block, path)
        # Writers before version 6 number the same content 2.
        assert encode_avro_records(records, json.loads(block.header[HeaderKey.SCHEMA]))[4:] == block.content[4:]
        assert decode_avro_arrow(block, path).num_rows == len(records)
    elif block.type is BlockType.DELETE:
        deletes = decode_deletes(block, path)
        assert deletes if block.content[3] == KRYO else encode_deletes(deletes) == block.content
    elif block.type is BlockType.COMMAND:
        assert decode_command(block, path).target


def files_below(pattern: str) -> list[Path]:
    return sorted(path for base in BASES for path in base.glob(pattern))


def hfile_blocks(path: Path) -> list[RawBlock]:
    blocks = read_blocks(path.read_bytes(), path.name)
    return [block for block in blocks if isinstance(block, RawBlock) and block.type is BlockType.HFILE_DATA]


def opened_hfile(data: bytes, path: Path, block: RawBlock | None = None) -> tuple[str, HFile, RawBlock | None]:
    return path.name, open_hfile(data, Origin(path.name)), block


CELL_OF_HBASE = b"\x00\x7f\xff\xff\xff\xff\xff\xff\xff\x04"
LOGS = files_below(".hoodie/metadata/**/.*.log.*")
# Every HFile in the corpus: base files, and the blocks of logs.
HFILES = [opened_hfile(path.read_bytes(), path) for path in files_below(".hoodie/**/*.hfile")]
HFILES += [opened_hfile(block.content, path, block) for path in LOGS for block in hfile_blocks(path)]
each_hfile = pytest.mark.parametrize(
    ("name", "opened", "block"), HFILES, ids=[f"{index}-{name}" for index, (name, _, _) in enumerate(HFILES)]
)


def test_the_corpus_holds_hfiles_of_both_kinds():
    assert {block is None for _, _, block in HFILES} == {True, False}


@each_hfile
def test_hfiles_are_read_whole_and_by_key(name: str, opened: HFile, block: RawBlock | None):
    entries = list(opened.entries())
    assert len(entries) == opened.trailer.entry_count
    assert [opened.lookup(key) for key, _ in entries] == [value for _, value in entries]
    assert opened.lookup(b"\xff") is None
    assert (opened.meta_block("bloomFilter") is None) == (block is not None), name


@each_hfile
def test_hfiles_are_written_back_with_the_same_content(name: str, opened: HFile, block: RawBlock | None):
    """Gzip's level, the time of creation and the order of names are the writer's own; the rest is the same.

    Of releases before 1.1, which wrote by HBase, keys are cells: what is the same are the entries. So it is where 1.1.1
    gives another key than the last as the last one (v9/apache_cow_created_indexes).
    """
    entries = list(opened.entries())
    metas = {} if block else {"bloomFilter": opened.meta_block("bloomFilter") or b""}
    again = open_hfile(write_hfile(entries, opened.info, metas), Origin(name))
    assert list(again.entries()) == entries
    by_hbase = opened.info["hfile.LASTKEY"].endswith(CELL_OF_HBASE)
    if by_hbase or (len(opened.rows) > 1 and opened.rows[-1] != entries[-1][0]):
        return
    assert again.rows == opened.rows
    assert {key: value for key, value in again.info.items() if "CREATE" not in key} == {
        key: value for key, value in opened.info.items() if "CREATE" not in key
    }
    assert (again.trailer.unpacked_bytes, again.meta_block("bloomFilter")) == (
        opened.trailer.unpacked_bytes,
        opened.meta_block("bloomFilter"),
    )


@pytest.mark.parametrize("block", [block for _, _, block in HFILES if block is not None])
def test_the_records_of_metadata_logs_have_the_keys_of_their_hfiles(block: RawBlock):
    """On disk the field is empty; the HFile holds the key."""
    keys = [key.decode() for key, _ in open_hfile(block.content, Origin("f")).entries()]
    assert [record["key"] for record in decode_records(block, "f")] == keys
