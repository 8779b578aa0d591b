"""The corpus on disk is whole, is what its recipes make, and is worth asking."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hudi_conformance.corpus.golden.building import budget_of, build, index, table_folders
from hudi_conformance.corpus.golden.cases import GoldenError
from hudi_conformance.corpus.golden.checking import archive_differences
from hudi_conformance.corpus.golden.cli import app
from hudi_conformance.corpus.golden.layout import copy_on_write
from hudi_conformance.corpus.golden.questions import RECIPES, golden
from hudi_conformance.corpus.golden.recipes import load_recipes
from hudi_conformance.corpus.golden.rides import fleet, second
from hudi_conformance.corpus.recipes_apache.catalogue import written_tables
from hudi_conformance.runner import manifest
from hudi_conformance.runner.answers_file import names
from hudi_conformance.runner.archive import ARCHIVE, INDEX, contents, listed, pack, unpack
from hudi_conformance.runner.case_files import DESCRIBED, EXPECTED
from hudi_conformance.runner.clauses import DRAFT_VERSIONS
from hudi_format.compat import tomllib
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2] / "golden_tables"
FOLDERS = table_folders(ROOT)
READING_OPS = {"read_snapshot", "read_as_of", "read_optimized"}
SAMPLE = ("v9/mor_event_time_late_data", "v6/mor_rollback_interleaved", "v8/cow_upserts", "v9/bad_block_content")


def _cases(folder: Path) -> list[dict[str, object]]:
    cases: list[dict[str, object]] = _table(folder)["case"]
    return cases


def _table(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / DESCRIBED).read_text(encoding="utf-8"))


def test_the_corpus_is_as_large_as_promised() -> None:
    """At least 34 model-written tables, ten of them malformed, over versions 4 to 9, COW and MOR."""
    tables = [_table(folder) for folder in FOLDERS if _table(folder)["written_by"] == "model"]
    malformed = [
        folder for folder in FOLDERS if any("reject" in step for case in _cases(folder) for step in case["steps"])
    ]

    assert len(tables) >= 34
    assert len(malformed) >= 10
    assert {(table["table_version"], table["table_type"]) for table in tables} >= {
        (version, kind) for version in (5, 6, 8, 9) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    }


def test_a_third_of_the_reading_cases_stands_on_tables_that_apache_hudi_wrote() -> None:
    """Own bytes alone would prove that model and engine agree with themselves; of drafts no release wrote a byte."""
    reading = [
        _table(folder)["written_by"]
        for folder in FOLDERS
        if _table(folder)["table_version"] not in DRAFT_VERSIONS
        for case in _cases(folder)
        if any(step["op"] in READING_OPS for step in case["steps"])
    ]

    assert sum(writer != "model" for writer in reading) * 3 >= len(reading)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_each_table_is_whole_and_within_its_budget(folder: Path) -> None:
    """What the manifest says is there, nothing else is, and it stays small."""
    entries = listed(folder)

    assert manifest.differences(entries, contents(folder / ARCHIVE)) == []
    assert sum(entry.size for entry in entries) <= budget_of(entries)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_each_case_states_its_question_and_its_mutants(folder: Path) -> None:
    """A case without a mutant proves nothing; without given, when and then nobody understands it."""
    cases = _cases(folder)

    assert cases
    assert len({case["id"] for case in cases}) == len(cases)
    for case in cases:
        assert case["kills"]
        assert case["clauses"]
        assert all(case[part] for part in ("title", "given", "when", "then"))


def test_expected_answers_and_cases_name_each_other() -> None:
    """No answer file is left over, none is missing."""
    for folder in FOLDERS:
        named = set()
        for case in _cases(folder):
            for step in case["steps"]:
                expect = step.get("expect", {})
                named |= {expect} if isinstance(expect, str) else set(expect.values())
        assert named == names(folder / EXPECTED), folder


def test_the_index_is_what_stands_on_disk() -> None:
    """The index is generated, never edited."""
    assert json.loads((ROOT / INDEX).read_text(encoding="utf-8"))["tables"] == index(ROOT)


def test_every_recipe_has_a_table_and_every_table_a_recipe() -> None:
    """Nothing on disk that could not be made again or asked again."""
    load_recipes()

    assert {folder.relative_to(ROOT).as_posix() for folder in FOLDERS} == RECIPES.keys() | written_tables().keys()


@pytest.mark.slow
def test_two_builds_under_two_hash_seeds_give_equal_bytes(tmp_path: Path) -> None:
    """Model-written tables are byte-reproducible, and equal to what is checked in."""
    for seed in ("1", "2"):
        command = [
            sys.executable,
            "-m",
            "hudi_conformance.corpus.golden.cli",
            "build",
            "--root",
            str(tmp_path / seed),
            *SAMPLE,
        ]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)

    assert _bytes(tmp_path / "1") == _bytes(tmp_path / "2")
    for table in SAMPLE:
        assert listed(tmp_path / "1" / table) == listed(ROOT / table), table
        for name in (DESCRIBED, EXPECTED):
            assert (tmp_path / "1" / table / name).read_bytes() == (ROOT / table / name).read_bytes(), table


def test_check_lists_what_changed(tmp_path: Path) -> None:
    """A byte changed by hand is seen through the list of files."""
    shutil.copytree(ROOT / "v9/mor_deletes", tmp_path / "v9/mor_deletes")
    files = unpack(tmp_path / "v9/mor_deletes", tmp_path / "files")
    next((files / "oslo").glob("*.parquet")).write_bytes(b"")
    pack(files, tmp_path / "v9/mor_deletes" / ARCHIVE)

    (difference,) = archive_differences(tmp_path)
    assert difference.startswith("v9/mor_deletes: changed: oslo/")


def test_packing_twice_gives_the_same_archive(tmp_path: Path) -> None:
    """Dates and the order of folders do not show; dot files and empty folders are kept."""
    files = unpack(ROOT / "v9/mor_deletes", tmp_path / "files")
    (files / "empty").mkdir()
    for name in ("one.zip", "two.zip"):
        pack(files, tmp_path / name)
        for path in files.rglob("*"):
            os.utime(path, (1, 1))

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert contents(tmp_path / "one.zip") == manifest.scan(files, 0)


def test_a_case_whose_mutant_survives_fails_the_build(tmp_path: Path) -> None:
    """The builder guards the author: a question that cannot tell a named mutant from the model is refused."""
    table_id = "v9/test_surviving_mutant"

    @golden(table_id, "A copy-on-write table", copy_on_write(9))
    def one_insert(table: object) -> None:
        """One insert."""
        table.insert(second(1), fleet(10))  # type: ignore[attr-defined]
        table.snapshot("snapshot", "all rows", "RD-001", "rollback-ignored")  # type: ignore[attr-defined]

    try:
        with pytest.raises(GoldenError, match="rollback-ignored would pass"):
            build(tmp_path, [table_id])
    finally:
        del RECIPES[table_id]


def test_the_command_line_builds_one_table(tmp_path: Path) -> None:
    """`golden build ID --kills` shows an author what each case distinguishes."""
    result = CliRunner().invoke(app, ["build", "--root", str(tmp_path), "--kills", "v9/bad_checksum"])

    assert result.exit_code == 0, result.output
    assert "v9/bad_checksum::snapshot  CHECKSUM_MISMATCH  kills" in result.output
    assert "1 tables, 2 cases" in result.output


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != INDEX)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
