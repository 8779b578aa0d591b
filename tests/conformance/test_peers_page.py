"""The page about the peers: a maintainer finds the clause, the evidence and the command for each difference."""

import re

import pytest
from hudi_conformance.interop.peers.page import peers_page
from hudi_conformance.interop.peers.recorded import load_record
from hudi_conformance.interop.peers.running import PEERS
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.archive import listed
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.expected_failures import load_expected_failures, load_read_back
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import suite_root

ROOT = suite_root()


@pytest.fixture(scope="module")
def page() -> str:
    return peers_page(ROOT)


@pytest.mark.parametrize("peer", PEERS)
def test_each_difference_of_a_peer_stands_there_with_its_evidence(page: str, peer: str):
    product = load_record(ROOT, peer).implementation["name"]
    (part,) = (one for one in page.split("\n## ") if one.startswith(f"{product}\n"))
    for failure in load_expected_failures(find_adapter(peer, ROOT).expected_failures).values():
        section = part.partition(f"### {failure.clause}: {failure.why}\n")[2].partition("\n### ")[0]
        assert failure.evidence in section
        assert f"{peer} (" in section
        assert failure.finding.source in section


def test_each_command_repeats_a_case_of_an_adapter_that_lists_it(page: str):
    commands = re.findall(r"^hudi-conformance repro (\S+) --adapter (\S+)(?: --reader (\S+))?$", page, re.MULTILINE)
    checked = re.findall(
        r"^hudi-conformance golden unpack \S+ \S+ && hudi-conformance check-table ", page, re.MULTILINE
    )
    assert len(commands) + len(checked) == page.count("\n### ")
    for case, adapter, reader in commands:
        path = find_adapter(reader or adapter, ROOT).expected_failures
        if reader:
            assert any(entry.fits(case, adapter) for entry in load_read_back(path))
        else:
            assert case in load_expected_failures(path)


def test_each_clause_that_is_named_is_linked_to_its_file(page: str):
    book = ClauseBook(ROOT)
    for clause in set(re.findall(r"^### ([A-Z]{2}-\d{3}):", page, re.MULTILINE)):
        found = book.get(clause)
        assert found is not None
        assert f"(../specs/clauses/{found.anchor})" in page
        assert (ROOT / "specs" / "clauses" / found.file).is_file()


def test_the_case_that_is_shown_is_the_smallest_of_its_adapter(page: str):
    tables = {case.id: case.table.folder for case in load_cases(ROOT)}
    failures = load_expected_failures(find_adapter("hudi-rs", ROOT).expected_failures).values()
    torn = [failure.id for failure in failures if failure.clause == "LF-010"]
    sizes = {one: sum(entry.size for entry in listed(tables[one])) for one in torn}
    assert f"hudi-conformance repro {min(torn, key=sizes.__getitem__)} --adapter hudi-rs" in page
