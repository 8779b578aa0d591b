"""Findings: what a list of expected failures may name, and what it must say."""

from pathlib import Path

import pytest
from hudi_conformance.runner.adapters_config import AdapterConfigError, adapter_names, find_adapter
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.expected_failures import load_expected_failures, load_read_back, resolved
from hudi_conformance.runner.findings import findings_below
from hudi_conformance.runner.resources import suite_root

ROOT = suite_root()
IDS = tuple(case.id for case in load_cases(ROOT))
FINDING = '[[finding]]\nname = "loud"\nclause = "RD-001"\nwhy = "it shouts"\nevidence = "bytes"\nupstream = ["a/b#1"]\n'


def _list(folder: Path, text: str, findings: str = FINDING) -> Path:
    (folder / "findings").mkdir()
    (folder / "findings" / "reader.toml").write_text(findings, encoding="utf-8")
    (folder / "reader.expected.toml").write_text(text, encoding="utf-8")
    return folder / "reader.expected.toml"


def test_one_finding_is_reported_once_for_all_its_cases(tmp_path: Path):
    listed = load_expected_failures(
        _list(tmp_path, '[[case]]\nfinding = "reader/loud"\nids = ["v9/a::x", "v9/b::y"]\n')
    )
    assert list(listed) == ["conformance::v9/a::x", "conformance::v9/b::y"]
    assert {(one.clause, one.why, one.evidence) for one in listed.values()} == {("RD-001", "it shouts", "bytes")}
    assert {one.finding.upstream for one in listed.values()} == {("a/b#1",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[case]]\nfinding = "reader/quiet"\nid = "v9/a::x"', "reader/quiet"),
        ('[[case]]\nfinding = "reader/loud"', "'id' is missing"),
        ('[[case]]\nfinding = "reader/loud"\nids = []', "list of cases"),
        ('[[case]]\nfinding = "reader/loud"\nids = "v9/a::x"', "list of cases"),
        ('[[case]]\nid = "v9/a::x"\nclause = "RD-001"\nwhy = "so"', "'evidence' is missing"),
        ('[[case]]\nid = "v9/a::x"\nwhy = "so"\nevidence = "bytes"', "'clause' is missing"),
        ('[[case]]\nid = "v9/a::x"\nclause = "RD-001"\nwhy = "so"\nevidence = " "', "'evidence' is missing"),
        ('[[case]]\nid = "v9/a::x"\nclause = "R"\nwhy = "so"\nevidence = "b"\nupstrem = []', "'upstrem' is not known"),
        ('[[case]]\nid = "v9/a::x"\nclause = "R"\nwhy = "so"\nevidence = "b"\nupstream = ["no"]', "owner/repository#1"),
    ],
)
def test_an_entry_without_a_finding_or_its_parts_is_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(AdapterConfigError, match=message):
        load_expected_failures(_list(tmp_path, text))


@pytest.mark.parametrize("findings", [FINDING * 2, FINDING.replace('"loud"', '""'), "[[finding", "finding = 3"])
def test_a_finding_has_a_name_of_its_own(tmp_path: Path, findings: str):
    path = _list(tmp_path, '[[case]]\nfinding = "reader/loud"\nid = "v9/a::x"\n', findings)
    with pytest.raises(AdapterConfigError, match="reader"):
        load_expected_failures(path)


@pytest.mark.parametrize("adapter", [name for name in adapter_names(ROOT) if "fake" not in name])
def test_every_list_of_the_suite_names_cases_and_each_case_once(adapter: str):
    resolved(load_expected_failures(find_adapter(adapter, ROOT).expected_failures), IDS)


def test_every_finding_is_shown_by_a_case_of_some_release_or_a_command():
    lists = [find_adapter(name, ROOT).expected_failures for name in adapter_names(ROOT)]
    shown = {failure.finding for path in lists for failure in load_expected_failures(path).values()}
    shown |= {entry.finding for path in lists for entry in load_read_back(path)}
    found = findings_below(ROOT / "adapters").items()
    assert sorted(name for name, finding in found if finding not in shown and not finding.reproduce) == []
