"""What the peers answered, kept: one file for each adapter, so that a change of the corpus shows without asking."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_conformance.cases import Case, GoldenTable

FOLDER = Path("conformance") / "peer_answers"
GOOD = frozenset({"pass", "expected_fail", "unsupported", "open"})


class RecordError(Exception):
    """A record that does not parse."""


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """The answers about one table: what was asked of which bytes, when, and the verdict on each case."""

    table_bytes: str
    questions: str
    asked: str
    verdicts: Mapping[str, str]
    answers: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Record:
    """All answers of one adapter."""

    adapter: str
    implementation: Mapping[str, str]
    tables: Mapping[str, RecordedTable] = field(default_factory=dict)


def record_file(root: Path, adapter: str) -> Path:
    """Where an adapter's record stands."""
    return root / FOLDER / f"{adapter}.json"


def load_record(root: Path, adapter: str) -> Record:
    """The record of an adapter; empty where none was made yet.

    Raises:
        RecordError: the file does not parse.

    """
    path = record_file(root, adapter)
    if not path.exists():
        return Record(adapter, {})
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        tables = {name: _table(entry) for name, entry in content["tables"].items()}
        return Record(content["adapter"], content["implementation"], tables)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path.name}: {error}") from error


def save_record(root: Path, record: Record) -> None:
    """Write a record, sorted, one case a line."""
    path = record_file(root, record.adapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_rendered(record), encoding="utf-8")


def with_results(record: Record, implementation: Mapping[str, str], cases: Iterable[Case], lines: Any) -> Record:
    """The record with these results of a run in place of what it said of their tables."""
    told: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        told.setdefault(line["table"], []).append(line)
    asked = {case.table.id: case.table for case in cases if case.table.id in told}
    fresh = {name: _recorded(asked[name], told[name]) for name in asked}
    return Record(record.adapter, dict(implementation), {**record.tables, **fresh})


def stale_tables(record: Record, cases: Iterable[Case]) -> tuple[str, ...]:
    """Tables of the corpus whose bytes or questions are not those of the record, or that it lacks or has too many."""
    now = {case.table.id: case.table for case in cases}
    changed = {name for name, table in now.items() if not _is_fresh(record.tables.get(name), table)}
    return tuple(sorted(changed | (record.tables.keys() - now.keys())))


def contradictions(record: Record) -> tuple[str, ...]:
    """Cases whose recorded verdict is neither right nor an expected failure."""
    return tuple(
        f"{table}::{case}: {verdict}"
        for table, recorded in sorted(record.tables.items())
        for case, verdict in sorted(recorded.verdicts.items())
        if verdict not in GOOD
    )


def longest_unasked(record: Record, count: int) -> tuple[str, ...]:
    """The tables that were asked longest ago."""
    return tuple(sorted(record.tables, key=lambda name: (record.tables[name].asked, name))[:count])


def _recorded(table: GoldenTable, lines: Iterable[Mapping[str, Any]]) -> RecordedTable:
    ordered = sorted(lines, key=lambda line: str(line["case"]))
    return RecordedTable(
        table_bytes(table.folder),
        questions(table.folder),
        dt.datetime.now(dt.UTC).date().isoformat(),
        {line["case"]: line["verdict"] for line in ordered},
        {line["case"]: line["answer_sha256"] for line in ordered},
    )


def _is_fresh(recorded: RecordedTable | None, table: GoldenTable) -> bool:
    if recorded is None or recorded.table_bytes != table_bytes(table.folder):
        return False
    return recorded.questions == questions(table.folder)


def table_bytes(folder: Path) -> str:
    """The hash of a table's MANIFEST."""
    return hashlib.sha256((folder / "MANIFEST").read_bytes()).hexdigest()


def questions(folder: Path) -> str:
    """The hash of a table's questions and of their answers."""
    digest = hashlib.sha256()
    for path in (folder / "cases.toml", *sorted((folder / "expected").glob("*"))):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _table(entry: Mapping[str, Any]) -> RecordedTable:
    cases = {name: (value, None) if isinstance(value, str) else tuple(value) for name, value in entry["cases"].items()}
    return RecordedTable(
        entry["table_bytes"],
        entry["questions"],
        entry["asked"],
        {name: verdict for name, (verdict, _) in cases.items()},
        {name: answer for name, (_, answer) in cases.items()},
    )


def _rendered(record: Record) -> str:
    tables = {
        name: {
            "table_bytes": one.table_bytes,
            "questions": one.questions,
            "asked": one.asked,
            "cases": {case: [verdict, one.answers[case]] for case, verdict in sorted(one.verdicts.items())},
        }
        for name, one in sorted(record.tables.items())
    }
    content = {"adapter": record.adapter, "implementation": dict(record.implementation), "tables": tables}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
