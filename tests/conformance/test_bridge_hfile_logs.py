"""The model sees the records of an HFile log block, or what stands for one that does not decode."""

import json
from pathlib import Path

from hudi_conformance.bridge.file_contents import load_log_file
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block
from hudi_format.log.hfiles import hfile_block
from hudi_format.names import LogFileName
from hudi_format.schemas import with_meta_fields
from hudi_format.storage import open_storage
from hudi_model.files import Damaged, DataBlock, Record
from hudi_model.rejection import Reason

INSTANT = "20250101000000010"
NAME = LogFileName("f1", INSTANT, 1, "0-1-0", False)
SCHEMA = with_meta_fields({"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]})


def blocks_of(folder: Path, data: bytes) -> tuple[DataBlock, ...]:
    (folder / str(NAME)).write_bytes(data)
    blocks = load_log_file(open_storage(folder), str(NAME), "", NAME).blocks
    assert not isinstance(blocks, Damaged)
    return tuple(block for block in blocks if isinstance(block, DataBlock))


def test_records_of_an_hfile_block_are_records_of_the_model(tmp_path: Path):
    empty = dict.fromkeys(field["name"] for field in SCHEMA["fields"])
    records = [{**empty, "_hoodie_record_key": key, "n": number} for key, number in (("b", 2), ("a", 1))]
    (block,) = blocks_of(tmp_path, hfile_block(INSTANT, records, SCHEMA))
    found = block.records
    assert isinstance(found, tuple)
    assert [(one.values["_hoodie_record_key"], one.values["n"]) for one in found] == [("a", 1), ("b", 2)]
    assert all(isinstance(one, Record) for one in found)


def test_an_hfile_block_that_does_not_decode_is_damaged_content(tmp_path: Path):
    header = {HeaderKey.INSTANT_TIME: INSTANT, HeaderKey.SCHEMA: json.dumps(SCHEMA)}
    (block,) = blocks_of(tmp_path, encode_block(BlockType.HFILE_DATA, header, b"no HFile"))
    assert isinstance(block.records, Damaged)
    assert (block.records.reason, block.records.clause) == (Reason.LOG_CONTENT_CORRUPT, "LF-013")
