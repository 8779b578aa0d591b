"""Delete lists encoded column by column: the same bytes as record by record."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from format_strategies import LONGS, TEXT
from hudi_format.avro.columnar import encode_framed_rows
from hudi_format.log.columnar import avro_content, delete_content, parts_within
from hudi_format.log.content import encode_avro_records
from hudi_format.log.deletes import DeleteRecord, encode_deletes
from hypothesis import given, settings
from hypothesis import strategies as st

ORDERINGS = {
    "Boolean": (pa.bool_(), st.booleans()),
    "Int": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "Long": (pa.int64(), LONGS),
    "Float": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "Double": (pa.float64(), st.floats(allow_nan=False)),
    "Bytes": (pa.binary(), st.binary(max_size=5)),
    "String": (pa.string(), TEXT),
    "Date": (pa.date32(), st.dates()),
    "Decimal": (pa.decimal128(30, 15), st.integers(0, 10**13).map(lambda number: Decimal(number).scaleb(-5))),
}


@st.composite
def deletes(draw: st.DrawFn) -> Any:
    # Among several values the row-wise library takes the widest number.
    wide = [kind for kind in ORDERINGS if kind not in {"Int", "Float"}]
    kinds = draw(st.lists(st.sampled_from(list(ORDERINGS)), max_size=1) | st.lists(st.sampled_from(wide), max_size=3))
    row = st.tuples(TEXT, *[st.none() | ORDERINGS[kind][1] for kind in kinds])
    return kinds, draw(st.lists(row, max_size=6)), draw(TEXT | st.just("p" * 100))


@settings(deadline=None, max_examples=50)
@given(deletes())
def test_a_delete_list_has_the_bytes_of_the_row_wise_library(drawn: Any):
    kinds, rows, partition = drawn
    records = [DeleteRecord(key, partition, *expected_ordering(values, kinds)) for key, *values in rows]
    columns = [
        (kind, pa.array([row[place + 1] for row in rows], ORDERINGS[kind][0])) for place, kind in enumerate(kinds)
    ]
    content = delete_content(pa.array([row[0] for row in rows], pa.string()), partition, columns)
    assert b"".join(content) == encode_deletes(records)


def expected_ordering(values: list[Any], kinds: list[str]) -> tuple[Any, str]:
    if not values or None in values:
        return 0, "Int"
    return (values[0], kinds[0]) if len(values) == 1 else (tuple(values), "Array")


ROW = {"type": "record", "name": "r", "fields": [{"name": "x", "type": "string"}]}


@settings(deadline=None, max_examples=50)
@given(st.lists(TEXT, max_size=9))
def test_the_content_of_a_data_block_is_that_of_its_records(texts: list[str]):
    rows = pa.table({"x": pa.array(texts, pa.string())})
    assert b"".join(avro_content(encode_framed_rows(rows, ROW))) == encode_avro_records(rows.to_pylist(), ROW)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 120))
def test_parts_keep_within_their_size_unless_one_row_is_larger(sizes: list[int], most: int):
    encoded = pa.chunked_array([pa.array([b"x" * size for size in sizes], pa.large_binary())])
    parts = list(parts_within(encoded, most))
    assert [row for start, count in parts for row in range(start, start + count)] == list(range(len(sizes)))
    for start, count in parts:
        assert count == 1 or sum(sizes[start : start + count]) <= most


def test_an_empty_list_is_a_single_zero():
    assert b"".join(delete_content(pa.array([], pa.string()), "p")) == b"\0\0\0\x03\0\0\0\x01\0"


@pytest.mark.parametrize("ordering", [(), [("Long", pa.array([None], pa.int64()))]])
def test_without_an_ordering_value_a_delete_carries_the_int_zero(ordering: Any):
    content = b"".join(delete_content(pa.array(["k015"]), "p0", ordering))
    assert content[8:] == b"\x02\x02\x08k015\x02\x04p0\x04\x00\x00"
