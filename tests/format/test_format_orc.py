"""Base files in ORC: rows, keys, pushdown, times of day, damage."""

import base64
import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hudi_format.base import orc as orc_files
from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.base.files import (
    BLOOM_FILTER_KEY,
    BLOOM_TYPE_KEY,
    MAXIMUM_KEY,
    MINIMUM_KEY,
    base_file_footer,
    read_base_file,
)
from hudi_format.base.orc import ORC_SCHEMA_KEY
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import LocalStorage
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

# A base file of a merge-on-read table of version 9, written by Apache Hudi 1.1.1: one row.
APACHE = base64.b64decode(
    "T1JDEQAACgYSBAgBUABQAADjMudiZQABIT0ORiUNLkEjAyMzQ0MjQ0NzU1MDc2MDIyFMIQmlAAYAWAAA47LnYmUAASEzDkYlAy5RIwMjM0NDI0ND"
    "c1NTA3NjA6N4w3gLIezCEloBDAAwAADjEudiZQABIT4ORiUOLsYkIcYkCaYABgBEAADj0uZiZQABISUORiUZLu6i1PTM/Dzb4sN7UoSQORJiAQwA"
    "xAAA41rCyMXKAAJCsxg5GJUmM3K5GRhbGpkkmafpGqQYG+qamBgl6SaZGRjomqemJhkamaWZmKam6hrEG+oaG5rqmhhaxhsZGJkZGhoZGpqbmhqY"
    "GxsY6eUXJQtRyRyJHsYABgAwAADjEudiZQABIT4ORiUOLsYkIcYkCaYABgA2AADjkuViZQABIREORiU+Lpbiw3tShMCkBEcAAwArAAAKEwoDAAAA"
    "EgwIARIGCAIQAhgCUAAwAADjEudiZQABIT4ORiUOLsZKIcZKCaYABgAjAAAyMDI2MTEyMTE3NTUwNzMwMgcAAE4AESsAADIwMjYxMTIxMTc1NTA3"
    "MzAyXzFfOAcAAE4AFQMAAGIHAABAAIAXAAByZWdpb249c8O8ZAcAAEYAsHgAAAXByQnAMAwEwIoUdnXiagxK5G8g/T8yA1vqXUfwGMVdWzoBqZmm"
    "5vGYEWyKMcS5tkKTVLIiUAa93u/+AQcAAE4ARgMAAGIHAABAAIAJAABzw7xkBwAARgBABwAAQgCAAwAAeQcAAEAAgNYAAIXMOwrDQAyEYVu7q30E"
    "jAkuBgzpUrnwEXKa3P8KkcfTpxAfv1bs8ObrhMe4nHFQw0kTdprxpgVf6tpXvGgDaOd+jn+20EJnG98tvDshs5M6Y2FndcGHXdSue1dXVHZVN9l1"
    "1+FPa1OM/ZsfugEA45rKzMXCwRjAwGXAwaikwSVoZGBkZmhoZGhobmpqYG5sYCSEKSShFMAQIcVlAdRhwCWKIR1vGG8hhF1YQguoU45LAKiTg4sx"
    "SYgxSYIJKMLFpQIUkeHiLkpNz8zPsy0+vCdFCJkjIQZUJcI1hxGobDIjl5uBsaWRSZJ5mq5BirGhromJUZJukpmBga55amqSoZFZmolpaqquQbyh"
    "rrGhqa6JoWU8hmv08ouShahkjkQPMAAjXLF4SwwowsfFAvYPmJTgAIrzcvFxMAqxcTAJMIHVscF0VgoxVkJ0AgBcBQCtVd1O1EAUpt0fSkVcKpCm"
    "/sRMvCArrW33D5qQ2AXUNZHgjcEQ0vRndrex21nbohLCG2hi4i0v4Dvslb6AT+O1My1Flu1uiOwkPe185/vOOTM90zK50o+CMM/kSn9o/if1yF+l"
    "wFeKmefmKDqXLxRnmTnhrtFFyHGhYaNez42MyO1BYekKGMIPPhK4FA2gjQLHeA+PhZUU65tB5EYu8vFT1BUWU7ztetDwTRyUdh2hGMAO5gh0FAp5"
    "H0UQ0MzshCtP7uUn7IPzaJaHUI/EjGBgRMd9UqEDOXb73a7+urVlvJXLArt8Tu6Zny+VylHWZZ/rX/H9LrB3UGBL5scASaHdhT2TGxROAMkCNJCQ"
    "wRoga8FzPIFBaAzBYd+0iS/JISUU7Gu70HNCoB2cpOqMTce8JNUB8I88D0/DKHD9DjhcAw6ysQhDDmybR14ENEI5XRsXL35fUwn4b4+mEm64S6YS"
    "8qLBbhTNdSbKx6iSbv4fZRSOqjw0WROfl2vnOjwtD3LsPRR0JBP3ZRdK3SPHleITlBwg7iz3lIxPuq43q01sW9YbbLdbOkGI0duEsE6eoI59Wy9k"
    "fWg0z+9Et6OPGVt66yrUHGV19EkxUspObJuxfTXsbZFMWSMj2UXCYUZG+nQzsiprJQvPUoyv4Zo1bsqUlmeovRlNZiiwyi6qslpXFFVRGrWa3KjI"
    "KjcK8WBvZl/Q1rFCZpdH3IZirHPZMF/GyodaCSsZlrLwF5GnMcJqjzFyn72VtPpm+GvgcJcn/ApmLWlnFKZ9p9jncmVDrVqNtig7FUWsVlVLtOqy"
    "LDYgtBS13q7WIBRlQxErSk2sKhvGSDX4u2lzU4rDf8EbuL+TsawVjCyw+Xg9seUZjN/WFhiKKzJ0iY55xVSJfxHHifLZt92XM/uUVVCkDan+Fwix"
    "BRABGICAECICAAwo4AEwCYL0AwNPUkMZ"
)
PATH = "a.orc"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def written(storage: LocalStorage, table: pa.Table) -> None:
    sink = io.BytesIO()
    orc.write_table(table, sink)
    storage.put(PATH, sink.getvalue())


def test_rows_and_keys_of_apache_hudis_file_are_read(storage: LocalStorage) -> None:
    storage.put(PATH, APACHE)
    rows = read_base_file(storage, PATH, ["note", "id", "absent", "_hoodie_record_key"])
    assert rows.to_pylist() == [{"note": "y", "id": "b", "_hoodie_record_key": "b"}]
    footer = base_file_footer(storage, PATH)
    assert (footer.rows, footer.row_groups) == (1, 1)
    assert footer.schema.names == [*META_FIELDS, "id", "region", "ts", "note"]
    assert (footer.keys[MINIMUM_KEY], footer.keys[MAXIMUM_KEY]) == ("b", "b")
    assert decode_bloom_filter(footer.keys[BLOOM_FILTER_KEY], footer.keys[BLOOM_TYPE_KEY], PATH).may_contain("b")
    assert json.loads(footer.keys[ORC_SCHEMA_KEY])["name"] == "orders_record"


def test_a_filter_and_columns_with_dots_are_taken_as_they_are(storage: LocalStorage) -> None:
    written(storage, pa.table({"a.b": [1, 2], "a": [3, 4]}))
    assert read_base_file(storage, PATH, ["a.b"]).to_pylist() == [{"a.b": 1}, {"a.b": 2}]
    assert read_base_file(storage, PATH, ["a.b"], pc.field("a") > 3).to_pylist() == [{"a.b": 2}]
    assert read_base_file(storage, PATH, []).num_rows == 2
    with pytest.raises(ValueError, match="absent"):
        read_base_file(storage, PATH, None, pc.field("absent") > 3)


def test_a_number_that_the_avro_schema_calls_a_time_is_one(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {"ms": {"type": "int", "logicalType": "time-millis"}, "us": {"type": "long", "logicalType": "time-micros"}}
    fields = [{"name": name, "type": ["null", kind]} for name, kind in kinds.items()]
    avro = json.dumps({"type": "record", "name": "r", "fields": fields})
    written(storage, pa.table({"ms": pa.array([1, None], pa.int32()), "us": pa.array([2, None], pa.int64())}))
    # Arrow writes no user metadata, so the reader is handed what Apache Hudi would have written.
    monkeypatch.setattr(orc_files, "_metadata", lambda _: {ORC_SCHEMA_KEY.encode(): avro.encode()})
    assert read_base_file(storage, PATH).to_pylist() == [
        {"ms": dt.time(microsecond=1000), "us": dt.time(microsecond=2)},
        {"ms": None, "us": None},
    ]


def test_moments_beyond_arrow_s_range_are_unsupported_not_wrong(storage: LocalStorage) -> None:
    written(storage, pa.table({"t": pa.array([dt.datetime(1, 1, 1)], pa.timestamp("us"))}))  # noqa: DTZ001 - local
    with pytest.raises(UnsupportedFormat, match="far-timestamps"):
        read_base_file(storage, PATH)


def test_a_missing_file_is_reported(storage: LocalStorage) -> None:
    with pytest.raises(FormatError) as caught:
        read_base_file(storage, PATH)
    assert caught.value.reason == Reason.BASE_FILE_MISSING


@given(data=st.data())
def test_damage_is_an_error_of_the_file_or_not_seen(data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    storage = LocalStorage(tmp_path_factory.getbasetemp())
    content = bytearray(APACHE)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    storage.put("damaged.orc", bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        assert read_base_file(storage, "damaged.orc").num_rows <= 1_000_000
    except FormatError as error:
        assert error.reason in {Reason.BASE_FILE_CORRUPT, Reason.LIMIT_EXCEEDED}  # noqa: PT017 - either is right
    except UnsupportedFormat:
        pass
