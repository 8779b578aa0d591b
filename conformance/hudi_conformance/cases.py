"""The corpus as values: golden tables with their questions, read from `table.toml` and `cases.toml`."""

import fnmatch
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hudi_conformance.resources import TABLES, CorpusError

Result = TypeVar("Result")
ID_PREFIX = "conformance"
AREAS = {
    "TL": "timeline",
    "TM": "time",
    "HS": "history",
    "SL": "storage-layout",
    "TT": "table-types",
    "PR": "properties",
    "VR": "versions",
    "LF": "log-format",
    "BF": "base-files",
    "MF": "meta-fields",
    "DM": "data-model",
    "MG": "merging",
    "RM": "mergers",
    "PL": "payloads",
    "RD": "reading",
    "IN": "incremental",
    "CD": "cdc",
    "OW": "optimistic-writers",
    "SW": "streaming-writers",
    "LK": "locks",
    "MK": "markers",
    "CP": "compaction",
    "LC": "log-compaction",
    "CL": "clustering",
    "CN": "cleaning",
    "IG": "indexing",
    "RB": "rollback",
    "SR": "savepoint-restore",
    "AR": "archival",
    "MT": "metadata",
    "IX": "indexes",
    "SA": "storage-assumptions",
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """A file below `expected/`, and the reading it belongs to where a clause has two."""

    file: Path
    reading: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One question of a case: what is asked and what must come of it; an open step has neither answer nor reasons."""

    op: str
    params: Mapping[str, Any]
    expectations: tuple[Expectation, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the question is asked without a settled answer."""
        return not self.expectations and not self.reasons


@dataclass(frozen=True, slots=True)
class GoldenTable:
    """A table on disk: `folder` holds table/, expected/ and MANIFEST."""

    id: str
    folder: Path
    title: str
    version: int
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One question, or several in turn, about one golden table."""

    name: str
    table: GoldenTable
    title: str
    clauses: tuple[str, ...]
    kills: tuple[str, ...]
    given: str
    when: str
    then: str
    steps: tuple[Step, ...]

    @property
    def id(self) -> str:
        """The id that never changes: `conformance::<table>::<case>`."""
        return f"{ID_PREFIX}::{self.table.id}::{self.name}"

    @property
    def area(self) -> str:
        """The area of the clause that the case names first."""
        prefix = self.clauses[0].partition("-")[0] if self.clauses else ""
        return AREAS.get(prefix, prefix.lower() or "other")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases to run; an empty part selects all, `cases` are globs over ids."""

    areas: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    table_versions: tuple[int, ...] = ()
    cases: tuple[str, ...] = ()

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
    return tuple(_table(folder, folder.relative_to(root / TABLES).as_posix()) for folder in folders)


def load_cases(root: Path, selection: Selection | None = None) -> tuple[Case, ...]:
    """The selected cases, by table and in the order of their file.

    Raises:
        CorpusError: a file does not parse, lacks an entry, or names one case twice.

    """
    chosen = selection or Selection()
    cases = [case for table in load_tables(root) for case in cases_of(table)]
    return tuple(case for case in cases if chosen.holds(case))


def cases_of(table: GoldenTable) -> tuple[Case, ...]:
    """The cases of one table, in the order of their file."""
    path = table.folder / "cases.toml"
    if not path.is_file():
        return ()
    cases: tuple[Case, ...] = _understood(path, _cases, table, _toml(path))
    for name in {case.name for case in cases}:
        if sum(case.name == name for case in cases) > 1:
            raise CorpusError(f"{table.id}: case {name!r} stands in cases.toml twice")
    return cases


def normal_id(text: str) -> str:
    """The full id, given with or without its prefix."""
    return text if text.startswith(f"{ID_PREFIX}::") else f"{ID_PREFIX}::{text}"


def matches_id(case_id: str, pattern: str) -> bool:
    """Whether a glob names a case: by its full id, by `<table>::<case>`, or by the case's own name."""
    short = case_id.removeprefix(f"{ID_PREFIX}::")
    return any(fnmatch.fnmatchcase(form, pattern) for form in (case_id, short, short.rpartition("::")[2]))


def missing_kills(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Cases that name no mutant they kill: they do not count."""
    return tuple(case for case in cases if not case.kills)


def _table(folder: Path, table_id: str) -> GoldenTable:
    path = folder / "table.toml"
    return _understood(path, _table_of, folder, table_id, _toml(path))


def _table_of(folder: Path, table_id: str, entry: Mapping[str, Any]) -> GoldenTable:
    return GoldenTable(
        id=table_id,
        folder=folder,
        title=str(entry["title"]),
        version=int(entry["table_version"]),
        features=tuple(entry.get("features", [])),
    )


def _cases(table: GoldenTable, content: Mapping[str, Any]) -> tuple[Case, ...]:
    return tuple(_case(table, entry) for entry in content.get("case", []))


def _case(table: GoldenTable, entry: Mapping[str, Any]) -> Case:
    return Case(
        name=str(entry["id"]),
        table=table,
        title=str(entry["title"]),
        clauses=tuple(entry["clauses"]),
        kills=tuple(entry.get("kills", [])),
        given=str(entry.get("given", "")),
        when=str(entry.get("when", "")),
        then=str(entry.get("then", "")),
        steps=tuple(_step(table, step) for step in entry["steps"]),
    )


def _step(table: GoldenTable, entry: Mapping[str, Any]) -> Step:
    if "expect" in entry and "reject" in entry:
        raise ValueError("a step has `expect` or `reject`, not both")
    return Step(
        op=str(entry["op"]),
        params=entry.get("params", {}),
        expectations=_expectations(table, entry.get("expect", {})),
        reasons=_reasons(entry.get("reject")),
        warnings=tuple(str(warning["clause"]) for warning in entry.get("warnings", [])),
    )


def _expectations(table: GoldenTable, expect: str | Mapping[str, str]) -> tuple[Expectation, ...]:
    folder = table.folder / "expected"
    if isinstance(expect, str):
        return (Expectation(folder / expect),)
    return tuple(Expectation(folder / file, reading) for reading, file in expect.items())


def _reasons(reject: Mapping[str, Any] | None) -> tuple[str, ...]:
    if reject is None:
        return ()
    reason = reject["reason"]
    return (reason,) if isinstance(reason, str) else tuple(reason)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path.parent.name}/{path.name}: {error}") from error


def _understood(path: Path, read: Callable[..., Result], *arguments: Any) -> Result:
    try:
        return read(*arguments)
    except KeyError as error:
        raise CorpusError(f"{path.parent.name}/{path.name}: {error.args[0]!r} is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path.parent.name}/{path.name}: {error}") from error
