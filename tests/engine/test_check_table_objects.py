"""check-table and timeline on an object store say of a table what they say of it on disk, and write nothing."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hudi_conformance.report.checking_tables import check
from hudi_conformance.report.drawing_timelines import draw
from hudi_conformance.report.inspecting import BROKEN, CHECKER, NO_VERDICT, VALID, Check
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_conformance.runner.resources import suite_root
from hudi_format.storage import open_storage
from object_endpoint import BUCKET, Endpoint, endpoint, upload

GOLDEN = unpacked_corpus()
TABLES = ("v9/apache_mor_metadata_table", "v6/apache_mor_compacted", "v9/bad_two_completions")


def check_by(options: Mapping[str, str], *, deep: bool = False) -> Check:
    return Check(find_adapter(CHECKER, suite_root()), options, deep)


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory):
    with endpoint(tmp_path_factory.mktemp("s3") / "moto.log") as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("deep", [False, True], ids=["without rows", "with rows"])
def test_a_table_in_a_bucket_is_checked_as_on_disk(
    s3: Endpoint, capsys: pytest.CaptureFixture[str], table: str, deep: bool
) -> None:
    folder, place = GOLDEN / table / "table", f"s3://{BUCKET}/{table}"
    storage = open_storage(place, s3.options)
    upload(folder, storage)
    before = storage.list_files()

    on_disk = check([str(folder)], check_by({}, deep=deep), as_json=True), capsys.readouterr().out
    in_bucket = check([place], check_by(s3.options, deep=deep), as_json=True), capsys.readouterr().out

    assert (in_bucket[0], in_bucket[1].replace(f'"{place}"', f'"{folder}"')) == on_disk
    assert on_disk[0] == (BROKEN if "bad" in table else VALID)
    assert storage.list_files() == before


def test_a_timeline_in_a_bucket_is_drawn(s3: Endpoint, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder, place = GOLDEN / TABLES[0] / "table", f"s3://{BUCKET}/timeline"
    upload(folder, open_storage(place, s3.options))
    assert draw(place, s3.options, None, history=True, every=False) == 0
    there = capsys.readouterr().out
    assert draw(str(folder), {}, None, history=True, every=False) == 0
    assert there == capsys.readouterr().out
    assert draw(place, s3.options, tmp_path / "timeline.svg", history=False, every=False) == 0
    assert (tmp_path / "timeline.svg").read_text(encoding="utf-8").startswith("<svg")


def test_an_unreachable_table_gets_no_verdict(s3: Endpoint, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty place is no table; an option that the store does not know is reported."""
    assert check([f"s3://{BUCKET}/nothing"], check_by(s3.options), as_json=True) == NO_VERDICT
    assert json.loads(capsys.readouterr().out)["refused"]["reason"] == "NOT_A_TABLE"
    assert check([f"s3://{BUCKET}/nothing"], check_by({"colour": "red"}), as_json=True) == NO_VERDICT
    assert json.loads(capsys.readouterr().out)["refused"]["reason"] == "UNREADABLE"
