"""The passages of a section of a text: headings, sentences, list items, table rows, figures and blocks of code.

How a section is cut, so that anyone who has the texts gets the same passages:

1. in a patch, from its first added line on, a line without a leading `+` goes on with the one before it, which the
   mail had wrapped; a patch is Markdown, any other text the words of a web page;
2. sections begin at their headings as in sources.py; what stands before the first one is the section `preamble`;
3. a fence, a drawn folder tree, and lines from an opening bracket to its closing one are one passage each;
4. an item of a list and a row of a table are a passage each; in a web page a table is where several lines stand
   together of which one has cells that ran together, or ends like no sentence;
5. what is left are paragraphs: each sentence is a passage; a few words that end like none are a heading.

Passages are numbered from 1 in their section. A sum is made of a passage's words as they stand, parted by one blank.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hudi_conformance.verification.lint.sources import SourceText, find_heading

PREAMBLE = "preamble"
KINDS = ("heading", "sentence", "item", "row", "figure", "code")
ITEM = re.compile(r"^\s*(?:[*•]|[0-9]+\.)\s+")
RULER = re.compile(r"^[|\s:-]+$")
TREE = re.compile(r"[├└│]")
RUN_TOGETHER = re.compile(r"[a-z0-9)\]][A-Z][a-z]")
SENTENCE_END = re.compile(r"(?<![Ee]\.g\.)(?<!i\.e\.)(?:(?<=[.!?])|(?<=[.!?][*_)]))\s+(?=[^a-z\s])")
PATCH_HEAD = re.compile(r"^(?:diff --git |index [0-9a-f]+\.\.|new file mode |--- |\+\+\+ |@@ )")
WORD = re.compile(r"\w")
PICTURE = re.compile(r"^Figure:|\.png$")
SHORT = 6


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a section: its place, what it is, and its words."""

    number: int
    kind: str
    words: str

    @property
    def sum(self) -> str:
        """The first twelve hex digits of the sha256 of the words."""
        return hashlib.sha256(self.words.encode()).hexdigest()[:12]

    @property
    def is_cut(self) -> bool:
        """Whether the mail left the rest of it out."""
        return "[...]" in self.words


def cut_passages(source: SourceText, text: str) -> dict[str, tuple[Passage, ...]]:
    """Cut a text into the passages of its sections, by the rule above.

    Raises:
        SourcesError: a heading is not found below the one before it.

    """
    lines = [line.rstrip() for line in (_unwrapped(text) if source.diff else text.splitlines())]
    starts: list[int] = []
    for section in source.sections:
        starts.append(find_heading(lines, section.heading, starts[-1] + 1 if starts else 0))
    names = (PREAMBLE, *(section.heading for section in source.sections))
    bounds = zip((0, *starts), (*starts, len(lines)), strict=True)
    return {
        name: _numbered(_section(name, lines[start:end], markdown=source.diff))
        for name, (start, end) in zip(names, bounds, strict=True)
    }


def section_passages(lines: Iterable[str], *, markdown: bool) -> tuple[Passage, ...]:
    """The passages of lines without a heading."""
    return _numbered(_kinds_and_words(list(lines), markdown=markdown))


def _section(name: str, lines: list[str], *, markdown: bool) -> Iterator[tuple[str, str]]:
    if name != PREAMBLE:
        yield "heading", lines[0].lstrip("#")
    yield from _kinds_and_words(lines if name == PREAMBLE else lines[1:], markdown=markdown)


def _numbered(found: Iterable[tuple[str, str]]) -> tuple[Passage, ...]:
    whole = ((kind, " ".join(words.split())) for kind, words in found)
    kept = ((kind, words) for kind, words in whole if WORD.search(words))
    return tuple(Passage(number, kind, words) for number, (kind, words) in enumerate(kept, start=1))


def _unwrapped(text: str) -> Iterator[str]:
    """The lines of a patch without their `+`; from its first added line on, with those into which the mail cut them."""
    added: list[str] = []
    for line in text.splitlines():
        is_head = PATCH_HEAD.match(line) is not None
        is_added = line.startswith("+") and not is_head
        if added and not (is_head or is_added):
            added.append(line)
            continue
        yield " ".join(added)
        added = [line[1:]] if is_added else []
        if not is_added:
            yield line
    yield " ".join(added)


def _kinds_and_words(lines: list[str], *, markdown: bool) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(lines):
        end = _block_end(lines, place)
        if end > place + 1:
            block = "\n".join(lines[place:end])
            yield "figure" if TREE.search(block) else "code", block
        elif not markdown and _in_table(lines, place):
            yield "row", lines[place]
        else:
            yield from _line(lines[place])
        place = max(end, place + 1)


def _block_end(lines: list[str], place: int) -> int:
    """Where a block that must not be cut ends; the next line where none begins here."""
    line = lines[place].strip()
    if line.startswith("```"):
        return _first(lines, place + 1, lambda text: text.strip() == "```") + 1
    if line.endswith(("{", "[")):
        return _balanced(lines, place)
    if line and any(TREE.search(text) for text in lines[place : place + 2]):
        return _first(lines, place, lambda text: not text.strip())
    return place + 1


def _first(lines: list[str], place: int, wanted: Callable[[str], bool]) -> int:
    return next((number for number in range(place, len(lines)) if wanted(lines[number])), len(lines))


def _balanced(lines: list[str], place: int) -> int:
    depth = 0
    for number in range(place, len(lines)):
        depth += sum(1 if mark in "{[" else -1 for mark in lines[number] if mark in "{[]}")
        if depth <= 0:
            return number + 1
    return len(lines)


def _in_table(lines: list[str], place: int) -> bool:
    """Whether a line of a web page stands in a table: among several, of which one is no sentence."""
    block = [lines[place]] if _is_running(lines[place]) else []
    for step in (1, -1):
        beside = place + step
        while block and 0 <= beside < len(lines) and _is_running(lines[beside]):
            block.append(lines[beside])
            beside += step
    return len(block) > 1 and any(RUN_TOGETHER.search(line) or not line.endswith((".", ":")) for line in block)


def _is_running(line: str) -> bool:
    return bool(line.strip()) and not ITEM.match(line)


def _line(line: str) -> Iterator[tuple[str, str]]:
    if line.startswith("|"):
        yield "row", "" if RULER.match(line) else line
    elif ITEM.match(line):
        yield "item", line
    elif line.startswith("#"):
        yield "heading", line
    else:
        yield from ((_kind(part), part) for part in SENTENCE_END.split(line))


def _kind(words: str) -> str:
    if PICTURE.search(words):
        return "figure"
    return "heading" if len(words.split()) <= SHORT and not words.endswith((".", ":", "!", "?")) else "sentence"
