"""Every passage of the texts is mapped to clauses or has a reason; each way in which a table can be wrong is found."""

from collections import Counter
from pathlib import Path

import pytest
from hudi_conformance.pages.coverage import COVERAGE_PAGE, coverage_markdown, write_coverage
from hudi_conformance.runner.recorded_results import PAGES
from hudi_conformance.verification.lint import lint
from hudi_conformance.verification.lint.checkout import read_checkout
from hudi_conformance.verification.lint.coverage import check_coverage, check_passages, coverage_reasons, read_coverage
from hudi_conformance.verification.lint.passages import cut_passages
from hudi_format.compat import tomllib
from small_checkout import FILES

ROOT = Path(__file__).resolve().parents[2]
TABLE = "specs/coverage/text-1.0.toml"
TEXT = "First\n\nEleven actions there are.\n\n  • One of them is [...]\n\nSecond\n"

FAULTS = [
    pytest.param(TABLE, 'clauses = ["TL-002"], ', "", "needs clauses or a question, or a reason", id="unmapped"),
    pytest.param(
        TABLE, ', clauses = ["TL-001"', ', not_normative = "motivation", clauses = ["TL-001"', "not both", id="both"
    ),
    pytest.param(TABLE, '"TL-003"', '"TL-999"', "names TL-999, which no clause file holds", id="unknown-clause"),
    pytest.param(TABLE, '"motivation"', '"boredom"', "'boredom' is no reason", id="unknown-reason"),
    pytest.param(
        TABLE, '"Q-001"', '"Q-002"', "names Q-002, which is no file of specs/questions", id="unknown-question"
    ),
    pytest.param(TABLE, 'heading = "Second"', 'heading = "Third"', "section 'Third' is none of text-1.0", id="section"),
    pytest.param(TABLE, 'heading = "Second"', 'heading = "First"', "section 'Second' has no passage", id="no-section"),
    pytest.param(TABLE, "number = 2", "number = 4", "not numbered 1 to 3", id="numbers"),
    pytest.param(TABLE, '"sentence"', '"poem"', "kind 'poem' is none of", id="unknown-kind"),
    pytest.param(TABLE, 'gap = "empty"', 'gap = "lost"', "gap 'lost' is none of", id="unknown-gap"),
    pytest.param(TABLE, 'question = "Q-001"', 'not_normative = "motivation"', "must be filled", id="unfilled-gap"),
    pytest.param(TABLE, "note =", "remark =", "unknown keys remark", id="unknown-key"),
    pytest.param(TABLE, "[[section]]", "[[section", "cannot be read", id="unparsable-table"),
    pytest.param("specs/coverage/reasons.toml", "[[reason]]", "[[reason", "is no reason", id="unparsable-reasons"),
]


def problems(checkout: Path) -> list[str]:
    return [str(problem) for problem in lint(checkout).problems]


@pytest.mark.parametrize(("file", "old", "new", "message"), FAULTS)
def test_a_planted_gap_is_found(checkout: Path, file: str, old: str, new: str, message: str):
    path = checkout / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    assert any(message in problem for problem in problems(checkout)), problems(checkout)


def test_a_text_without_a_table_is_a_gap(checkout: Path):
    (checkout / TABLE).unlink()

    assert any(f"{TABLE}:1: cannot be read" in problem for problem in problems(checkout))
    assert any("section 'First' has no passage" in problem for problem in problems(checkout))


def test_a_gap_is_reported_with_its_line(checkout: Path):
    (checkout / TABLE).write_text(FILES[TABLE].replace('"TL-002"', '"TL-998"'), encoding="utf-8")

    (problem,) = [problem for problem in lint(checkout).problems if "TL-998" in problem.message]

    assert FILES[TABLE].splitlines()[problem.line - 1].strip().startswith('{ number = 1, sum = "0", kind = "heading"')


@pytest.fixture
def texts(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the text that the checkout's table maps."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    (source,) = [one for one in read_checkout(checkout).sources.values() if one.file]
    table = FILES[TABLE]
    for section, found in cut_passages(source, TEXT).items():
        for passage in found:
            start = table.index(f'"{section}"')
            place = table.index(f"number = {passage.number},", start)
            end = table.index(", kind", place)
            table = f'{table[:place]}number = {passage.number}, sum = "{passage.sum}"{table[end:]}'
    (checkout / TABLE).write_text(table, encoding="utf-8")
    return folder


def differences(checkout: Path, texts: Path) -> list[str]:
    return [problem.message for problem in check_passages(read_checkout(checkout), texts)]


def test_an_unchanged_text_agrees_with_its_table(checkout: Path, texts: Path):
    assert differences(checkout, texts) == []


DRIFTS = [
    pytest.param("Eleven", "Twelve", "the text has changed, the sum is now", id="changed"),
    pytest.param("  • One", "One", "is 'item' here and 'heading' in the text", id="another-kind"),
    pytest.param(" [...]", " that.", "is cut in the text or in the table, not in both", id="no-longer-cut"),
    pytest.param("there are.", "there are. No more.", "'First', passage 4 (", id="missing-in-table"),
    pytest.param("\n  • One of them is [...]\n", "", "the text has no such passage", id="missing-in-text"),
    pytest.param("Second", "Last", "cannot be compared: no heading 'Second'", id="missing-heading"),
]


@pytest.mark.parametrize(("old", "new", "message"), DRIFTS)
def test_a_text_that_drifts_is_found(checkout: Path, texts: Path, old: str, new: str, message: str):
    (texts / "text.txt").write_text(TEXT.replace(old, new), encoding="utf-8")

    found = differences(checkout, texts)

    assert any(message in one for one in found), found


def test_an_absent_text_is_reported(checkout: Path, texts: Path):
    (texts / "text.txt").unlink()

    assert any("cannot be compared" in one for one in differences(checkout, texts))


def test_every_passage_of_the_four_texts_is_mapped():
    checkout = read_checkout(ROOT)

    assert [str(problem) for problem in check_coverage(checkout)] == []


def test_the_tables_hold_as_many_passages_as_the_texts_have():
    counted = {name: len(entries) for name, entries in read_coverage(read_checkout(ROOT)).items()}

    assert counted == {"timeline-1.0.0": 100, "spec-1.0": 469, "spec-v4": 280, "record-merger-1.1": 166}


def test_every_reason_is_used():
    checkout = read_checkout(ROOT)
    used = Counter(entry.reason for entries in read_coverage(checkout).values() for entry in entries if entry.reason)

    assert set(used) == set(coverage_reasons(checkout))


def test_a_note_is_short_and_in_words_of_our_own():
    """A note says what a passage is about; it is no place for the text."""
    for entries in read_coverage(read_checkout(ROOT)).values():
        assert [entry for entry in entries if len(entry.note.split()) > 8] == []


def test_what_the_texts_leave_out_is_filled():
    """The cut, empty and unfinished places that are known all name clauses or a question."""
    wanted = {
        ("spec-1.0", "Storage Layout"),
        ("spec-1.0", "Time"),
        ("spec-1.0", "Table Properties"),
        ("spec-1.0", "RecordMerger API"),
        ("spec-1.0", "Writer Expectations"),
        ("spec-1.0", "Naming"),
        ("spec-1.0", "Secondary Indexes"),
        ("spec-1.0", "Schema"),
        ("spec-1.0", "version 7"),
        ("spec-1.0", "Formal Proofs"),
        ("spec-1.0", "Timeline Maintenance"),
        ("spec-1.0", "TrueTime Implementations"),
        ("spec-1.0", "Logging Updates as Deletes + Inserts"),
        ("spec-v4", "Transaction Log (Timeline)"),
    }
    covered = read_coverage(read_checkout(ROOT))
    filled = {
        (name, entry.section) for name, entries in covered.items() for entry in entries if entry.gap and entry.is_mapped
    }

    assert wanted <= filled


def test_the_page_counts_passages_and_links_clauses(checkout: Path):
    text = coverage_markdown(checkout)

    assert "| `text-1.0` | 4 | 3 | 1 | 3 | 1 |" in text
    assert "| motivation | Why it is so. | 1 |" in text
    assert "| First | 3 | 2 | [TL-001](../specs/clauses/timeline.md#tl-001-the-actions), " in text
    assert "| `text-1.0` | First | cut |  | Q-001 |" in text


def test_the_page_names_every_text():
    made = coverage_markdown(ROOT)

    assert [name for name in read_coverage(read_checkout(ROOT)) if f"`{name}`" not in made] == []


def test_the_page_is_written_below_the_build_folder(checkout: Path):
    assert write_coverage(checkout) == checkout / PAGES / COVERAGE_PAGE


def test_the_tables_hold_nothing_of_the_texts():
    """No entry has a key for words: a table is read with the text beside it."""
    for path in sorted((ROOT / "specs" / "coverage").glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        keys = {key for section in document.get("section", []) for passage in section["passage"] for key in passage}
        assert keys <= {"number", "sum", "kind", "clauses", "question", "not_normative", "gap", "note"}
