"""What findings of check-table mean and what to do: stated for every clause that a check can report."""

import re
from pathlib import Path

import pytest
from hudi_conformance.report.inspecting import SAYS
from hudi_conformance.report.remedies import AFFECTS, FILE, load_remedies
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.clauses import load_clauses
from hudi_conformance.runner.resources import CorpusError, suite_root

ROOT = suite_root()
CHECKS = ("engine/hudi_spark/fsck", "model/hudi_model_tools/checks", "format/hudi_format")
REMEDIES = load_remedies(ROOT)
NAMED = re.compile(r"HudiTable\.(\w+)\(")


def reported_clauses() -> set[str]:
    """The clauses that checks and the bytes they read name, and those of every expected answer to `check_table`."""
    sources = (path.read_text(encoding="utf-8") for folder in CHECKS for path in (ROOT / folder).rglob("*.py"))
    named = {clause for text in sources for clause in re.findall(r'"([A-Z]{2,4}-\d{3})"', text)}
    steps = [step for case in load_cases(ROOT) for step in case.steps if step.op == "check_table"]
    answers = [answer.answer.content for step in steps for answer in step.expectations]
    found = {one["clause"] for content in answers if isinstance(content, list) for one in content}
    assert len(found) > 40
    return named | found


def test_every_clause_that_a_check_can_report_has_a_remedy_of_its_own() -> None:
    reported = reported_clauses()
    assert len(reported) > 120
    assert sorted(reported - REMEDIES.by_clause.keys()) == []


def test_remedies_name_clauses_and_findings_that_there_are() -> None:
    known = {one.id for one in load_clauses(ROOT / "specs/clauses")}
    assert sorted(REMEDIES.by_clause.keys() - known) == []
    left = {clause for finding in REMEDIES.known.values() for clause, _ in finding.leaves}
    assert left <= REMEDIES.by_clause.keys()
    assert len(REMEDIES.known) > 8


def test_remedies_name_methods_that_a_table_has() -> None:
    from hudi_spark import HudiTable  # noqa: PLC0415 - Spark is not needed before

    named = {name for one in {*REMEDIES.by_clause.values(), REMEDIES.otherwise} for name in NAMED.findall(one.remedy)}
    assert len(named) > 8
    assert sorted(name for name in named if not callable(getattr(HudiTable, name, None))) == []


def test_what_is_affected_has_words() -> None:
    assert SAYS.keys() == set(AFFECTS)


def test_a_known_finding_is_named_where_its_part_of_the_message_stands() -> None:
    lacking = "secondary_index_note_index: a row has it and the index has not"
    assert [name for name, _ in REMEDIES.known_of("IX-031", lacking)] == ["apache-hudi/moved-row-without-an-entry"]
    assert REMEDIES.known_of("IX-031", "the index has a row that there is not") == ()
    assert REMEDIES.known_of("IX-032", lacking) == ()


ENTRY = '[[entry]]\nclauses = []\naffects = "nothing"\nconsequence = "none"\nremedy = "none"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY * 2, "is there twice"),
        (ENTRY + ENTRY.replace("[]", '["TL-001", "TL-001"]'), "TL-001 is there twice"),
        (ENTRY.replace("[]", '["TL-001"]'), "without clauses is absent"),
        (ENTRY.replace("[]", '["TL-1"]'), "no id of a clause"),
        (ENTRY.replace('"nothing"', '"anything"'), "is none of answers"),
        (ENTRY.replace("remedy", "remedies"), "did you mean remedy"),
        (ENTRY.replace('consequence = "none"', 'consequence = " "'), "says nothing"),
        ("[[entry", FILE),
    ],
)
def test_a_file_that_says_too_little_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=re.escape(message)):
        load_remedies(tmp_path)
