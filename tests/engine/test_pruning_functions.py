"""The functions of expression indexes: evaluated on Arrow they are what Spark's own are."""

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi_spark import UnsupportedFeature
from hudi_spark.filters import FUNCTIONS, Column, apply
from hudi_spark.spark.queries import _applied
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

_MOMENTS = st.datetimes()
_EDGES = ["", " ", "  Ab ç ", "straße", "İstanbul", "ΑΣ", "a1b22c333", "abc", "x,y,,z,", "a.b", "ab\nc", "aaa"]
_TEXTS = st.one_of(
    st.sampled_from(_EDGES), st.text(st.characters(max_codepoint=0x2FF, exclude_characters="\0"), max_size=8)
)
_DATED = st.one_of(
    st.sampled_from(
        [
            "2024",
            "2024-2",
            "2024-02-30",
            " 2024-02-29 ",
            "2024-1-5T",
            "2024 10:11",
            "2024-01-01 10",
            "2024-01-01 10:1:2.",
            "1234567-01-01",
            "2024-01-01 10:11:12 -3:30",
            "0000-01-01",
            "20240101",
            "+2024-01-01",
            "-0005-3-1",
            "2024-01-01 10:11:12",
            "2024-01-01T10:11",
            "2024-01-01 10:11:12.5",
            "2024-01-01 24:00:00",
            "2024-01-01x",
            "2024-01-01 10:11:12+02:00",
            "2024-01-01 10:11:12.123456789Z",
            "99999-01-01",
            "x",
            "",
        ]
    ),
    _MOMENTS.map(lambda moment: moment.strftime("%Y-%m-%d %H:%M:%S")),
    _MOMENTS.map(lambda moment: f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"),
)
_ROWS = st.fixed_dictionaries(
    {
        "t": st.none() | _MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.timezone.utc)),
        "d": st.none() | st.dates(),
        "n": st.none() | st.integers(-62_135_596_800, 253_402_300_799),
        "s": st.none() | _TEXTS,
        "c": st.none() | _DATED,
    }
)
_SCHEMA = pa.schema(
    [
        ("t", pa.timestamp("us", "UTC")),
        ("d", pa.date32()),
        ("n", pa.int64()),
        ("s", pa.string()),
        ("c", pa.string()),
    ]
)
_PATTERN = "yyyy/MM/dd 'at' H:m:ss.SSS"
_COLUMNS = [
    *(Column(name, function) for function in ("year", "month", "day", "hour") for name in "tdc"),
    *(Column(name, "date_format", (_PATTERN,)) for name in "tdc"),
    *(Column(name, "date_format", ("yy-M-d",)) for name in "td"),
    Column("n", "from_unixtime"),
    Column("n", "from_unixtime", ("yyyyMMddHHmmss",)),
    *(Column(name, "unix_timestamp") for name in "td"),
    *(Column(name, function) for function in ("to_date", "to_timestamp") for name in "tdc"),
    *(Column(name, "date_add", (days,)) for name in "tdc" for days in (3, -400)),
    *(Column(name, "date_sub", (31,)) for name in "td"),
    *(
        Column("s", function)
        for function in ("lower", "upper", "trim", "ltrim", "rtrim", "length", "identity", "substring")
    ),
    *(Column("s", function, ("ab ",)) for function in ("trim", "ltrim", "rtrim")),
    *(Column("s", "substring", place) for place in ((1, 2), (0, 2), (2,), (-2, 1), (-2, 2), (-9, 8), (3, 0), (2, -1))),
    Column("s", "regexp_replace", (r"(\w)(\d+)", "<$2$1\\$>")),
    Column("s", "regexp_replace", ("x*", "-")),
    Column("s", "regexp_extract", (r"([a-z]+)(\d*)$", 1)),
    Column("s", "regexp_extract", ("^.b?(.)", 0)),
    Column("s", "split", (",",)),
    Column("s", "split", ("",)),
    Column("s", "split", ("[b1]+|a*",)),
]


def _counted(values: pa.ChunkedArray) -> list[Any]:
    """Values as Python has them; days and moments, which it has fewer of, as numbers."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    return (values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values).to_pylist()


def _by_spark(spark: Any, table: pa.Table, folder: Path) -> pa.Table:
    """Spark's answers in the order of the rows, by way of files."""
    old = "spark.sql.parquet.datetimeRebaseModeIn"
    for side in ("Read", "Write"):
        spark.conf.set(f"{old}{side}", "CORRECTED")
    pq.write_table(table, folder / "rows.parquet")
    frame = spark.read.parquet(str(folder / "rows.parquet")).coalesce(1)
    query = frame.select(*(_applied(column).alias(str(at)) for at, column in enumerate(_COLUMNS)))
    query.write.parquet(str(folder / "answers"))
    return pq.read_table(folder / "answers")


# pyspark 3.5 compares the version of pandas with distutils, and leaves sockets of collected frames to the collector.
@pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.spark
@settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(rows=st.lists(_ROWS, min_size=100, max_size=300))
def test_functions_give_what_sparks_own_give(
    spark: Any, tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
):
    """Every function of the table, on dates, timestamps and texts."""
    table = pa.Table.from_pylist(rows, _SCHEMA)
    wanted = _by_spark(spark, table, tmp_path_factory.mktemp("functions"))
    differing = {}
    for at, column in enumerate(_COLUMNS):
        given, expected = table.column(column.name).to_pylist(), wanted.column(at)
        got = apply(column, table.column(column.name)).cast(expected.type)
        triples = zip(given, _counted(got), _counted(expected), strict=True)
        differing[column] = [one for one in triples if one[1] != one[2]]
    assert not any(differing.values()), {column: found[:3] for column, found in differing.items() if found}


def test_every_function_of_the_texts_table_is_there():
    """The text's six, and those that releases add."""
    assert {column.function for column in _COLUMNS} == set(FUNCTIONS)


@pytest.mark.parametrize(
    "column",
    [
        Column("d", "date_format", ("EEEE",)),
        Column("s", "regexp_replace", ("(?<n>a)", "")),
        Column("s", "regexp_extract", ("[a&&[b]]", 0)),
        Column("s", "regexp_extract", ("a", 2)),
        Column("s", "split", (r"\p{L}",)),
    ],
)
def test_what_is_not_built_is_reported(column: Column):
    """Patterns that mean something else in Python, or nothing: never a guess."""
    with pytest.raises(UnsupportedFeature):
        apply(column, pa.chunked_array([pa.array([], _SCHEMA.field(column.name).type)]))
