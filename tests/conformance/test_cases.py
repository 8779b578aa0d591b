"""The corpus as values."""

import sys
import zipfile
from pathlib import Path

import pytest
from hudi_conformance.runner import resources
from hudi_conformance.runner.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.runner.cases import AREAS, Selection, load_cases, matches_id, normal_id
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.selecting import select
from hudi_format.compat import tomllib
from tiny_corpus import Params, TinyCorpus

ROOT = Path(__file__).parents[2]


def test_cases_are_named_after_the_areas_of_the_rule_book() -> None:
    """A new area that nobody can select would show as two letters in every report."""
    areas = tomllib.loads((ROOT / "specs" / "areas.toml").read_text(encoding="utf-8"))

    assert set(AREAS) == set(areas)
    assert len(set(AREAS.values())) == len(AREAS)


def test_an_id_is_made_of_table_and_case(tiny: TinyCorpus, passing: Params):
    """Ids are stable: they name table and case, nothing of order or parameters."""
    expected = tiny.case("first", passing)

    assert [case.id for case in load_cases(tiny.root)] == [expected]


def test_a_glob_fits_full_short_and_bare_ids():
    """A user types as much of an id as is needed."""
    full = "conformance::v9/mor_late::snapshot-late"

    assert all(matches_id(full, glob) for glob in (full, "v9/*", "snapshot-*", "*late*", "v9/mor_late::snapshot-late"))
    assert not matches_id(full, "v8/*")
    assert normal_id("v9/mor_late::snapshot-late") == full


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection(), {"one", "two", "three"}),
        (Selection(areas=("merging",)), {"two"}),
        (Selection(clauses=("RD-001",)), {"one", "three"}),
        (Selection(table_versions=(8,)), {"three"}),
        (Selection(features=("table-version-9",)), {"one", "two"}),
        (Selection(cases=("t*",), table_versions=(9,)), {"two"}),
    ],
)
def test_each_part_of_a_selection_narrows(tiny: TinyCorpus, passing: Params, selection: Selection, names: set[str]):
    """Area, clause, feature, version and glob each leave out what does not fit."""
    tiny.case("one", passing)
    tiny.case("two", passing, clauses=("MG-003", "RD-002"))
    tiny.case("three", passing, table_id="v8/tiny")

    assert {case.name for case in load_cases(tiny.root, selection)} == names


def test_an_empty_selection_is_refused(tiny: TinyCorpus, passing: Params):
    """Zero cases prove nothing."""
    tiny.case("one", passing)

    with pytest.raises(CorpusError, match="no case"):
        select(load_cases(tiny.root), Selection(cases=("nothing",)))


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(areas=("reading", "merging")), "area 'merging'"),
        (Selection(areas=("readings",)), r"did you mean reading\?"),
        (Selection(clauses=("RD-001", "RD-999")), "clause 'RD-999'"),
        (Selection(features=("table-version-7",)), "feature 'table-version-7'"),
        (Selection(table_versions=(9, 8)), "table version 8"),
        (Selection(cases=("one", "two")), "case 'two'"),
        (Selection(), "the corpus is empty"),
    ],
)
def test_every_word_of_a_selection_must_fit_a_case(
    tiny: TinyCorpus, passing: Params, selection: Selection, message: str
):
    """A mistyped area among good ones would quietly ask less."""
    if selection != Selection():
        tiny.case("one", passing)

    with pytest.raises(CorpusError, match=message):
        select(load_cases(tiny.root), selection)


def test_options_that_fit_cases_but_no_case_together_are_refused(tiny: TinyCorpus, passing: Params):
    """Zero cases are zero cases, however they come about."""
    tiny.case("one", passing)
    tiny.case("two", passing, clauses=("MG-003",))

    with pytest.raises(CorpusError, match="no case fits them all"):
        select(load_cases(tiny.root), Selection(areas=("merging",), cases=("one",)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[case]]\nid = 'x'\n", "'title' is missing"),
        ("[[case", "table.toml"),
        ("case = 3\n", "table.toml"),
    ],
)
def test_a_broken_case_file_names_itself(tiny: TinyCorpus, text: str, message: str):
    """A mistake in a case file is reported with the table and the file."""
    path = tiny.table() / "table.toml"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")

    with pytest.raises(CorpusError, match=message):
        load_cases(tiny.root)


def test_expect_and_reject_exclude_each_other(tiny: TinyCorpus, passing: Params):
    """A step has one outcome."""
    tiny.case("both", passing, outcome='expect = "rows"\nreject = {reason = "NOT_A_TABLE"}')

    with pytest.raises(CorpusError, match="not both"):
        load_cases(tiny.root)


def test_a_case_id_stands_once(tiny: TinyCorpus, passing: Params):
    """Two cases of one id would share their history."""
    tiny.case("same", passing)
    tiny.case("same", passing)

    with pytest.raises(CorpusError, match="twice"):
        load_cases(tiny.root)


class TestWhereTheCorpusIs:
    """A checkout, the archive of the wheel, or the folder that the user names."""

    def _archive(self, folder: Path) -> Path:
        archive = folder / "corpus.zip"
        with zipfile.ZipFile(archive, "w") as bundle:
            bundle.writestr("golden_tables/v9/t/table/.hoodie/hoodie.properties", "a=b")
        return archive

    def test_the_archive_is_unpacked_once_with_its_dot_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A second run finds what the first unpacked."""
        monkeypatch.setenv(resources.CACHE_VARIABLE, str(tmp_path / "cache"))
        archive = self._archive(tmp_path)

        first = resources.unpacked(archive)
        marker = first / "golden_tables" / "seen"
        marker.touch()

        assert resources.unpacked(archive) == first
        assert marker.exists()
        assert (first / "golden_tables/v9/t/table/.hoodie/hoodie.properties").read_text() == "a=b"
        assert [path.name for path in (tmp_path / "cache").iterdir()] == [first.name]

    def test_another_archive_has_another_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """An upgraded suite does not read the tables of the one before."""
        monkeypatch.setenv(resources.CACHE_VARIABLE, str(tmp_path / "cache"))
        archive = self._archive(tmp_path)
        first = resources.unpacked(archive)
        with zipfile.ZipFile(archive, "a") as bundle:
            bundle.writestr("golden_tables/v9/u/table.toml", "")

        assert resources.unpacked(archive) != first

    def test_no_archive_is_reported(self, tmp_path: Path):
        """A wheel without its corpus runs nothing."""
        with pytest.raises(CorpusError, match=r"corpus\.zip"):
            resources.unpacked(tmp_path / "corpus.zip")

    def test_a_named_folder_must_hold_tables(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A wrong variable is reported, not taken for an empty corpus."""
        monkeypatch.setenv(resources.CORPUS_VARIABLE, str(tmp_path))

        with pytest.raises(CorpusError, match="golden_tables"):
            resources.suite_root()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my-adapter --fast", "my-adapter"),
        ("python3 tools/my_adapter.py", "my_adapter"),
        ("python -m package.adapter", "package.adapter"),
        ("/opt/x/reader serve", "reader"),
    ],
)
def test_a_command_line_is_named_after_its_program(tiny: TinyCorpus, text: str, name: str):
    """Two scripts under one interpreter are two adapters."""
    assert find_adapter(text, tiny.root).name == name


@pytest.mark.parametrize("text", ["", "no-such-program", "'unclosed"])
def test_what_names_no_adapter_is_reported(tiny: TinyCorpus, text: str):
    """A typing error is not a failing implementation."""
    with pytest.raises(AdapterConfigError):
        find_adapter(text, tiny.root)


def test_a_user_s_adapter_file_works_from_any_folder(tiny: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its command runs in the file's folder, and its lists lie beside it; the command may be one text."""
    (tmp_path / "theirs").mkdir()
    for name in ("known.toml", "skips.toml"):
        (tmp_path / "theirs" / name).write_text("", encoding="utf-8")
    lines = (
        'name = "x"\ncommand = "{python} \'my adapter.py\'"\nexpected_failures = "known.toml"\nskips = "skips.toml"\n'
    )
    (tmp_path / "theirs" / "adapter.toml").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    found = find_adapter("theirs/adapter.toml", tiny.root)

    assert found.folder == tmp_path / "theirs"
    assert found.command == (sys.executable, "my adapter.py")
    assert [path and path.name for path in (found.expected_failures, found.skips)] == ["known.toml", "skips.toml"]


@pytest.mark.parametrize("content", ["name = 3", "name = 'x'", "[[", 'name = "x"\ncommand = 3'])
def test_a_broken_adapter_file_is_reported(tiny: TinyCorpus, content: str):
    """The file is named."""
    (tiny.root / "adapters" / "broken.toml").write_text(content, encoding="utf-8")

    with pytest.raises(AdapterConfigError, match=r"broken\.toml"):
        find_adapter("broken", tiny.root)


def test_every_case_with_two_answers_cites_the_clause_that_has_two_readings():
    """Which reading an implementation follows is reported clause by clause: the clause must be known."""
    root = Path(__file__).resolve().parents[2]
    book = ClauseBook(root)
    cases = load_cases(root)
    cited = [(case, step) for case in cases for step in case.steps if len(step.expectations) > 1]

    nameless = [case.id for case, step in cited if not book.has_readings(step.clause or book.reading_clause(case))]

    assert nameless == []
