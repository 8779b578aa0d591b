"""The corpus as it stands on disk: golden tables with their questions, and cases that write."""

import fnmatch
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.runner.case_files import cases_of, table_of, writing_cases_of
from hudi_conformance.runner.case_values import AREAS, ID_PREFIX, Case, Expectation, GoldenTable, Step
from hudi_conformance.runner.identifiers import normal_number
from hudi_conformance.runner.resources import TABLES, WRITING_CASES

__all__ = [
    "AREAS",
    "ID_PREFIX",
    "Case",
    "Expectation",
    "GoldenTable",
    "Selection",
    "Step",
    "cases_of",
    "load_cases",
    "load_golden_cases",
    "load_tables",
    "matches_id",
    "missing_kills",
    "normal_id",
]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases to run; an empty part selects all, `cases` are globs over ids."""

    areas: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    table_versions: tuple[int, ...] = ()
    cases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Take ids of clauses as people type them."""
        object.__setattr__(self, "clauses", tuple(map(normal_number, self.clauses)))

    def holds(self, case: Case) -> bool:
        """Whether a case is selected."""
        return (
            (not self.areas or case.area in self.areas)
            and (not self.clauses or not set(self.clauses).isdisjoint(case.clauses))
            and (not self.features or set(self.features) <= set(case.table.features))
            and (not self.table_versions or case.table.version in self.table_versions)
            and (not self.cases or any(matches_id(case.id, pattern) for pattern in self.cases))
        )


def load_tables(root: Path) -> tuple[GoldenTable, ...]:
    """All golden tables below a suite's root, by id.

    Raises:
        CorpusError: a `table.toml` does not parse or lacks an entry.

    """
    folders = sorted(path.parent for path in (root / TABLES).rglob("table.toml"))
    return tuple(table_of(folder, folder.relative_to(root / TABLES).as_posix()) for folder in folders)


def load_cases(root: Path, selection: Selection | None = None) -> tuple[Case, ...]:
    """The selected cases: of golden tables, by table and in the order of their file; then those that write, by id.

    Raises:
        CorpusError: a file does not parse, lacks an entry, or names one case twice.

    """
    tables = load_tables(root)
    cases = [*(case for table in tables for case in cases_of(table)), *_writing_cases(root, tables)]
    chosen = selection or Selection()
    return tuple(case for case in cases if chosen.holds(case))


def load_golden_cases(root: Path, selection: Selection | None = None) -> tuple[Case, ...]:
    """The selected cases of golden tables alone.

    Raises:
        CorpusError: as `load_cases`.

    """
    return tuple(case for case in load_cases(root, selection) if not case.writes)


def _writing_cases(root: Path, tables: Iterable[GoldenTable]) -> list[Case]:
    known = {table.id: table for table in tables}
    files = sorted((root / WRITING_CASES).glob("*/*.toml"))
    return sorted((case for file in files for case in writing_cases_of(file, known)), key=lambda case: case.id)


def short_id(identifier: str) -> str:
    """The id of a case without the prefix that all have."""
    return identifier.removeprefix(f"{ID_PREFIX}::")


def normal_id(text: str) -> str:
    """The full id, given with or without its prefix."""
    return text if text.startswith(f"{ID_PREFIX}::") else f"{ID_PREFIX}::{text}"


def matches_id(case_id: str, pattern: str) -> bool:
    """Whether a glob names a case: by its full id, by `<table>::<case>`, or by the case's own name."""
    short = case_id.removeprefix(f"{ID_PREFIX}::")
    return any(fnmatch.fnmatchcase(form, pattern) for form in (case_id, short, short.rpartition("::")[2]))


def fitting(entry: str, ids: Collection[str]) -> tuple[str, ...]:
    """The cases that a full id or a glob over full ids names."""
    return (entry,) if entry in ids else tuple(fnmatch.filter(ids, entry))


def missing_kills(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Cases that name no mutant they kill: they do not count."""
    return tuple(case for case in cases if not case.kills)
