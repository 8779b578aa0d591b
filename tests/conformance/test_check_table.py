"""check-table on stored tables: nothing false, every fault with its clause, with and without rows, and no write."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from hudi_conformance.bridge import load_for
from hudi_conformance.bridge.checking import load_for_check
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.interop.real_tables import cache, checking
from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.checking import errors_in
from hudi_conformance.interop.real_tables.known import KnownDifference
from hudi_conformance.report.checking_tables import check, tables_below
from hudi_conformance.report.clause_text import line_html
from hudi_conformance.report.inspecting import BROKEN, CHECKER, NO_VERDICT, VALID, Check, Finding
from hudi_conformance.report.remedies import load_remedies
from hudi_conformance.runner.adapters_config import AdapterConfig, find_adapter
from hudi_conformance.runner.archive import folder_of, golden_ids, unpacked_corpus
from hudi_conformance.runner.resources import CorpusError, suite_root
from hudi_conformance.runner.session import Session
from hudi_format.compat import tomllib
from hudi_format.storage import LocalStorage, ReadOnlyStorage
from hudi_format.table.properties import parse_properties, serialise_properties
from hudi_model_tools.violations import violations
from hudi_spark import check_table, read_arrow, write_arrow

GOLDEN = unpacked_corpus()
BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "run.py"
INDEXED = GOLDEN / "v9" / "apache_mor_metadata_table" / "table"
Found = set[tuple[str, str]]
FOUND: dict[str, Found] = {"v8/apache_mor_moved": {("IX-031", "error")}}
"""What is wrong with tables that Apache Hudi wrote: release 1.0.2 loses a row's entry when the row moves and its value
stays, so that a filter by the index misses the row (the table's own case says so)."""


def written_by_apache() -> list[str]:
    return [
        name
        for name in golden_ids()
        if "Apache" in tomllib.loads((folder_of(name) / "table.toml").read_text(encoding="utf-8"))["written_by"]
    ]


def found_in(table: Path, *, deep: bool = False) -> Found:
    state = load_for_check(LocalStorage(table), deep=deep)
    return {(one.clause, one.severity.value) for one in violations(state)}


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """A copy of a table with a metadata table, both written by Apache Hudi."""
    shutil.copytree(INDEXED, tmp_path / "table")
    return tmp_path / "table"


def one_of(table: Path, pattern: str) -> Path:
    return min(table.glob(pattern))


@pytest.mark.parametrize("deep", [False, True], ids=["without rows", "with rows"])
def test_no_table_of_apache_hudi_has_a_false_violation(deep: bool) -> None:
    """What some of them have of torn bytes readers skip, and is a warning."""
    tables = written_by_apache()
    assert len(tables) > 50
    wrong = {name: found for name in tables if (found := found_in(GOLDEN / name / "table", deep=deep))}
    true = {name: wrong.pop(name, set()) for name in FOUND}
    assert true == (FOUND if deep else {name: set() for name in FOUND})
    assert {one for found in wrong.values() for one in found} == {("LF-010", "warning")}, wrong
    assert all("torn" in name or "garbage" in name for name in wrong)


@pytest.mark.slow
def test_looking_without_rows_finds_part_of_what_looking_with_rows_finds() -> None:
    for folder in sorted(GOLDEN.glob("*/bad_*")):
        try:
            deep = found_in(folder / "table", deep=True)
        except Exception as refusal:  # noqa: BLE001 - whatever refuses the one refuses the other
            with pytest.raises(type(refusal)):
                found_in(folder / "table")
            continue
        assert found_in(folder / "table") <= deep, folder.name


def test_the_ops_of_the_protocol_read_rows_by_default() -> None:
    """A key that stands in two file groups shows only where rows are read."""
    table = GOLDEN / "v6" / "bad_key_in_two_groups" / "table"

    def clauses(**params: bool) -> set[str]:
        return {
            one["clause"] for one in evaluate(load_for("check_table", table, params), "check_table", params).content
        }

    assert clauses() == clauses(deep=True) == {"DM-001"}
    assert clauses(deep=False) == set()


FAULTS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a listed file is gone": ("MT-010", lambda table: one_of(table, "*/*.log.*").unlink()),
    "a file is longer than listed": (
        "MT-010",
        lambda table: (path := one_of(table, "*/*.parquet")).write_bytes(path.read_bytes() + b"PAR1"),
    ),
    "a file is longer than its commit says": (
        "SA-001",
        lambda table: (path := one_of(table, "*/*.parquet")).write_bytes(
            (data := path.read_bytes())[:4] + b"    " + data[4:]
        ),
    ),
    "the metadata table is gone": ("MT-007", lambda table: shutil.rmtree(table / ".hoodie" / "metadata")),
    "an index is gone": ("MT-007", lambda table: shutil.rmtree(table / ".hoodie" / "metadata" / "files")),
    "the metadata table has another version": (
        "MT-001",
        lambda table: stated(table / ".hoodie/metadata/.hoodie/hoodie.properties", "hoodie.table.version", "8"),
    ),
    "a partition is not marked": (
        "SL-002",
        lambda table: one_of(table, "*/.hoodie_partition_metadata").unlink(),
    ),
    "a partition says another depth": (
        "SL-002",
        lambda table: stated(one_of(table, "*/.hoodie_partition_metadata"), "partitionDepth", "4"),
    ),
    "a metafile does not parse": (
        "SL-002",
        lambda table: one_of(table, "*/.hoodie_partition_metadata").write_bytes(b"commitTime=1\npartitionDepth=x\n"),
    ),
}


def stated(path: Path, key: str, value: str) -> None:
    path.write_bytes(serialise_properties({**parse_properties(path.read_bytes(), path.name), key: value}))


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_of_a_stored_table_is_reported_by_its_clause(indexed: Path, what: str) -> None:
    clause, damage = FAULTS[what]
    assert found_in(indexed) == set()
    damage(indexed)
    assert (clause, "error") in found_in(indexed)


def test_only_the_folder_is_reported_where_it_has_no_metafile(indexed: Path) -> None:
    """Its files are there, and neither the timeline nor the list of files names too many."""
    one_of(indexed, "*/.hoodie_partition_metadata").unlink()
    assert found_in(indexed) == {("SL-002", "error")}


def test_an_action_that_the_metadata_table_lacks_is_reported(indexed: Path) -> None:
    """The newest action's files of the metadata timeline are gone, as if its writer had not known of the table."""
    instant = max(path.name for path in (indexed / ".hoodie/timeline").glob("*.deltacommit")).partition("_")[0]
    for path in (indexed / ".hoodie/metadata/.hoodie/timeline").glob(f"{instant}*"):
        path.unlink()
    assert ("MT-003", "error") in found_in(indexed)


def test_a_check_writes_nothing(indexed: Path) -> None:
    """Neither bytes nor times change, even where files are broken; and the storage it is given could not."""

    def state() -> dict[str, tuple[int, int, bytes]]:
        files = (path for path in sorted(indexed.rglob("*")) if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size, path.read_bytes()) for path in files}

    one_of(indexed, "*/*.parquet").write_bytes(b"no Parquet")
    before = state()
    assert found_in(indexed, deep=True)
    assert found_in(indexed)
    assert state() == before


@pytest.mark.parametrize("folder", ["", ".hoodie"])
def test_a_storage_that_is_only_read_refuses_each_write(indexed: Path, folder: str) -> None:
    storage, below = ReadOnlyStorage(LocalStorage(indexed), folder), indexed / folder
    name = "hoodie.properties" if folder else ".hoodie/hoodie.properties"
    kept = (below / name).read_bytes()
    for write in (
        lambda: storage.put(name, b""),
        lambda: storage.put_if_absent("new", b""),
        lambda: storage.delete(name),
        lambda: storage.delete_folder("."),
    ):
        with pytest.raises(PermissionError, match="only read"):
            write()
    assert storage.read(name) == kept == (below / name).read_bytes()
    assert storage.read_range(name, 1, 3) == kept[1:4]
    assert storage.size(name) == len(kept)
    assert storage.exists(name)
    assert not storage.exists("new")
    assert [one.path for one in storage.list_files()] == [
        str(path.relative_to(below)) for path in sorted(below.rglob("*")) if path.is_file()
    ]
    assert storage.list_folders() == sorted(path.name for path in below.iterdir() if path.is_dir())


def test_progress_over_many_files_is_reported(tmp_path: Path) -> None:
    """The table of the benchmark, smaller."""
    command = [
        sys.executable,
        str(BENCHMARKS),
        "--only",
        "check of 120 files",
        "--slices",
        "60",
        "--rounds",
        "1",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    checked = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(len(one["seconds"]), one["refusals"]) for one in checked] == [(2, {}), (2, {})]
    seen = list[tuple[int, int]]()
    files = sum(1 for path in INDEXED.rglob("*") if not path.is_relative_to(INDEXED / ".hoodie") and path.is_file())
    load_for_check(LocalStorage(INDEXED), progress=lambda done, all_: seen.append((done, all_)))
    assert seen == [(number + 1, len(seen)) for number in range(len(seen))]
    assert 0 < len(seen) < files


def check_by(adapter: str = CHECKER, *, deep: bool = False) -> Check:
    return Check(find_adapter(adapter, suite_root()), deep=deep)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", [CHECKER, "model"])
def test_the_exit_code_and_the_text_say_what_was_found(adapter: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Grouped by clause: its name, what it requests, then each place."""
    assert check([str(GOLDEN / "v9/mor_event_time_late_data/table")], check_by(adapter), as_json=False) == VALID
    assert "0 errors, 0 warnings" in capsys.readouterr().out
    assert check([str(GOLDEN / "v9/apache_mor_torn_log/table")], check_by(adapter), as_json=False) == VALID
    assert "warning LF-010  A torn or garbage block is corrupt" in capsys.readouterr().out
    assert check([str(GOLDEN / "v9/bad_two_completions/table")], check_by(adapter, deep=True), as_json=False) == BROKEN
    printed = capsys.readouterr().out
    assert "error TL-012  Instants are unique" in printed
    assert "rule: No two actions have the same requested time" in printed
    assert "(hudi-conformance clause TL-012)" in printed
    assert "  means: Two timeline files contradict each other" in printed
    assert "  to do: Move the file that is not its writer's" in printed
    assert "1 error, 0 warnings; answers may be wrong" in printed


def test_json_is_a_line_for_each_violation_or_the_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check([str(GOLDEN / "v9/bad_two_completions/table")], check_by(), as_json=True) == BROKEN
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert found.keys() == {"table", *(one.name for one in fields(Finding))}
    assert (found["clause"], found["affects"], found["known"]) == ("TL-012", "answers", [])
    for place in (str(tmp_path), "gopher://nowhere", str(tmp_path / "missing")):
        assert check([place], check_by(), as_json=True) == NO_VERDICT
        assert json.loads(capsys.readouterr().out)["refused"].keys() == {
            "table",
            "reason",
            "clause",
            "where",
            "message",
        }


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("-m", "hudi_conformance.adapters.null", "unsupported"), "UNSUPPORTED"),
        (("-m", "hudi_conformance.adapters.null", "reject"), "refuses every table"),
        (("-c", "raise SystemExit(7)"), "ended with status 7"),
        (("-c", "import time; time.sleep(60)"), "no answer within"),
    ],
)
def test_what_an_adapter_cannot_judge_is_no_sound_table(
    command: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    adapter = AdapterConfig("other", (sys.executable, *command))
    limits = Check(adapter, limit_s=2.0, start_limit_s=2.0 if "sleep" in command[-1] else 60.0)
    assert check([str(INDEXED)], limits, as_json=False) == NO_VERDICT
    assert message in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_takes_options_for_a_storage(tmp_path: Path) -> None:
    """One that is no `key=value` is refused before anything is looked at."""
    command = [sys.executable, "-m", "hudi_conformance.cli", "check-table", str(INDEXED)]
    environment = {**os.environ, "COLUMNS": "160"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (VALID, "0 errors, 0 warnings")
    assert "checked by hudi-spark-in-process" in done.stdout
    wrong = subprocess.run(
        [*command, "--option", "endpoint"], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert wrong.returncode == NO_VERDICT
    assert "endpoint is no key=value" in wrong.stdout + wrong.stderr


@pytest.mark.parametrize(
    ("table", "clauses"),
    [("v9/apache_mor_torn_log", []), ("v9/bad_two_completions", ["TL-012"]), ("v9/bad_checksum", ["PR-003"])],
)
def test_of_tables_that_a_release_wrote_only_errors_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, clauses: list[str]
) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    made = recipes()[0]
    shutil.copytree(GOLDEN / table / "table", tmp_path / made.id / "table")
    assert [one.clause for one in errors_in(made)] == clauses


NULL = AdapterConfig("null", (sys.executable, "-m", "hudi_conformance.adapters.null", "empty"))
LISTED = KnownDifference(("*::check_table",), "*", "a reason", "some evidence")


DIFFERENCES: dict[str, tuple[str, str, tuple[KnownDifference, ...], list[str]]] = {
    "nothing of what both warn of": ("v9/apache_mor_torn_log", CHECKER, (), []),
    "an error": ("v9/bad_two_completions", CHECKER, (), ["TL-012 "]),
    "a difference": ("v9/bad_two_completions", "null", (), ["error TL-012 is found by the model alone"]),
    "nothing of what is listed": ("v9/bad_two_completions", "null", (LISTED,), []),
    "that a listed difference is gone": (
        "v9/apache_mor_torn_log",
        CHECKER,
        (LISTED,),
        [f"{CHECKER} and the model differ no longer"],
    ),
}


@pytest.mark.parametrize("what", DIFFERENCES)
def test_unlisted_differences_between_check_and_reference_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    table, adapter, known, lines = DIFFERENCES[what]
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(checking, "is_answered", lambda _recipe: True)
    made = recipes()[0]
    shutil.copytree(GOLDEN / table / "table", tmp_path / made.id / "table")
    found = list(
        checking.check_lines([made], NULL if adapter == "null" else find_adapter(adapter, suite_root()), known)
    )
    assert len(found) == len(lines)
    assert all(one.text.startswith(f"{made.id}: {text}") for one, text in zip(found, lines, strict=True)), found
    assert [one.is_difference for one in found] == [not text.startswith("TL-") for text in lines]


SOUND, TORN = GOLDEN / "v9/mor_event_time_late_data/table", GOLDEN / "v9/apache_mor_torn_log/table"
BAD = GOLDEN / "v9/bad_two_completions/table"


@pytest.mark.parametrize(
    ("tables", "code"),
    [
        ([SOUND, TORN], VALID),
        ([BAD, SOUND], BROKEN),
        ([SOUND, GOLDEN / "nowhere"], NO_VERDICT),
        ([GOLDEN / "nowhere", BAD, SOUND], BROKEN),
    ],
)
def test_many_tables_have_one_exit_code(
    tables: list[Path], code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the gravest, in any order; each is named with its numbers, and the adapter starts once."""
    started = list[object]()
    original = Session.start
    monkeypatch.setattr(Session, "start", lambda self: (started.append(self), original(self))[1])
    assert check([str(one) for one in tables], check_by(), as_json=False) == code
    printed = capsys.readouterr().out
    assert all(f"{one}: " in printed for one in tables)
    assert f"{len(tables)} tables: {tables.count(BAD)} with errors, " in printed
    assert len(started) == 1
    assert check([str(one) for one in reversed(tables)], check_by(), as_json=True) == code


def test_tables_are_found_below_a_folder(tmp_path: Path) -> None:
    """However deep; a metadata table is none by itself, and a folder without any is refused."""
    for name in ("a", "b/c/d"):
        shutil.copytree(INDEXED, tmp_path / name)
    (tmp_path / "empty").mkdir()
    assert tables_below([str(tmp_path)], {}) == (str(tmp_path / "a"), str(tmp_path / "b/c/d"))
    for folder in ("empty", "nowhere"):
        with pytest.raises(CorpusError, match="no tables below"):
            tables_below([str(tmp_path / folder)], {})


def test_the_page_of_checked_tables_says_what_the_text_says(tmp_path: Path) -> None:
    """In one file that requests nothing, with the timeline drawn, whatever a folder is named."""
    marked = tmp_path / "<script>alert(1)<" / "script>"
    shutil.copytree(BAD, marked)
    page = tmp_path / "pages" / "tables.html"
    assert check([str(marked), str(TORN), str(tmp_path)], check_by(), as_json=False, html=page) == BROKEN
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    remedies = load_remedies(suite_root())
    for clause in ("TL-012", "LF-010"):
        assert clause in text
        assert line_html(remedies.of(clause).consequence) in text
        assert line_html(remedies.of(clause).remedy) in text
    assert "NOT_A_TABLE" in text
    assert text.count("<svg") == 1
    assert "No timeline is drawn: " in text
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)|url\(|@import""", text)


MENDED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "PR-003": (
        "v9/bad_checksum",
        lambda table: (
            path := table / ".hoodie/hoodie.properties",
            path.write_text(re.sub("(?m)^hoodie.table.checksum=.*\n", "", path.read_text())),
        ),
    ),
    "PR-008": ("v6/mor_properties_backup", lambda table: write_once(table, "true")),
    "TL-012": (
        "v9/bad_two_completions",
        lambda table: max((table / ".hoodie/timeline").glob("20250101000002000_*")).unlink(),
    ),
    "SL-002": (
        "v9/apache_mor_metadata_table",
        lambda table: (table / "region=north/.hoodie_partition_metadata").write_text(
            "commitTime=20250101000001000\npartitionDepth=1\n"
        ),
    ),
    "MT-010": ("v6/bad_list_lacks_file", lambda table: [write_once(table, kept) for kept in ("false", "true")]),
}


def write_once(table: Path, kept: str) -> None:
    rows = read_arrow(table).slice(0, 1)
    write_arrow(table, rows, "upsert", configs={"hoodie.metadata.enable": kept})


@pytest.mark.parametrize("clause", MENDED)
def test_the_remedy_mends_the_table(tmp_path: Path, clause: str) -> None:
    """What `specs/check-table.toml` says to do is done, after which the check finds nothing of the clause."""
    name, mend = MENDED[clause]
    table = tmp_path / "table"
    shutil.copytree(GOLDEN / name / "table", table)
    if clause == "SL-002":
        (table / "region=north/.hoodie_partition_metadata").unlink()
    before = {one.clause for one in check_table(table, deep=True)}
    mend(table)
    assert clause in before
    assert clause not in {one.clause for one in check_table(table, deep=True)}
