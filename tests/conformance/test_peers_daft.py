"""The Daft adapter: what its errors amount to, and what it is asked to filter by."""

from pathlib import Path

import pytest
from hudi_adapter.protocol import Rejected, Request, Unsupported
from hudi_adapter.reasons import Reason
from hudi_conformance.adapters import daft
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.cases import load_tables
from hudi_conformance.runner.resources import suite_root

ROOT = suite_root()


def _rows_of(tmp_path: Path, table: str, **params: object) -> list[dict[str, object]]:
    (golden,) = (one for one in load_tables(ROOT) if one.id == table)
    request = Request("read_snapshot", unpack(golden.folder, tmp_path / "table"), params, tmp_path, 60)
    answer = daft.adapter().operations["read_snapshot"](request)
    return list(answer.rows.to_pylist())


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        (["ts", ">=", "20"], lambda row: row["ts"] >= 20),
        (["not", ["ts", ">=", "20"]], lambda row: row["ts"] < 20),
        (["or", ["id", "=", "r01"], ["id", "in", ["r02", "r03"]]], lambda row: row["id"] in {"r01", "r02", "r03"}),
        (["and", ["ts", "<", "20"], ["rider", "is_not_null"]], lambda row: row["ts"] < 20 and row["rider"]),
        (["rider", "is_null"], lambda row: row["rider"] is None),
        ([["fn", "upper", "rider"], "!=", "RIDER 1"], lambda row: row["rider"] not in {None, "rider 1"}),
        (["fare", ">", "83.00"], lambda row: row["fare"] is not None and row["fare"] > 83),
    ],
)
def test_a_filter_keeps_the_rows_that_fit_it(tmp_path: Path, condition: object, fits: object):
    whole = _rows_of(tmp_path / "whole", "v6/cow_rolled_back_leftover")
    kept = _rows_of(tmp_path / "kept", "v6/cow_rolled_back_leftover", filter=condition)
    expected = [row["id"] for row in whole if fits(row)]  # type: ignore[operator]
    assert 0 < len(expected) < len(whole)
    assert sorted(row["id"] for row in kept) == sorted(expected)  # type: ignore[type-var]


@pytest.mark.parametrize("table", ["v6/mor_compacted", "v9/cow_upserts", "v4/apache_cow_upserts"])
def test_what_it_does_not_read_it_says(tmp_path: Path, table: str):
    with pytest.raises(Unsupported):
        _rows_of(tmp_path, table)


def test_a_function_that_it_lacks_is_reported(tmp_path: Path):
    with pytest.raises(Unsupported, match="filter-function-from_unixtime"):
        _rows_of(tmp_path, "v6/cow_rolled_back_leftover", filter=[["fn", "from_unixtime", "ts"], "=", "x"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("FileNotFoundError: Failed to open '/t/.hoodie/hoodie.properties'. No such file", Reason.NOT_A_TABLE),
        ("UnsupportedException: Missing required table config: hoodie.table.type", Reason.PROPERTIES_INVALID),
        ("JSONDecodeError: Expecting value", Reason.TIMELINE_FILE_CORRUPT),
        ("FileNotFoundError: /t/p=1/a.parquet not found", Reason.BASE_FILE_MISSING),
        ("ArrowInvalid: Parquet magic bytes not found in footer", Reason.BASE_FILE_CORRUPT),
    ],
)
def test_a_clear_error_becomes_a_reason(text: str, reason: Reason):
    found = daft.ERRORS.refusal(text)
    assert isinstance(found, Rejected)
    assert found.reason is reason


def test_an_unclear_error_stays_one():
    assert daft.ERRORS.refusal("ValueError: too many values to unpack") is None
