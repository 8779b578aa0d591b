"""Each way in which rule book, code and cases can disagree is found, with its place."""

from pathlib import Path

import pytest
from hudi_conformance.verification.lint import find_root, lint, main
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_checkout import FILES

CLAUSES = "specs/clauses/timeline.md"
CASES = "golden_tables/v9/one/table.toml"
WRITES = "conformance/writing_cases/area/one.toml"
MODEL = "model/hudi_model/timeline.py"
FORMAT = "format/hudi_format/names.py"

FAULTS = [
    pytest.param(CLAUSES, "## TL-001", "## TL-01", "malformed clause id 'TL-01'", id="malformed-id"),
    pytest.param(CLAUSES, "## TL-004", "## TL-001", "TL-001: the id stands already at", id="duplicated-id"),
    pytest.param(CLAUSES, "## TL-004", "## RD-004", "RD is no area", id="unknown-area"),
    pytest.param("specs/areas.toml", "timeline.md", "time.md", "TL-001: belongs into time.md", id="wrong-file"),
    pytest.param(CLAUSES, '"Second"', '"Third"', "text-1.0 has no section 'Third'", id="unknown-section"),
    pytest.param(CLAUSES, 'text-1.0, "Second"', 'other, "A"', "source 'other' is no text", id="unknown-text"),
    pytest.param(CLAUSES, 'text-1.0, "Second"', "see there!", "is not of the form", id="malformed-source"),
    pytest.param(CLAUSES, "text, released", "text, mine", "unknown readings text, mine", id="unknown-reading"),
    pytest.param(CLAUSES, "text, released", "text", "unknown readings text", id="a-single-reading"),
    pytest.param(CLAUSES, "INSTANT_MALFORMED", "TOO_BAD", "TOO_BAD, which is no reason", id="unknown-reason"),
    pytest.param(MODEL, "TL-001, ", "", "TL-001: stated in model, but no docstring", id="model-unstated"),
    pytest.param(FORMAT, "Clauses: TL-002.", "", "TL-002: stated in format, but no docstring", id="format-unstated"),
    pytest.param(MODEL, "TL-001, TL-003.", "TL-001, TL-003", "must end in a line like", id="malformed-citation"),
    pytest.param(MODEL, "TL-001, TL-003.", "TL-001, TL-003, TL-999.", "cites TL-999", id="dangling-in-docstring"),
    pytest.param(MODEL, 'return "TL-003"', 'return "TL-998"', "cites TL-998", id="dangling-in-code"),
    pytest.param(MODEL, "def actions()", "def actions(", "does not parse", id="unparsable-code"),
    pytest.param(CASES, 'clauses = ["TL-003"]', 'clauses = ["TL-003", "TL-997"]', "TL-997", id="dangling-in-case"),
    pytest.param(CASES, 'clause = "TL-001"', 'clause = "TL-996"', "TL-996", id="dangling-in-warning"),
    pytest.param(CASES, "[[case]]", "[[case", "cannot be read", id="unparsable-cases"),
    pytest.param(CASES, 'one"\nclauses = ["TL-001', 'one"\nclauses = ["TL-995', "TL-995", id="dangling-in-table"),
    pytest.param("adapters/one.expected.toml", "TL-004", "TL-994", "TL-994", id="dangling-in-expected-failure"),
    pytest.param("adapters/findings/one.toml", "TL-004", "TL-995", "TL-995", id="dangling-in-finding"),
    pytest.param("specs/tla/Timeline.tla", "TL-001", "TM-003", "cites TM-003", id="dangling-in-tla"),
    pytest.param(CASES, "INSTANT_MALFORMED", "NOT_A_TABLE", "TL-003: no golden case", id="refused-otherwise"),
    pytest.param(WRITES, "TL-001", "TL-991", "TL-991", id="dangling-in-writing-case"),
    pytest.param("conformance/trace_cases/cases.toml", "TL-001", "TL-992", "TL-992", id="dangling-in-trace"),
    pytest.param(CASES, 'clauses = ["TL-002"]', "clauses = []", "TL-002: no golden case shows it", id="uncovered"),
    pytest.param("specs/sources.toml", "[[text]]", "[[text", "not of the agreed form", id="unparsable-sources"),
    pytest.param("specs/reasons.toml", "[[reason]]", "[[reason", "cannot be read", id="unparsable-reasons"),
]


def test_a_sound_checkout_has_no_problem(checkout: Path):
    report = lint(checkout)

    assert report.problems == ()
    assert report.uncovered == ()


def test_a_clause_that_the_last_case_leaves_is_uncovered(checkout: Path):
    """Golden cases and cases that write count alike."""
    for page, words in ((CASES, 'expect = "a"'), (WRITES, ', expect = "1"')):
        assert "TL-001" not in [clause.id for clause in lint(checkout).uncovered]
        path = checkout / page
        path.write_text(path.read_text(encoding="utf-8").replace(words, ""), encoding="utf-8")

    assert any("TL-001: no golden case shows it" in problem.message for problem in lint(checkout).problems)


def test_an_accepted_trace_shows_its_clauses_and_a_refused_one_alone_does_not(checkout: Path):
    page, cases = checkout / "conformance/trace_cases/cases.toml", checkout / CASES
    cases.write_text(cases.read_text(encoding="utf-8").replace("TL-002", "TL-001"), encoding="utf-8")
    page.write_text('[[case]]\nclauses = ["TL-002"]\nreject = {line = 1}\n', encoding="utf-8")
    assert [clause.id for clause in lint(checkout).uncovered] == ["TL-002"]

    page.write_text('[[case]]\nclauses = ["TL-002"]\naccept = true\n', encoding="utf-8")
    assert lint(checkout).uncovered == ()


def test_a_clause_is_shown_in_every_version_it_holds_for(checkout: Path):
    """By cases of each, by a table that is taken to it, or by a trace, which is of no version."""
    page, case = checkout / CLAUSES, checkout / WRITES
    text = page.read_text(encoding="utf-8").replace("- versions: 9", "- versions: 8, 9", 1)
    page.write_text(text, encoding="utf-8")
    assert any("TL-001: no golden case shows it in table version 8" in str(one) for one in lint(checkout).problems)

    case.write_text(case.read_text(encoding="utf-8").replace("expect =", "params = {to = 8}, expect =", 1))
    assert lint(checkout).problems == ()


@pytest.mark.parametrize(("file", "old", "new", "message"), FAULTS)
def test_a_planted_fault_is_found(checkout: Path, file: str, old: str, new: str, message: str):
    path = checkout / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    found = [str(problem) for problem in lint(checkout).problems]

    assert any(message in problem for problem in found), found


WRONG_SHAPES = [
    b"\xff\xfe\x00",
    b"",
    b"case = 3",
    b"[[case]]\nclauses = 3\nsteps = 1",
    b"reason = 3",
    b"[TL]\nfiles = 3",
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", WRONG_SHAPES)
def test_a_file_of_any_shape_never_stops_the_lint(checkout: Path, name: str, content: bytes):
    (checkout / name).write_bytes(content)

    assert lint(checkout) is not None


@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_never_stops_the_lint(checkout: Path, data: st.DataObject):
    name = data.draw(st.sampled_from(sorted(FILES)))
    text = FILES[name]
    start = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from(['"', "[", "]", "{", "= 3", "\n", "\0", "## ", "- "]))
    (checkout / name).write_text(text[:start] + piece + text[start + data.draw(st.integers(0, 9)) :], encoding="utf-8")

    assert lint(checkout) is not None
    (checkout / name).write_text(text, encoding="utf-8")


def test_a_dangling_citation_is_reported_with_file_and_line(checkout: Path):
    path = checkout / CASES
    path.write_text(path.read_text(encoding="utf-8").replace('["TL-003"]', '["TL-003", "TL-997"]'), encoding="utf-8")

    assert f"{CASES}:14: cites TL-997, which no clause file holds" in map(str, lint(checkout).problems)


def test_a_should_clause_needs_neither_function_nor_case(checkout: Path):
    assert not any("TL-004" in str(problem) for problem in lint(checkout).problems)


def test_an_empty_rule_book_is_no_success(checkout: Path):
    (checkout / CLAUSES).unlink()

    assert any("nothing was checked" in str(problem) for problem in lint(checkout).problems)


def test_the_exit_code_separates_valid_broken_and_absent(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert main(checkout) == 0
    cases = checkout / CASES
    cases.write_text(cases.read_text(encoding="utf-8").replace("TL-002", "TL-001"), encoding="utf-8")
    assert main(checkout) == 1
    assert f"{CLAUSES}:13: TL-002: no golden case shows it" in capsys.readouterr().out
    (checkout / "empty").mkdir()
    monkeypatch.chdir(checkout / "empty")
    assert find_root(Path.cwd()) == checkout
    (checkout / CLAUSES).unlink()
    (checkout / "specs/clauses").rmdir()
    assert main() == 2
