"""The texts are known by their sections' sums, which anyone who has the texts can make again."""

import re
from pathlib import Path

import pytest
from hudi_conformance.verification.lint.sources import (
    SourcesError,
    SourceText,
    check_texts,
    cut_sections,
    parse_sources,
    section_sum,
)
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
TEXT = "Title\n\nWords of it.  \n\n## First\nOne.\n\n# Second \\[part\\]\n\nTwo.\nThree.\n\n"
HEADINGS = ("First", "Second [part]")


@pytest.fixture
def sources() -> dict[str, SourceText]:
    return parse_sources((ROOT / "specs/sources.toml").read_text(encoding="utf-8"))


def test_four_texts_a_release_and_what_a_draft_goes_by_are_listed(sources: dict[str, SourceText]):
    texts = ["timeline-1.0.0", "spec-1.0", "spec-v4", "record-merger-1.1"]
    assert list(sources) == [*texts, "release-1.1.1", "rfc-103", "hudi-main"]


def test_every_listed_section_has_a_heading_of_its_own_and_a_sum(sources: dict[str, SourceText]):
    for source in sources.values():
        headings = [section.heading for section in source.sections]
        assert len(set(headings)) == len(headings)
        assert bool(headings) == (source.file is not None)
        assert all(re.fullmatch(r"[0-9a-f]{64}", section.sha256) for section in source.sections)


def test_a_section_runs_to_the_next_listed_heading():
    assert cut_sections(TEXT, HEADINGS, diff=False) == {
        "First": "## First\nOne.",
        "Second [part]": "# Second \\[part\\]\n\nTwo.\nThree.",
    }


@given(st.lists(st.sampled_from(["", "one", "two  ", "# three"]), max_size=8))
def test_a_patch_cuts_like_the_text_it_adds(words: list[str]):
    lines = ["Heading", *words]
    patch = "".join(f"+{line}\n" for line in lines)

    assert cut_sections(patch, ["Heading"], diff=True) == cut_sections("\n".join(lines), ["Heading"], diff=False)


def test_a_heading_that_is_not_there_is_an_error():
    with pytest.raises(SourcesError, match="no heading 'Third'"):
        cut_sections(TEXT, ["First", "Third"], diff=False)


def test_headings_stand_in_the_listed_order():
    with pytest.raises(SourcesError, match="no heading 'First'"):
        cut_sections(TEXT, ["Second [part]", "First"], diff=False)


def written(folder: Path) -> dict[str, SourceText]:
    sections = cut_sections(TEXT, HEADINGS, diff=False)
    rows = ", ".join(f'{{ heading = "{name}", sha256 = "{section_sum(words)}" }}' for name, words in sections.items())
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    return parse_sources(f'[[text]]\nname = "t"\ntitle = "T"\nfile = "text.txt"\nsection = [{rows}]\n')


def test_unchanged_texts_agree_with_their_sums(tmp_path: Path):
    assert check_texts(written(tmp_path), tmp_path, "sources.toml") == ()


def test_a_changed_section_is_named_with_its_new_sum(tmp_path: Path):
    sources = written(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT.replace("One.", "Eins."), encoding="utf-8")

    (problem,) = check_texts(sources, tmp_path, "sources.toml")

    assert "section 'First' has changed" in problem.message
    assert section_sum("## First\nEins.") in problem.message


def test_a_text_that_is_absent_is_reported(tmp_path: Path):
    sources = written(tmp_path)
    (tmp_path / "text.txt").unlink()

    (problem,) = check_texts(sources, tmp_path, "sources.toml")

    assert "text.txt cannot be compared" in problem.message


@pytest.mark.parametrize("document", ["", "text = 1", "[[text]]\n", '[[text]]\nname = "a"\ntitle = "b"\nsection = 3\n'])
def test_a_malformed_registry_is_one_error(document: str):
    with pytest.raises(SourcesError):
        parse_sources(document)
