"""Clause files are read as values, and whatever is not of their form is reported with its place."""

from pathlib import Path

import pytest
from hudi_conformance.runner.clauses import Clause, Source, load_clauses, parse_clauses, parse_sources
from hypothesis import given
from hypothesis import strategies as st

WORD = st.text(alphabet="abcdefghij xyz", min_size=1).map(str.strip).filter(bool)


@st.composite
def clauses(draw: st.DrawFn) -> Clause:
    return Clause(
        id=f"{draw(st.sampled_from(['TL', 'RD', 'ABCD']))}-{draw(st.integers(0, 999)):03}",
        title=draw(WORD),
        level=draw(st.sampled_from(["must", "should", "may", "open"])),
        versions=draw(st.sampled_from([(6,), (6, 8, 9), (4, 5, 6, 8, 9)])),
        stated_in=draw(st.sampled_from(["model", "format"])),
        source='timeline-1.0.0, "State Transitions"',
        readings=draw(st.sampled_from([(), ("text", "released")])),
        rule=draw(WORD),
        file="a.md",
        line=1,
        refuses=draw(st.sampled_from([(), ("NOT_A_TABLE",)])),
    )


def written(clause: Clause) -> str:
    lines = [
        f"## {clause.id} {clause.title}",
        f"- level: {clause.level}",
        f"- versions: {', '.join(map(str, clause.versions))}",
        f"- stated_in: {clause.stated_in}",
        f"- source: {clause.source}",
    ]
    lines += [f"- readings: {', '.join(clause.readings)}"] if clause.readings else []
    lines += [f"- refuses: {', '.join(clause.refuses)}"] if clause.refuses else []
    return "\n".join([*lines, "", clause.rule, ""])


@given(clauses())
def test_a_written_clause_reads_back(clause: Clause):
    parsed = parse_clauses(written(clause), "a.md")

    assert parsed.problems == ()
    assert parsed.clauses == (clause,)


@given(
    st.text() | st.lists(st.sampled_from(["## ", "TL-001", "\n", "- level: must", "- x:", " ", "rule"])).map("".join)
)
def test_any_text_reads_as_clauses_and_problems(text: str):
    """A broken clause file never stops the lint: it is reported."""
    parsed = parse_clauses(text, "a.md")

    lines = len(text.splitlines())
    assert all(1 <= problem.line <= lines for problem in parsed.problems)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("## TL-001", "## TL-1", "malformed clause id 'TL-1'"),
        ("## TL-001", "## Notes", "malformed clause id 'Notes'"),
        (" The title", "", "no title"),
        ("- level: must\n", "", "attribute level is missing"),
        ("- level: must", "- level: shall", "unknown level 'shall'"),
        ("versions: 6", "versions: 7", "versions '7' are not among"),
        ("versions: 6", "versions: 10", "versions '10' are not among 4, 5, 6, 8, 9"),
        ("versions: 6", "versions: 6\n- status: draft", "versions '6' are not among 10"),
        ("versions: 6", "versions: 6\n- over: TL-002", "only a draft stands over other rules"),
        ("versions: 6", "versions: 10\n- status: done", "unknown status 'done'"),
        ("stated_in: model", "stated_in: engine", "unknown stated_in 'engine'"),
        ("- source: a", "- source: a\n- source: a", "attribute source stands twice"),
        ("- source: a", "- source: a\n- colour: red", "unknown attribute colour"),
        ("The rule.", "", "the rule's text is missing"),
    ],
)
def test_a_fault_names_its_line(old: str, new: str, message: str):
    text = "# Area\n\n## TL-001 The title\n- level: must\n- versions: 6\n- stated_in: model\n- source: a\n\nThe rule.\n"

    parsed = parse_clauses(text.replace(old, new), "a.md")

    assert parsed.clauses == ()
    assert [message in str(problem) for problem in parsed.problems] == [True]
    assert all(str(problem).startswith("a.md:") for problem in parsed.problems)


def test_a_draft_names_the_rules_that_it_stands_over():
    text = "## TL-001 Title\n- level: must\n- versions: 10\n- status: draft\n- over: TL-002, TL-003\n"
    text += "- stated_in: model\n- source: a\n\nRule.\n"

    (draft,) = parse_clauses(text, "a.md").clauses

    assert draft.is_draft
    assert draft.standing == "must, draft"
    assert draft.over == ("TL-002", "TL-003")


def test_an_attribute_may_go_on_in_an_indented_line():
    text = '## TL-001 Title\n- level: must\n- versions: 6\n- stated_in: model\n- source: a,\n  "B"\n\nRule.\n'

    assert parse_clauses(text, "a.md").clauses[0].source == 'a, "B"'


@pytest.mark.parametrize(
    ("value", "sources"),
    [
        ('spec-1.0, "States"', (Source("spec-1.0", "States"),)),
        ('spec-1.0, "A; B"; spec-v4, "C"', (Source("spec-1.0", "A; B"), Source("spec-v4", "C"))),
        ("spec-1.0", (Source("spec-1.0", None),)),
        ("see there!", None),
        ('spec-1.0, "States', None),
    ],
)
def test_sources_are_texts_with_sections(value: str, sources: tuple[Source, ...] | None):
    assert parse_sources(value) == sources


def test_a_folder_is_read_in_the_order_of_its_files(checkout: Path):
    ids = [clause.id for clause in load_clauses(checkout / "specs" / "clauses")]

    assert ids == ["TL-001", "TL-002", "TL-003", "TL-004"]
