"""Records of flat schemas decoded column by column: the values of the row-wise library, or nothing at all."""

import io
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from format_strategies import damaged
from hudi_format.avro.columnar import encode_rows
from hudi_format.avro.flat_reading import decode_flat_rows
from hudi_format.avro.schemas import raw_reading_schema
from hudi_format.errors import FormatError
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block, read_blocks
from hudi_format.log.columnar import avro_content
from hudi_format.log.content import decode_avro_arrow
from hudi_format.schemas import arrow_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from test_avro_columnar import NAMED, NOTHING, SIMPLE, table_of


@st.composite
def flat_schemas_with_rows(draw: st.DrawFn) -> tuple[Any, list[dict[str, Any]]]:
    kinds = draw(st.lists(st.sampled_from((*SIMPLE, *NAMED, NOTHING)), min_size=1, max_size=5))
    fields, rows = [], {}
    for place, (kind, values) in enumerate(kinds):
        named = {**kind, "name": f"n{place}"} if isinstance(kind, dict) and kind["type"] in ("fixed", "enum") else kind
        nullable = kind != "null" and draw(st.booleans())
        fields.append({"name": f"f{place}", "type": draw(st.permutations(("null", named))) if nullable else named})
        rows[f"f{place}"] = st.none() | values if nullable else values
    schema = {"type": "record", "name": "r", "fields": fields}
    return schema, draw(st.lists(st.fixed_dictionaries(rows), max_size=8))


def decoded(records: list[bytes], schema: Any, wanted: set[str] | None = None) -> pa.Table | None:
    ends = np.cumsum([len(one) for one in records], dtype=np.int64)
    starts = ends - np.array([len(one) for one in records], np.int64)
    return decode_flat_rows(b"".join(records), starts, ends, schema, arrow_schema(schema), wanted)


@settings(deadline=None, max_examples=50)
@given(flat_schemas_with_rows())
def test_what_was_encoded_comes_back(drawn: Any):
    schema, rows = drawn
    table = table_of(rows, schema)
    found = decoded(encode_rows(table, schema).to_pylist(), schema)
    if found is None:
        # Numbers of more than 16 bytes are left to the other decoder.
        assert any(pa.types.is_decimal(one.type) and one.type.precision in {30, 60} for one in table.schema)
        return
    found.validate(full=True)
    assert found.schema == table.schema
    assert repr(found.to_pylist()) == repr(table.to_pylist())


@settings(deadline=None, max_examples=50)
@given(flat_schemas_with_rows(), st.data())
def test_chosen_columns_are_those_of_the_whole(drawn: Any, data: st.DataObject):
    """Also of damaged records, as long as these decode; the values of other columns are not looked at."""
    schema, rows = drawn
    records = encode_rows(table_of(rows, schema), schema).to_pylist()
    records = [data.draw(st.just(one) | damaged(one)) for one in records]
    wanted = data.draw(st.sets(st.sampled_from([field["name"] for field in schema["fields"]]), min_size=1))
    whole, part = decoded(records, schema), decoded(records, schema, wanted)
    if whole is not None:
        assert part is not None
        assert set(part.column_names) == wanted
        assert repr(part.to_pylist()) == repr(whole.select(part.column_names).to_pylist())


def row_wise(records: list[bytes], schema: Any) -> pa.Table | None:
    """The same by the library, None where it fails or leaves bytes over."""
    readable, target, rows = raw_reading_schema(schema), arrow_schema(schema), []
    try:
        for one in records:
            stream = io.BytesIO(one)
            rows.append(fastavro.schemaless_reader(stream, readable, None))
            if stream.tell() != len(one):
                return None
        columns = [pa.array([row[field.name] for row in rows], field.type) for field in target]  # type: ignore[index,call-overload]
        return pa.Table.from_arrays(columns, schema=target)
    except Exception:  # noqa: BLE001 - whatever a decoder raises
        return None


@settings(deadline=None, max_examples=50)
@given(flat_schemas_with_rows(), st.data())
def test_damaged_records_give_the_same_values_or_none(drawn: Any, data: st.DataObject):
    schema, rows = drawn
    records = [data.draw(damaged(one)) for one in encode_rows(table_of(rows, schema), schema).to_pylist()]
    found = decoded(records, schema)
    expected = row_wise(records, schema)
    if found is not None:
        assert expected is not None
        assert repr(found.to_pylist()) == repr(expected.to_pylist())


ROW = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "x", "type": ["null", "long"]}, {"name": "text", "type": "string"}],
}
MANY = [{"x": None if number % 3 == 0 else number, "text": "é" * (number % 20)} for number in range(20_000)]


def block_of(records: list[bytes]) -> Any:
    framed = pa.chunked_array([pa.array([len(one).to_bytes(4, "big") + one for one in records], pa.large_binary())])
    header = {HeaderKey.SCHEMA: str(ROW).replace("'", '"')}
    (block,) = read_blocks(encode_block(BlockType.AVRO_DATA, header, b"".join(avro_content(framed))), "f")
    return block


def test_large_blocks_come_out_as_they_went_in():
    records = encode_rows(pa.Table.from_pylist(MANY, arrow_schema(ROW)), ROW).to_pylist()
    assert decode_avro_arrow(block_of(records), "f").to_pylist() == MANY


@pytest.mark.parametrize("bad", ["", "02", "040200", "0002ff", "0002", "000000", "02" + "ff" * 11])
def test_one_bad_record_among_many_is_named(bad: str):
    records = encode_rows(pa.Table.from_pylist(MANY[:500], arrow_schema(ROW)), ROW).to_pylist()
    with pytest.raises(FormatError, match=r"record 300|does not fit|stand after") as caught:
        decode_avro_arrow(block_of([*records[:300], bytes.fromhex(bad), *records[300:]]), "f")
    assert caught.value.reason == "LOG_CONTENT_CORRUPT"
