"""Another implementation reads the metadata tables that this package writes."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import open_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.metadata.codec import decode_metadata_record, reading_metadata_schema
from hudi_format.metadata.files import decode_metadata_block, metadata_base_file, metadata_block

GOLDEN = unpacked_corpus()
# Those of older versions, and those with an empty property of partition fields, it does not list by (page of peers).
TABLES = sorted(GOLDEN / "v9" / name / "table" for name in ("apache_cow_cleaned", "apache_mor_metadata_table"))


def rewritten_base(data: bytes, file: str) -> bytes:
    opened = open_hfile(data, Origin(file))
    schema = reading_metadata_schema(opened.info["schema"].decode(), opened.origin)
    return metadata_base_file([decode_metadata_record(*entry, schema, opened.origin) for entry in opened.entries()])


def rewritten_log(data: bytes, file: str) -> bytes:
    parts = []
    for block in read_blocks(data, file):
        assert isinstance(block, RawBlock)
        if block.type is BlockType.HFILE_DATA:
            parts.append(metadata_block(block.header[HeaderKey.INSTANT_TIME], decode_metadata_block(block, file)))
        else:
            parts.append(encode_block(block.type, block.header, block.content))
    return b"".join(parts)


def slices(table: Path) -> Any:
    from hudi import HudiTableBuilder  # noqa: PLC0415 - the peer is loaded where a test requests it

    opened = HudiTableBuilder.from_base_uri(str(table)).with_option("hoodie.metadata.enable", "true").build()
    found = opened.get_file_slices()
    return sorted((one.partition_path, one.base_file_relative_path()) for one in found)


@pytest.mark.peers
@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.parent.name)
def test_hudi_rs_lists_files_by_a_metadata_table_written_anew(table: Path, tmp_path: Path):
    """Every base file and log block is this package's; damaged, they are missed, so they are what is read."""
    copy = Path(shutil.copytree(table, tmp_path / "table"))
    files = [path for path in (copy / ".hoodie" / "metadata" / "files").iterdir() if "files-0000-0" in path.name]
    for path in files:
        rewrite = rewritten_base if path.suffix == ".hfile" else rewritten_log
        path.write_bytes(rewrite(path.read_bytes(), path.name))
    assert slices(copy) == slices(table) != []
    for path in files:
        path.write_bytes(b"x")
    with pytest.raises(Exception, match="Failed to read base file"):
        slices(copy)
