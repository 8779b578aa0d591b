"""Java's errors as reasons, notices as warnings, hudi-rs's errors as refusals."""

from pathlib import Path

import pyarrow as pa
import pytest
from hudi_adapter.protocol import Rejected, Request, Unsupported
from hudi_adapter.reasons import Reason
from hudi_conformance.adapters import hudi_rs
from hudi_conformance.adapters.apache_hudi_releases import features_of, too_new
from hudi_conformance.adapters.python_packages import selected
from hudi_conformance.apache.java_errors import refusal
from hudi_conformance.apache.notices import corrupt_blocks, settings_text

_NOTICE = "Log HoodieLogFile{pathStr='file:/t/p=1/.g_1.log.1_0-0-0', fileLen=944} has a corrupted block at 106\n"
_NEWER_NOTICE = "Log HoodieLogFile(pathStr=file:/t/p=1/.g_1.log.1_0-0-0, fileSize=944) has a corrupted block at 106\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("o.a.h.exception.TableNotFoundException: Hoodie table not found in path", Reason.NOT_A_TABLE),
        ("IllegalArgumentException: Unknown versionCode:77", Reason.TABLE_VERSION_UNSUPPORTED),
        ("IllegalArgumentException: Cleaner cleaned up the timestamp of interest.", Reason.RANGE_NOT_RETAINED),
        ("HoodieIncrementalPathNotFoundException: Path not found\n[PATH_NOT_FOUND] /t/a", Reason.RANGE_NOT_RETAINED),
        ("RuntimeException: file:/t/a.parquet is not a Parquet file", Reason.BASE_FILE_CORRUPT),
        ("outer\nFileNotFoundException: File file:/t/a.parquet does not exist", Reason.BASE_FILE_MISSING),
    ],
)
def test_a_clear_java_exception_becomes_a_reason(text: str, reason: Reason):
    found = refusal(text)
    assert isinstance(found, Rejected)
    assert found.reason is reason
    assert found.native == text


@pytest.mark.parametrize(
    ("release", "version", "unsupported"),
    [
        ("0.15.0", "8", True),
        ("1.0.2", "9", True),
        ("1.0.2", "8", False),
        ("1.2.0", "9", False),
        ("0.15.0", "77", False),
    ],
)
def test_a_table_version_of_later_releases_is_not_supported(
    tmp_path: Path, release: str, version: str, unsupported: bool
):
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties").write_text(f"hoodie.table.version={version}\n", encoding="utf-8")
    found = too_new(tmp_path, release)
    assert (found is not None) is unsupported


def test_a_release_says_what_it_cannot_have():
    assert "table-version-9" in features_of("1.2.0")
    assert {"table-version-8", "table-version-9"} & set(features_of("1.0.2")) == {"table-version-8"}
    assert {"table-version-6", "table-version-8"} & set(features_of("0.15.0")) == {"table-version-6"}


def test_the_backup_states_the_version_where_the_properties_are_gone(tmp_path: Path):
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties.backup").write_text("hoodie.table.version=9\n", encoding="utf-8")
    assert too_new(tmp_path, "1.0.2") is not None


def test_where_no_properties_can_be_read_no_version_is_too_new(tmp_path: Path):
    assert too_new(tmp_path, "0.15.0") is None


def test_an_unclear_java_exception_stays_an_error():
    assert refusal("NullPointerException") is None


@pytest.mark.parametrize("notice", [_NOTICE, _NEWER_NOTICE], ids=["1.1", "1.2"])
def test_a_corrupt_block_is_one_warning_however_often_it_is_reported(notice: str):
    (warning,) = corrupt_blocks(notice * 3 + "Closing Log file reader\n", Path("/t"))
    assert (warning.clause, warning.file, warning.offset) == ("LF-010", "p=1/.g_1.log.1_0-0-0", 100)


def test_the_logging_settings_name_the_notices_file(tmp_path: Path):
    assert f"appender.notices.fileName = {tmp_path.as_posix()}/notices.log" in settings_text(tmp_path)


def test_hudi_rs_refuses_a_folder_that_is_no_table(tmp_path: Path):
    request = Request("read_snapshot", tmp_path, {}, tmp_path, 60)
    with pytest.raises((Rejected, Unsupported)):
        hudi_rs.adapter().operations["read_snapshot"](request)


def test_a_reader_leaves_meta_columns_out_by_default():
    rows = pa.table({"_hoodie_record_key": ["a"], "_hoodie_is_deleted": [None], "id": ["a"]})
    assert selected(rows, {}).column_names == ["id"]
    assert selected(rows, {"columns": ["_hoodie_is_deleted"]}).column_names == ["_hoodie_is_deleted"]
    assert selected(rows, {"meta_columns": True}).column_names == rows.column_names
    assert selected(rows, {"columns": ["id"]}).column_names == ["id"]


def test_hudi_rs_says_that_it_filters_nothing(tmp_path: Path):
    request = Request("read_snapshot", tmp_path, {"filter": ["id", "=", "a"]}, tmp_path, 60)
    with pytest.raises(Unsupported, match="filter"):
        hudi_rs.adapter().operations["read_snapshot"](request)


@pytest.mark.parametrize(
    "text",
    [
        "IllegalArgumentException: Payload class (a.B) and record merge strategy ID (x) conflict with each other",
        "IllegalArgumentException: Configured record merge mode (M) is inconsistent with payload class (null)",
    ],
)
def test_merge_settings_that_contradict_each_other_are_refused_where_a_table_is_made(text: str):
    found = refusal(text, writes=True)
    assert found is not None
    assert found.reason is Reason.CONFIG_INVALID
    assert refusal(text) is None
