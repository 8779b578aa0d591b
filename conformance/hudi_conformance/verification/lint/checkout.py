"""A checkout of this project, as the lint sees it: which files to read, and how to name them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

from hudi_conformance.runner.clauses import Clause, ParsedClauses, Problem, parse_files, read_files
from hudi_conformance.verification.lint.sources import SourcesError, SourceText, parse_sources

READINGS = frozenset({"text", "released"})


class NoCheckoutError(RuntimeError):
    """No folder above holds specs/clauses."""


@dataclass(frozen=True, slots=True)
class Area:
    """The letters of an area's clause ids, its title, and the files that hold its clauses."""

    prefix: str
    title: str
    files: tuple[str, ...]


@dataclass(slots=True)
class Checkout:
    """What the checks compare: clauses, areas, sources, and what went wrong while reading them."""

    root: Path
    clauses: tuple[Clause, ...]
    areas: dict[str, Area]
    sources: dict[str, SourceText]
    reasons: frozenset[str]
    problems: list[Problem] = field(default_factory=list)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all whole clauses."""
        return frozenset(clause.id for clause in self.clauses)

    def clause_file(self, clause: Clause) -> str:
        """The clause's file, as seen from the root."""
        return f"specs/clauses/{clause.file}"

    def name(self, path: Path) -> str:
        """A path as seen from the root."""
        return path.relative_to(self.root).as_posix()

    def python_files(self, folder: str) -> Iterator[Path]:
        """The Python files below a folder of the checkout, in order."""
        yield from sorted((self.root / folder).rglob("*.py"))


def find_root(start: Path) -> Path:
    """The nearest folder, from start upwards, that holds specs/clauses.

    Raises:
        NoCheckoutError: there is none.

    """
    for folder in (start, *start.parents):
        if (folder / "specs" / "clauses").is_dir():
            return folder
    raise NoCheckoutError(f"no folder from {start} upwards holds specs/clauses: run this in a checkout")


def read_checkout(root: Path) -> Checkout:
    """Read the rule book and its registries; what does not parse becomes a problem."""
    parsed = _parsed_clauses(root)
    checkout = Checkout(root, parsed.clauses, {}, {}, frozenset(), list(parsed.problems))
    checkout.areas = {
        prefix: Area(prefix, str(area.get("title", "")), tuple(words(area.get("files"))))
        for prefix, area in read_toml(checkout, "specs/areas.toml").items()
        if isinstance(area, dict)
    }
    checkout.reasons = frozenset(
        str(reason.get("name")) for reason in tables(read_toml(checkout, "specs/reasons.toml").get("reason"))
    )
    try:
        checkout.sources = parse_sources((root / "specs/sources.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, SourcesError) as error:
        checkout.problems.append(Problem("specs/sources.toml", 1, str(error)))
    return checkout


def read_toml(checkout: Checkout, name: str) -> dict[str, Any]:
    """A TOML file as tables; one that does not parse is a problem and reads as empty."""
    try:
        return tomllib.loads((checkout.root / name).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        checkout.problems.append(Problem(name, 1, f"cannot be read: {error}"))
        return {}


def tables(value: object) -> list[dict[str, Any]]:
    """The tables of a TOML array; anything else has none."""
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


def words(value: object) -> list[str]:
    """The members of a TOML array as words; anything else has none."""
    return [str(word) for word in value] if isinstance(value, list) else []


def _parsed_clauses(root: Path) -> ParsedClauses:
    parsed = parse_files(read_files(root / "specs" / "clauses"))
    problems = tuple(Problem(f"specs/clauses/{one.file}", one.line, one.message) for one in parsed.problems)
    return ParsedClauses(parsed.clauses, problems)
