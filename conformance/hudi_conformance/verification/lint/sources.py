"""The sections of the texts that the rules come from: their names and the checksums of their words.

How a section is cut, so that anyone who has the texts gets the same sums:

1. a text is decoded as UTF-8 and split into lines; white space at the end of a line is dropped;
2. a text marked `diff = true` is a patch: one leading `+` of a line is dropped;
3. a line is the heading of a section when, without leading `#`, without backslashes and stripped, it equals the
   section's heading; sections are looked for in the listed order, each below the one before;
4. a section runs from its heading to the line before the next listed one, or to the end of the text;
5. empty lines at its begin and end are dropped, lines are joined by a line feed, and the UTF-8 bytes are summed.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hudi_format.compat import tomllib

from hudi_conformance.runner.clauses import Problem


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a text: its heading, and the sha256 of its words."""

    heading: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that rules cite. One without a file is a release, whose behaviour is cited under any name."""

    name: str
    title: str
    file: str | None
    diff: bool
    sections: tuple[Section, ...]

    def has_section(self, heading: str | None) -> bool:
        """Whether a rule may cite this section."""
        return self.file is None or any(section.heading == heading for section in self.sections)


class SourcesError(ValueError):
    """sources.toml, or a text, is not of the agreed form."""


def parse_sources(document: str) -> dict[str, SourceText]:
    """Read sources.toml.

    Raises:
        SourcesError: a table or a key is missing or of the wrong kind.

    """
    try:
        tables = tomllib.loads(document)["text"]
        texts = [_source_text(table) for table in tables]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SourcesError(f"not of the agreed form: {error!r}") from error
    names = [text.name for text in texts]
    if len(set(names)) < len(names):
        raise SourcesError("a text stands twice")
    return {text.name: text for text in texts}


def cut_sections(text: str, headings: Iterable[str], *, diff: bool) -> dict[str, str]:
    """Cut a text into its listed sections, by the rule above.

    Raises:
        SourcesError: a heading is not found below the one before it.

    """
    lines = [_line(line, diff=diff) for line in text.splitlines()]
    starts: list[tuple[str, int]] = []
    for heading in headings:
        after = starts[-1][1] + 1 if starts else 0
        starts.append((heading, find_heading(lines, heading, after)))
    ends = [start for _, start in starts[1:]] + [len(lines)]
    return {
        heading: "\n".join(lines[start:end]).strip("\n") for (heading, start), end in zip(starts, ends, strict=True)
    }


def section_sum(words: str) -> str:
    """The sha256 of a section as cut."""
    return hashlib.sha256(words.encode()).hexdigest()


def check_texts(sources: dict[str, SourceText], folder: Path, file: str) -> tuple[Problem, ...]:
    """Compare the texts in a folder with the sums: what is missing, and which sections have changed."""
    return tuple(
        Problem(file, 1, message)
        for source in sources.values()
        if source.file
        for message in _differences(source, folder / source.file)
    )


def _differences(source: SourceText, path: Path) -> Iterable[str]:
    try:
        text = path.read_bytes().decode()
        sections = cut_sections(text, (section.heading for section in source.sections), diff=source.diff)
    except (OSError, UnicodeDecodeError, SourcesError) as error:
        yield f"{source.name}: {path.name} cannot be compared: {error}"
        return
    for section in source.sections:
        found = section_sum(sections[section.heading])
        if found != section.sha256:
            yield f"{source.name}: section {section.heading!r} has changed, its sum is now {found}"


def _source_text(table: dict[str, object]) -> SourceText:
    sections = table.get("section", [])
    if not isinstance(sections, list):
        raise TypeError("section is no list")
    return SourceText(
        name=str(table["name"]),
        title=str(table["title"]),
        file=str(table["file"]) if "file" in table else None,
        diff=table.get("diff") is True,
        sections=tuple(Section(str(section["heading"]), str(section["sha256"])) for section in sections),
    )


def _line(line: str, *, diff: bool) -> str:
    return (line.removeprefix("+") if diff else line).rstrip()


def find_heading(lines: list[str], heading: str, after: int) -> int:
    """The number of the line that is a heading, from a line on.

    Raises:
        SourcesError: there is none.

    """
    for number in range(after, len(lines)):
        if lines[number].lstrip("#").replace("\\", "").strip() == heading:
            return number
    raise SourcesError(f"no heading {heading!r}")
