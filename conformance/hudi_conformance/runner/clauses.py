"""The numbered rules: `specs/clauses/<area>.md` as values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HEADING = re.compile(r"^##\s+(?P<id>\S+)\s*(?P<title>.*)$")
CLAUSE_ID = re.compile(r"^[A-Z]{2,4}-[0-9]{3}$")
ATTRIBUTE = re.compile(r"^-\s+(?P<name>[a-z_]+):\s*(?P<value>.*)$")
SOURCE = re.compile(r'^(?P<text>[a-z0-9.-]+)\s*(?:,\s*"(?P<section>[^"]*)")?$')
ATTRIBUTES = frozenset(
    {"level", "status", "versions", "over", "stated_in", "source", "evidence", "readings", "refuses"}
)
REQUIRED = ("level", "versions", "stated_in", "source")
LEVELS = ("must", "should", "may", "open")
STATED_IN = ("model", "format")
TABLE_VERSIONS = (4, 5, 6, 8, 9)
DRAFT_VERSIONS = (10,)
"""What no release writes; the rules of the last released version hold there too, but for what drafts say."""
DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a checked-in file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule comes from: the short name of a text and a section of it."""

    text: str
    section: str | None


@dataclass(frozen=True, slots=True)
class Clause:
    """One numbered rule; `refuses` names the reasons with which what breaks it is rejected.

    `over`: the rules of the last released version in whose place a draft stands.
    """

    id: str
    title: str
    level: str
    versions: tuple[int, ...]
    stated_in: str
    source: str
    readings: tuple[str, ...]
    rule: str
    file: str
    line: int
    evidence: str = ""
    refuses: tuple[str, ...] = ()
    over: tuple[str, ...] = ()

    @property
    def is_draft(self) -> bool:
        """Whether it is a rule of a version that no release writes."""
        return not set(self.versions).isdisjoint(DRAFT_VERSIONS)

    @property
    def standing(self) -> str:
        """Its level, and that it is a draft."""
        return f"{self.level}, {DRAFT}" if self.is_draft else self.level

    @property
    def prefix(self) -> str:
        """The letters of the id."""
        return self.id.partition("-")[0]

    @property
    def anchor(self) -> str:
        """The clause's place as a link below specs/clauses, in the form GitHub gives a heading."""
        words = re.sub(r"[^\w\- ]", "", f"{self.id} {self.title}".lower()).replace(" ", "-")
        return f"{self.file}#{words}"


@dataclass(frozen=True, slots=True)
class ParsedClauses:
    """What a clause file held: the clauses that are whole, and what is wrong with the rest."""

    clauses: tuple[Clause, ...]
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class _Block:
    """A heading with the lines that follow it."""

    line: int
    id: str
    title: str
    attributes: dict[str, str] = field(default_factory=dict)
    rule: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def parse_clauses(text: str, file: str) -> ParsedClauses:
    """Read one area's file; a block that is not whole becomes a problem, never an exception."""
    clauses: list[Clause] = []
    problems: list[Problem] = []
    for block in _blocks(text, file):
        found = [*block.problems, *_block_problems(block, file)]
        problems.extend(found)
        if not found:
            clauses.append(_clause(block, file))
    return ParsedClauses(tuple(clauses), tuple(problems))


def parse_files(files: Mapping[str, str]) -> ParsedClauses:
    """Read several area files, in the order of their names."""
    parsed = [parse_clauses(files[name], name) for name in sorted(files)]
    return ParsedClauses(
        tuple(clause for one in parsed for clause in one.clauses),
        tuple(problem for one in parsed for problem in one.problems),
    )


def load_clauses(folder: Path) -> tuple[Clause, ...]:
    """All whole clauses of a clause folder; what is broken there is the lint's to report."""
    return parse_files(read_files(folder)).clauses


def read_files(folder: Path) -> dict[str, str]:
    """The texts of a clause folder by file name."""
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.md"))}


def parse_sources(value: str) -> tuple[Source, ...] | None:
    """Sources as written (`text, "Section"; text, "Section"`), or None when they are not of that form."""
    matches = [SOURCE.match(part.strip()) for part in _split_outside_quotes(value)]
    if not all(matches):
        return None
    return tuple(Source(match["text"], match["section"]) for match in matches if match)


def _split_outside_quotes(value: str) -> list[str]:
    return re.findall(r'(?:[^;"]|"[^"]*"?)+', value)


def _blocks(text: str, file: str) -> Iterable[_Block]:
    block: _Block | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        heading = HEADING.match(line)
        if heading:
            if block:
                yield block
            block = _Block(number, heading["id"], heading["title"].strip())
        elif block:
            _add_line(block, line, number, file)
    if block:
        yield block


def _add_line(block: _Block, line: str, number: int, file: str) -> None:
    attribute = ATTRIBUTE.match(line) if not block.rule else None
    if attribute:
        name = attribute["name"]
        if name in block.attributes:
            block.problems.append(Problem(file, number, f"{block.id}: attribute {name} stands twice"))
        if name not in ATTRIBUTES:
            block.problems.append(Problem(file, number, f"{block.id}: unknown attribute {name}"))
        block.attributes[name] = attribute["value"].strip()
    elif line.startswith("  ") and line.strip() and block.attributes and not block.rule:
        name = next(reversed(block.attributes))
        block.attributes[name] += " " + line.strip()
    elif line.strip() or block.rule:
        block.rule.append(line.rstrip())


def _block_problems(block: _Block, file: str) -> list[Problem]:
    return [Problem(file, block.line, message) for message in _messages(block)]


def _messages(block: _Block) -> Iterable[str]:
    if not CLAUSE_ID.match(block.id):
        yield f"malformed clause id {block.id!r}: two to four capitals, a dash, three digits"
    if not block.title:
        yield f"{block.id}: the heading has no title"
    yield from (f"{block.id}: attribute {name} is missing" for name in REQUIRED if not block.attributes.get(name))
    level = block.attributes.get("level")
    if level and level not in LEVELS:
        yield f"{block.id}: unknown level {level!r}, one of {', '.join(LEVELS)}"
    stated_in = block.attributes.get("stated_in")
    if stated_in and stated_in not in STATED_IN:
        yield f"{block.id}: unknown stated_in {stated_in!r}, one of {', '.join(STATED_IN)}"
    status = block.attributes.get("status")
    known = TABLE_VERSIONS if status is None else DRAFT_VERSIONS
    if status not in (None, DRAFT):
        yield f"{block.id}: unknown status {status!r}, none or {DRAFT}"
    versions = block.attributes.get("versions")
    if versions and not _versions(versions, known):
        yield f"{block.id}: versions {versions!r} are not among {', '.join(map(str, known))}"
    if "over" in block.attributes and status is None:
        yield f"{block.id}: only a draft stands over other rules"
    if not "".join(block.rule).strip():
        yield f"{block.id}: the rule's text is missing"


def _versions(value: str, among: tuple[int, ...] = TABLE_VERSIONS + DRAFT_VERSIONS) -> tuple[int, ...]:
    words = [word.strip() for word in value.split(",")]
    known = {str(version): version for version in among}
    return tuple(known[word] for word in words) if all(word in known for word in words) else ()


def _clause(block: _Block, file: str) -> Clause:
    return Clause(
        id=block.id,
        title=block.title,
        level=block.attributes["level"],
        versions=_versions(block.attributes["versions"]),
        stated_in=block.attributes["stated_in"],
        source=block.attributes["source"],
        readings=_words(block.attributes.get("readings", "")),
        rule="\n".join(block.rule).strip(),
        file=file,
        line=block.line,
        evidence=block.attributes.get("evidence", ""),
        refuses=_words(block.attributes.get("refuses", "")),
        over=_words(block.attributes.get("over", "")),
    )


def _words(value: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in value.split(",") if word.strip())
