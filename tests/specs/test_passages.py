"""A text is cut into passages that hold every word of it once, in order."""

import re

import pytest
from hudi_conformance.verification.lint.passages import PREAMBLE, Passage, cut_passages, section_passages
from hudi_conformance.verification.lint.sources import Section, SourceText, cut_sections
from hypothesis import given
from hypothesis import strategies as st

WORD = re.compile(r"\w+")
LINES = st.lists(
    st.sampled_from(
        [
            "",
            "A sentence. Another one, e.g. this? Yes",
            "  • an item. With two sentences.",
            "12. a numbered one",
            "Cell oneCell Two",
            "| a | b |",
            "| --- | --- |",
            "{",
            "  inner [",
            "] }",
            "```bash",
            "```",
            "├── a folder",
            "/base/",
            "Figure: a picture",
            "## part",
        ]
    ),
    max_size=14,
)


def source(*headings: str, diff: bool = False) -> SourceText:
    return SourceText("t", "T", "t.txt", diff, tuple(Section(heading, "") for heading in headings))


def kinds(passages: tuple[Passage, ...]) -> list[tuple[str, str]]:
    return [(passage.kind, passage.words) for passage in passages]


@given(LINES, LINES, st.booleans())
def test_every_word_of_a_section_is_in_exactly_one_passage(first: list[str], second: list[str], diff: bool):
    text = "\n".join(["Begin", *first, "End", *second])
    if diff:
        text = "".join(f"+{line}\n" for line in text.split("\n"))

    cut = cut_passages(source("Begin", "End", diff=diff), text)

    for heading, words in cut_sections(text, ["Begin", "End"], diff=diff).items():
        together = [word for passage in cut[heading] for word in WORD.findall(passage.words)]
        assert together == WORD.findall(words)


@given(LINES)
def test_passages_are_numbered_from_one_and_none_is_empty(lines: list[str]):
    found = section_passages(lines, markdown=False)

    assert [passage.number for passage in found] == list(range(1, len(found) + 1))
    assert all(WORD.search(passage.words) for passage in found)


@given(LINES)
def test_sums_follow_the_words_and_not_the_white_space(lines: list[str]):
    spread = [line.replace(" ", "   ") if line[:1] not in ("", " ") else line for line in lines]

    assert [one.sum for one in section_passages(lines, markdown=True)] == [
        one.sum for one in section_passages(spread, markdown=True)
    ]


def test_what_stands_before_the_first_heading_is_the_preamble():
    assert kinds(cut_passages(source("Begin"), "Before it.\nBegin\n")[PREAMBLE]) == [("sentence", "Before it.")]


CUTS = [
    pytest.param(["One. Two, e.g. This. Three"], ["One.", "Two, e.g. This.", "Three"], id="sentences"),
    pytest.param(["  • One. Two."], ["• One. Two."], id="an-item-is-one"),
    pytest.param(
        ["NameDefault", "a.key30 (Optional)What it is. More."],
        ["NameDefault", "a.key30 (Optional)What it is. More."],
        id="run-together",
    ),
    pytest.param(
        ["First sentence. Second.", "Third sentence."],
        ["First sentence.", "Second.", "Third sentence."],
        id="two-lines-of-prose",
    ),
    pytest.param(["/a/", "├── b", "", "After."], ["/a/ ├── b", "After."], id="tree"),
    pytest.param(["class A {", "", "  b() {}", "}", "After."], ["class A { b() {} }", "After."], id="code"),
    pytest.param(["```bash", "ls", "", "pwd", "```", "After."], ["```bash ls pwd ```", "After."], id="fence"),
]


@pytest.mark.parametrize(("lines", "expected"), CUTS)
def test_a_page_is_cut_where_its_parts_end(lines: list[str], expected: list[str]):
    assert [passage.words for passage in section_passages(lines, markdown=False)] == expected


def test_rows_of_a_markdown_table_are_passages_and_its_ruler_is_none():
    found = section_passages(["| a | b |", "| --- | --- |", "| c. D | e |"], markdown=True)

    assert kinds(found) == [("row", "| a | b |"), ("row", "| c. D | e |")]


def test_a_patch_joins_what_the_mail_wrapped():
    text = "mail\n+++ b/file\n@@ -1 +1 @@\n+Begin\n+One sentence that is\nwrapped. And\ntwo.\n+* item\nof it\n"

    cut = cut_passages(source("Begin", diff=True), text)

    assert kinds(cut["Begin"])[1:] == [
        ("sentence", "One sentence that is wrapped."),
        ("sentence", "And two."),
        ("item", "* item of it"),
    ]


def test_a_passage_knows_that_its_rest_is_left_out():
    (passage,) = section_passages(["Something is [...]"], markdown=False)

    assert passage.is_cut
    assert not Passage(1, "sentence", "Something is.").is_cut
