"""The bootstrap index: entries by file id, and what is no such index."""

from contextlib import suppress
from typing import Any

import pytest
from hudi_format.avro.files import write_container
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile.writer import write_hfile
from hudi_format.table.bootstrap_index import BootstrappedFile, parse_bootstrap_index
from hypothesis import given
from hypothesis import strategies as st

PATH = {"type": "record", "name": "HoodiePath", "fields": [{"name": "uri", "type": ["null", "string"]}]}
STATUS = {
    "type": "record",
    "name": "HoodieFileStatus",
    "fields": [
        {"name": "path", "type": ["null", PATH]},
        {"name": "length", "type": ["null", "long"]},
        {"name": "isDir", "type": ["null", "boolean"]},
    ],
}
SCHEMA = {
    "type": "record",
    "name": "HoodieBootstrapFilePartitionInfo",
    "namespace": "org.apache.hudi.avro.model",
    "fields": [
        {"name": "version", "type": ["int", "null"]},
        {"name": "bootstrapPartitionPath", "type": ["null", "string"]},
        {"name": "bootstrapFileStatus", "type": ["null", STATUS]},
        {"name": "partitionPath", "type": ["null", "string"]},
    ],
}
STORED = {"path": {"uri": "file:/s/p=1/a.parquet"}, "length": 7, "isDir": False}
RECORD: dict[str, Any] = {
    "version": None,
    "bootstrapPartitionPath": "p=1",
    "bootstrapFileStatus": STORED,
    "partitionPath": "p=1",
}


def index(*entries: tuple[bytes, dict[str, Any]]) -> bytes:
    return write_hfile([(key, write_container(SCHEMA, [record])) for key, record in entries], {})


def test_each_entry_names_the_group_and_the_file_with_its_data() -> None:
    found = parse_bootstrap_index(
        index((b"part=;fileid=f0", RECORD), (b"part=a;fileid=b=\xc3\xbc;fileid=f1", RECORD)), "a file"
    )
    assert found == (
        BootstrappedFile("", "f0", "p=1", "file:/s/p=1/a.parquet", 7),
        BootstrappedFile("a;fileid=b=ü", "f1", "p=1", "file:/s/p=1/a.parquet", 7),
    )


@pytest.mark.parametrize(
    ("key", "change"),
    [
        (b"part=p", {}),
        (b"p;fileid=f1", {}),
        (b"part=p;fileid=", {}),
        (b"part=\xff;fileid=f1", {}),
        (b"part=p;fileid=f1", {"bootstrapFileStatus": None}),
        (b"part=p;fileid=f1", {"bootstrapPartitionPath": None}),
        (b"part=p;fileid=f1", {"bootstrapFileStatus": {**STORED, "path": None}}),
        (b"part=p;fileid=f1", {"bootstrapFileStatus": {**STORED, "path": {"uri": None}}}),
    ],
)
def test_an_entry_without_group_or_file_is_refused(key: bytes, change: dict[str, Any]) -> None:
    with pytest.raises(FormatError) as caught:
        parse_bootstrap_index(index((key, {**RECORD, **change})), "a file")
    assert (caught.value.reason, caught.value.clause) == (Reason.BASE_FILE_CORRUPT, "BF-012")


@given(st.data())
def test_damage_is_a_typed_error_or_not_seen(data: Any) -> None:
    content = bytearray(index((b"part=p;fileid=f1", RECORD)))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(FormatError, UnsupportedFormat):
        parse_bootstrap_index(bytes(content[: data.draw(st.integers(0, len(content)))]), "a file")
