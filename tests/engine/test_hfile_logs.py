"""HFile log blocks merge as Avro ones do, through every door."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_adapter.rows import read_rows
from hudi_adapter.serving import serve
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block, read_blocks
from hudi_format.log.content import decode_records
from hudi_format.log.deletes import DeleteRecord
from hudi_format.log.hfiles import hfile_block
from hudi_format.schemas import with_meta_fields
from hudi_spark import UnsupportedFeature, read_arrow
from hudi_spark.testing import readings_named
from hudi_spark_adapter.adapter import FEATURES, adapter_of
from hudi_spark_adapter.executors import InProcess

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])


def as_hfile(builder: TableBuilder, n: int, avro_block: bytes) -> bytes:
    """The records of an Avro block in an HFile block."""
    (block,) = read_blocks(avro_block, "f")
    return hfile_block(tick(n), decode_records(block, "f"), with_meta_fields(builder.schema))  # type: ignore[arg-type]


def written(path: Path, version: int, *, hfile: bool) -> Path:
    """A base file, then logs with late and newer data, a new key, a delete, and the deleted key again."""
    builder = TableBuilder(path, version)

    def data(n: int, *rows: Any) -> bytes:
        block = builder.data(n, rows)
        return as_hfile(builder, n, block) if hfile else block

    builder.commit(10, [builder.base_file(10, [row("k1", 5, "base"), row("ключ", 5, "base"), row("gone", 5, "base")])])
    late = data(20, row("k1", 3, "late"), row("ключ", 7, "newer"), row("new", 1, "inserted"))
    name = 10 if version == 6 else None
    builder.commit(20, [builder.log_file(name or 20, [late])])
    builder.commit(30, [builder.log_file(name or 30, [builder.deletes(30, DeleteRecord("gone", "north"))], version=2)])
    again = data(40, row("new", 2, "updated"))
    builder.commit(40, [builder.log_file(name or 40, [again], version=3)])
    return path


@VERSIONS
def test_the_rows_are_those_of_the_same_writes_in_avro(tmp_path: Path, version: int):
    found = read_arrow(written(tmp_path / "hfile", version, hfile=True))
    assert found.equals(read_arrow(written(tmp_path / "avro", version, hfile=False)))
    assert dict(zip(found["id"].to_pylist(), found["note"].to_pylist(), strict=True)) == {
        "k1": "base",
        "ключ": "newer",
        "new": "updated",
    }


def request(table: Path, out_dir: Path) -> dict[str, Any]:
    out_dir.mkdir()
    run = {"cmd": "run", "seq": 1, "op": "read_snapshot", "table": str(table), "params": {}, "limit_s": 60}
    lines = [{"cmd": "start", "protocol": 1}, {**run, "out_dir": str(out_dir)}, {"cmd": "stop"}]
    answers = io.StringIO()
    requests = io.StringIO("".join(json.dumps(line) + "\n" for line in lines))
    serve(adapter_of(InProcess(), readings_named("released")), requests, answers)
    return dict(json.loads(answers.getvalue().splitlines()[1]))


def test_the_adapter_answers_rows_and_names_the_feature(tmp_path: Path):
    answer = request(written(tmp_path / "table", 9, hfile=True), tmp_path / "out")
    rows = read_rows(tmp_path / "out" / answer["result"]["rows_file"]).mappings()
    assert sorted(str(one["id"]) for one in rows) == ["k1", "new", "ключ"]
    assert "log-hfile" in FEATURES


def test_an_hfile_that_does_not_decode_rejects_the_read(tmp_path: Path):
    builder = TableBuilder(tmp_path / "table")
    header = {HeaderKey.INSTANT_TIME: tick(10), HeaderKey.SCHEMA: json.dumps(with_meta_fields(builder.schema))}
    block = encode_block(BlockType.HFILE_DATA, header, b"no HFile")
    builder.commit(10, [builder.log_file(10, [block])])
    rejected = request(tmp_path / "table", tmp_path / "out")["rejected"]
    assert rejected["reason"] == "LOG_CONTENT_CORRUPT"


def test_an_hfile_of_an_unknown_version_is_not_guessed(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    block = as_hfile(builder, 10, builder.data(10, [row("a", 1)]))
    (raw,) = read_blocks(block, "f")
    content = raw.content[:-1] + b"\x04"  # type: ignore[union-attr]
    builder.commit(10, [builder.log_file(10, [encode_block(BlockType.HFILE_DATA, raw.header, content)])])  # type: ignore[union-attr]
    with pytest.raises(UnsupportedFeature) as caught:
        read_arrow(tmp_path)
    assert caught.value.feature == "log-hfile"
