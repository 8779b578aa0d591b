"""The coverage tables: `specs/coverage/<text>.toml` maps every passage of a text to clauses, or says why to none."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_conformance.runner.clauses import Problem
from hudi_conformance.verification.lint.checkout import Checkout, read_toml, tables, words
from hudi_conformance.verification.lint.passages import KINDS, PREAMBLE, Passage, cut_passages
from hudi_conformance.verification.lint.sources import SourcesError, SourceText

FOLDER = "specs/coverage"
REASONS = f"{FOLDER}/reasons.toml"
GAPS = ("cut", "empty", "unfinished")
KEYS = frozenset({"number", "sum", "kind", "clauses", "question", "not_normative", "gap", "note"})
PADDING = "rendering"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a coverage table says of one passage."""

    section: str
    number: int
    sum: str
    kind: str
    clauses: tuple[str, ...]
    questions: tuple[str, ...]
    reason: str
    gap: str
    note: str
    unknown_keys: tuple[str, ...]

    @property
    def is_mapped(self) -> bool:
        """Whether clauses or questions answer for the passage."""
        return bool(self.clauses or self.questions)


def read_coverage(checkout: Checkout) -> dict[str, tuple[Entry, ...]]:
    """The coverage table of each text; one that is missing or does not parse is a problem and has no entry."""
    return {
        name: tuple(_entries(read_toml(checkout, _file(name)))) for name, text in checkout.sources.items() if text.file
    }


def coverage_reasons(checkout: Checkout) -> dict[str, str]:
    """Why a passage may need no clause: each reason with its sentence."""
    listed = tables(read_toml(checkout, REASONS).get("reason"))
    return {str(reason.get("name")): str(reason.get("sentence", "")) for reason in listed}


def check_coverage(checkout: Checkout) -> Iterator[Problem]:
    """Every passage is mapped to what exists, and every section of every text has its passages."""
    reasons = frozenset(coverage_reasons(checkout))
    for name, entries in read_coverage(checkout).items():
        places = _Places(checkout.root / _file(name))
        yield from (Problem(_file(name), 1, message) for message in _sections(checkout.sources[name], entries))
        for entry in entries:
            for message in _wrong(checkout, entry, reasons):
                place = f"{entry.section!r}, passage {entry.number}"
                yield Problem(_file(name), places.line(entry), f"{place}: {message}")


def check_passages(checkout: Checkout, folder: Path) -> Iterator[Problem]:
    """Compare the tables with the texts in a folder: passages that changed, are missing, or are there no more."""
    for name, entries in read_coverage(checkout).items():
        places = _Places(checkout.root / _file(name))
        try:
            passages = _passages(checkout.sources[name], folder)
        except (OSError, UnicodeDecodeError, SourcesError) as error:
            yield Problem(_file(name), 1, f"cannot be compared: {error}")
            continue
        listed = {(entry.section, entry.number): entry for entry in entries}
        for place, passage in passages.items():
            if place not in listed:
                yield Problem(_file(name), 1, f"{place[0]!r}, passage {place[1]} ({passage.sum}) is missing")
        for place, entry in listed.items():
            for message in _differences(entry, passages.get(place)):
                yield Problem(_file(name), places.line(entry), f"{place[0]!r}, passage {place[1]}: {message}")


@dataclass(frozen=True, slots=True)
class _Places:
    """Finds the line on which an entry stands, for the one that has to change it."""

    path: Path

    def line(self, entry: Entry) -> int:
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        start = next((number for number, line in enumerate(lines) if f'heading = "{entry.section}"' in line), 0)
        wanted = f"number = {entry.number},"
        return next((number + 1 for number in range(start, len(lines)) if wanted in lines[number]), start + 1)


def _file(name: str) -> str:
    return f"{FOLDER}/{name}.toml"


def _passages(source: SourceText, folder: Path) -> dict[tuple[str, int], Passage]:
    text = (folder / str(source.file)).read_bytes().decode()
    cut = cut_passages(source, text)
    return {(section, passage.number): passage for section, found in cut.items() for passage in found}


def _entries(document: dict[str, Any]) -> Iterator[Entry]:
    for section in tables(document.get("section")):
        for passage in tables(section.get("passage")):
            yield Entry(
                section=str(section.get("heading")),
                number=passage["number"] if isinstance(passage.get("number"), int) else 0,
                sum=str(passage.get("sum", "")),
                kind=str(passage.get("kind", "")),
                clauses=tuple(words(passage.get("clauses"))),
                questions=(str(passage["question"]),) if "question" in passage else (),
                reason=str(passage.get("not_normative", "")),
                gap=str(passage.get("gap", "")),
                note=str(passage.get("note", "")),
                unknown_keys=tuple(sorted(set(passage) - KEYS)),
            )


def _sections(source: SourceText, entries: tuple[Entry, ...]) -> Iterator[str]:
    headings = [section.heading for section in source.sections]
    listed = list(dict.fromkeys(entry.section for entry in entries))
    for heading in listed:
        if heading not in (PREAMBLE, *headings):
            yield f"section {heading!r} is none of {source.name} in specs/sources.toml"
        numbers = [entry.number for entry in entries if entry.section == heading]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"section {heading!r}: its passages are not numbered 1 to {len(numbers)}"
    for heading in headings:
        if heading not in listed:
            yield f"section {heading!r} has no passage"


def _wrong(checkout: Checkout, entry: Entry, reasons: frozenset[str]) -> Iterator[str]:
    if entry.unknown_keys:
        yield f"unknown keys {', '.join(entry.unknown_keys)}"
    if entry.kind not in KINDS:
        yield f"kind {entry.kind!r} is none of {', '.join(KINDS)}"
    if entry.gap and entry.gap not in GAPS:
        yield f"gap {entry.gap!r} is none of {', '.join(GAPS)}"
    if entry.reason and entry.reason not in reasons:
        yield f"{entry.reason!r} is no reason of {REASONS}"
    if entry.is_mapped == bool(entry.reason):
        yield "needs clauses or a question, or a reason why it is not normative, and not both"
    if entry.gap and not entry.is_mapped and entry.reason != PADDING:
        yield "what the text leaves out must be filled: name clauses or a question"
    yield from (f"names {one}, which no clause file holds" for one in entry.clauses if one not in checkout.ids)
    for question in entry.questions:
        if not list((checkout.root / "specs" / "questions").glob(f"{question}-*.md")):
            yield f"names {question}, which is no file of specs/questions"


def _differences(entry: Entry, passage: Passage | None) -> Iterator[str]:
    if passage is None:
        yield "the text has no such passage"
        return
    if entry.sum != passage.sum:
        yield f"the text has changed, the sum is now {passage.sum}"
    if entry.kind != passage.kind:
        yield f"is {entry.kind!r} here and {passage.kind!r} in the text"
    if passage.is_cut != (entry.gap == "cut"):
        yield "is cut in the text or in the table, not in both"
