"""Rows survive every file format, and bad files are reported with one error."""

import contextlib
import datetime as dt
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hudi_adapter.arrow_types import arrow_type, logical_type
from hudi_adapter.logical_types import PRIMITIVES, LogicalTypeError, family, parse_type, type_name
from hudi_adapter.rows import Rows, RowsError, arrow_of_rows, read_rows, rows_of_arrow, rows_of_mappings, write_rows
from hudi_adapter.values import ValueFormError, decode_value, encode_value
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_values import rows_parts, typed_value

Schema = tuple[tuple[str, str], ...]
Parts = tuple[Schema, tuple[tuple[Any, ...], ...]]
patiently = settings(deadline=None, max_examples=60)


class TestTypes:
    """Logical types as text."""

    @given(typed_value())
    def test_a_type_reads_back(self, typed: tuple[str, Any]):
        """Nested or not, the text and the type are one."""
        assert type_name(parse_type(typed[0])) == typed[0]

    @given(typed_value())
    def test_arrow_keeps_the_logical_type(self, typed: tuple[str, Any]):
        """No type is lost on the way to Arrow and back."""
        assert logical_type(arrow_type(typed[0])) == typed[0]

    @pytest.mark.parametrize(
        "text",
        ["", "int", "list<int32", "list<int32>>", "map<int32,string>", "struct<a>", "decimal(5)", "struct<:int32>"],
    )
    def test_what_is_no_type_is_reported(self, text: str):
        """An unknown type is never taken for another."""
        with pytest.raises(LogicalTypeError):
            parse_type(text)

    @given(st.text(max_size=40))
    def test_any_text_parses_or_is_reported(self, text: str):
        """A header line can hold anything."""
        with contextlib.suppress(LogicalTypeError):
            parse_type(text)

    def test_nesting_has_a_limit(self):
        """A hostile header does not exhaust the stack."""
        with pytest.raises(LogicalTypeError, match="deeper"):
            parse_type("list<" * 5000 + "int32" + ">" * 5000)

    def test_instants_and_local_timestamps_are_two_families(self):
        """The one names a moment, the other does not."""
        assert family(parse_type("timestamp-micros")) == family(parse_type("timestamp-millis"))
        assert family(parse_type("timestamp-micros")) != family(parse_type("local-timestamp-micros"))

    @pytest.mark.parametrize(
        ("arrow", "logical"),
        [
            (pa.int8(), "int32"),
            (pa.uint32(), "int64"),
            (pa.large_string(), "string"),
            (pa.string_view(), "string"),
            (pa.binary(4), "binary"),
            (pa.date64(), "date"),
            (pa.timestamp("ns", "Europe/Berlin"), "timestamp-micros"),
            (pa.timestamp("s"), "local-timestamp-millis"),
            (pa.dictionary(pa.int32(), pa.string()), "string"),
            (pa.large_list(pa.float16()), "list<float32>"),
            (pa.decimal256(50, 3), "decimal(50,3)"),
        ],
    )
    def test_physical_widths_do_not_count(self, arrow: pa.DataType, logical: str):
        """What an engine calls large, view or dictionary is the same logical type."""
        assert logical_type(arrow) == logical

    @pytest.mark.parametrize("arrow", [pa.uint64(), pa.duration("us"), pa.null(), pa.map_(pa.int32(), pa.int32())])
    def test_arrow_types_without_counterpart_are_reported(self, arrow: pa.DataType):
        """Better an error than a guess."""
        with pytest.raises(LogicalTypeError):
            logical_type(arrow)


class TestValues:
    """Single values as JSON."""

    @given(typed_value())
    def test_a_value_reads_back(self, typed: tuple[str, Any]):
        """Every value of every type survives its JSON form, nan and -0.0 too."""
        logical, value = typed

        form = encode_value(value, logical)
        found = decode_value(form, logical)

        assert repr(_in_order(found)) == repr(_in_order(value))

    @pytest.mark.parametrize(
        ("logical", "value", "form"),
        [
            ("int64", 2**60, "1152921504606846976"),
            ("int32", 7, 7),
            ("float64", -0.0, "-0.0"),
            ("float64", float("nan"), "nan"),
            ("float64", float("-inf"), "-inf"),
            ("decimal(10,2)", Decimal("1E+1"), "10"),
            ("binary", b"\x00\xab", "00AB"),
            ("date", dt.date(2025, 1, 31), "2025-01-31"),
            ("time-micros", dt.time(1, 2, 3, 4), "01:02:03.000004"),
            (
                "timestamp-micros",
                dt.datetime(2025, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))),
                "2025-01-01T00:00:00.000000Z",
            ),
            ("local-timestamp-millis", dt.datetime(2025, 1, 1), "2025-01-01T00:00:00.000000"),  # noqa: DTZ001
            ("map<string,int64>", {"b": 1, "a": None}, [["a", None], ["b", "1"]]),
            ("struct<x:int32,y:string>", {"y": "é"}, {"x": None, "y": "é"}),
            ("list<boolean>", [True, None], [True, None]),
        ],
    )
    def test_the_forms_are_fixed(self, logical: str, value: Any, form: Any):
        """The table in docs/reference/logical-types.md, row by row."""
        assert encode_value(value, logical) == form

    @pytest.mark.parametrize(
        ("logical", "form"),
        [
            ("int64", 7),
            ("int64", "9223372036854775808"),
            ("int64", "٣"),
            ("int64", "1_000"),
            ("int32", 2**31),
            ("int32", True),
            ("int32", 1.0),
            ("boolean", 1),
            ("float32", 1.5),
            ("float64", "one"),
            ("float32", "1e300"),
            ("decimal(3,1)", "nan"),
            ("decimal(3,1)", 1.5),
            ("binary", "0"),
            ("binary", [1]),
            ("date", "2025-13-01"),
            ("date", "20250131"),
            ("time-micros", "01:02"),
            ("timestamp-micros", "2025-01-01T00:00:00.000000"),
            ("timestamp-micros", "2025-01-01T00:00:00Z"),
            ("local-timestamp-micros", "2025-01-01T00:00:00.000000Z"),
            ("string", 3),
            ("list<int32>", {}),
            ("map<string,int32>", {"a": 1}),
            ("map<string,int32>", [["a", 1], ["a", 2]]),
            ("struct<a:int32>", {"b": 1}),
        ],
    )
    def test_other_forms_are_reported(self, logical: str, form: Any):
        """A value in the wrong form is an error, not a near miss."""
        with pytest.raises(ValueFormError):
            decode_value(form, logical)

    @pytest.mark.parametrize(
        ("logical", "value"),
        [
            ("int32", 2**31),
            ("int64", "1"),
            ("int64", True),
            ("date", dt.datetime(2025, 1, 1)),  # noqa: DTZ001
            ("timestamp-micros", dt.datetime(2025, 1, 1)),  # noqa: DTZ001
            ("local-timestamp-micros", dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)),
            ("string", b"x"),
            ("decimal(3,1)", 1.5),
        ],
    )
    def test_values_of_another_type_are_reported(self, logical: str, value: Any):
        """An encoder does not bend values."""
        with pytest.raises(ValueFormError):
            encode_value(value, logical)


class TestFiles:
    """Rows in .jsonl, .arrow and .parquet."""

    @pytest.mark.parametrize("ending", ["jsonl", "arrow", "parquet"])
    @given(parts=rows_parts())
    @patiently
    def test_rows_read_back(self, ending: str, parts: Parts):
        """Whatever the format of the file, the logical rows are the same."""
        rows = Rows(*parts)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"rows.{ending}"
            write_rows(path, rows)
            found = read_rows(path)

        assert found.schema == rows.schema
        assert _forms(found) == _forms(rows)

    @given(rows_parts())
    @patiently
    def test_arrow_and_rows_are_one(self, parts: Parts):
        """Types and values survive Arrow in memory."""
        rows = Rows(*parts)

        assert _forms(rows_of_arrow(arrow_of_rows(rows))) == _forms(rows)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("absent.jsonl", None),
            ("rows.csv", b"a,b"),
            ("rows.jsonl", b""),
            ("rows.jsonl", b"[]\n"),
            ("rows.jsonl", b'{"schema":[{"name":"a"}]}\n'),
            ("rows.jsonl", b'{"schema":[{"name":"a","type":"int"}]}\n'),
            ("rows.jsonl", b'{"schema":[{"name":"a","type":"int32"},{"name":"a","type":"int32"}]}\n'),
            ("rows.jsonl", b'{"schema":[{"name":"a","type":"int32"}]}\n{"a":'),
            ("rows.jsonl", b'{"schema":[{"name":"a","type":"int32"}]}\n{"b":1}\n'),
            ("rows.jsonl", b'{"schema":[{"name":"a","type":"int32"}]}\n[1]\n'),
            ("rows.jsonl", b"\xff\xfe"),
            ("rows.jsonl", b"[" * 100_000),
            ("rows.parquet", b"PAR1PAR1"),
            ("rows.arrow", b"ARROW1"),
            ("rows.arrow", b""),
        ],
    )
    def test_a_bad_file_is_reported_by_name(self, tmp_path: Path, name: str, content: bytes | None):
        """An adapter's file can hold anything: one typed error names it."""
        if content is not None:
            (tmp_path / name).write_bytes(content)

        with pytest.raises(RowsError, match=name):
            read_rows(tmp_path / name)

    @given(st.binary(max_size=200), st.sampled_from(["jsonl", "arrow", "parquet"]))
    @patiently
    def test_any_bytes_read_or_are_reported(self, content: bytes, ending: str):
        """No bytes raise anything but the one error."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"rows.{ending}"
            path.write_bytes(content)
            with contextlib.suppress(RowsError):
                read_rows(path)

    def test_duplicate_columns_are_an_error(self, tmp_path: Path):
        """Which of two columns of one name is meant nobody can say."""
        table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
        pyarrow.feather.write_feather(table, tmp_path / "rows.arrow", compression="uncompressed")

        with pytest.raises(RowsError, match="twice"):
            read_rows(tmp_path / "rows.arrow")

    def test_nanoseconds_are_kept_or_reported(self):
        """Where a nanosecond would be lost, nothing is answered."""
        whole = pa.table({"t": pa.array([1_000], pa.timestamp("ns", "UTC"))})
        part = pa.table({"t": pa.array([1_001], pa.timestamp("ns", "UTC"))})

        assert rows_of_arrow(whole).rows == ((dt.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=dt.timezone.utc),),)
        with pytest.raises(RowsError):
            rows_of_arrow(part)

    def test_an_arrow_stream_reads_too(self, tmp_path: Path):
        """Both framings of Arrow are Arrow."""
        table = pa.table({"a": [1, 2]})
        with pa.OSFile(str(tmp_path / "rows.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)

        assert read_rows(tmp_path / "rows.arrow").rows == ((1,), (2,))

    def test_a_line_separator_inside_a_text_is_no_end_of_row(self, tmp_path: Path):
        """U+2028 and U+0085 may stand in a value."""
        rows = Rows((("a", "string"),), (("x\u2028y\u0085z",),))
        write_rows(tmp_path / "rows.jsonl", rows)

        assert read_rows(tmp_path / "rows.jsonl") == rows

    def test_an_empty_parquet_keeps_its_columns(self, tmp_path: Path):
        """No rows are not no columns."""
        pyarrow.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "rows.parquet")

        assert read_rows(tmp_path / "rows.parquet") == Rows((("a", "int64"),), ())


def test_mappings_become_rows_in_column_order():
    """A column that a row lacks is null."""
    rows = rows_of_mappings((("a", "int32"), ("b", "string")), ({"b": "x", "a": 1}, {"a": 2}))

    assert rows.rows == ((1, "x"), (2, None))
    assert list(rows.mappings()) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


def test_every_primitive_has_an_arrow_type():
    """The two tables name the same types."""
    assert {logical_type(arrow_type(name)) for name in PRIMITIVES} == PRIMITIVES


def _forms(rows: Rows) -> list[Any]:
    return [[encode_value(value, rows.schema[i][1]) for i, value in enumerate(row)] for row in rows.rows]


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _in_order(value[key])) for key in sorted(value)]
    return [_in_order(item) for item in value] if isinstance(value, list) else value
