"""What the peers answered, kept: one file for each adapter, so that a change of the corpus shows without asking.

An answer belongs to a subject: a golden table with its questions, or one case that writes.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hudi_conformance.runner import manifest
from hudi_conformance.runner.answers_file import answer_text, input_text
from hudi_conformance.runner.archive import listed
from hudi_conformance.runner.case_values import WRITING
from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.recorded_results import load_recorded, results_file, save_recorded
from hudi_conformance.runner.verdicts import FAILURES, Verdict

GOOD = frozenset({"pass", "expected_fail", "unsupported", "open"})


class RecordError(Exception):
    """A record that does not parse."""


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """The answers about one subject: what was asked of which bytes, when, and the verdict on each case."""

    table_bytes: str
    questions: str
    queried_on: str
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
    return results_file(root, f"peers/{adapter}")


def load_record(root: Path, adapter: str) -> Record:
    """The record of an adapter; empty where none was made yet.

    Raises:
        RecordError: the file does not parse.

    """
    try:
        content = load_recorded(root, f"peers/{adapter}")
        if content is None:
            return Record(adapter, {})
        tables = {name: _table(entry) for name, entry in content["tables"].items()}
        return Record(content["adapter"], content["implementation"], tables)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{record_file(root, adapter)}: {error}") from error


def save_record(root: Path, record: Record) -> None:
    """Keep a record, sorted."""
    save_recorded(root, f"peers/{record.adapter}", _rendered(record))


def subject(case: Case) -> str:
    """What the answer to a case is kept under."""
    return f"{case.table.id}/{case.name}" if case.writes else case.table.id


def pattern_of(name: str, cases: Iterable[Case]) -> str:
    """The glob that fits the cases of a subject and no others."""
    writing = next((case.id for case in cases if case.writes and subject(case) == name), None)
    return writing or f"conformance::{name}::*"


def patterns_of(record: Record, name: str, cases: Iterable[Case]) -> tuple[str, ...]:
    """The globs of what a subject must be asked: its new cases where nothing else of it changed, else all it has."""
    every = tuple(cases)
    new = _new_cases(record.tables.get(name), by_subject(every).get(name, ()))
    return tuple(case.id for case in new) or (pattern_of(name, every),)


def _new_cases(recorded: RecordedTable | None, cases: Iterable[Case]) -> list[Case]:
    """The cases that were never asked, where the bytes and all other questions are those of the record; else none."""
    own = list(cases)
    if recorded is None or not own:
        return []
    known = [case for case in own if case.name in recorded.verdicts]
    same = recorded.table_bytes == table_bytes(own) and recorded.questions == questions(known)
    return [case for case in own if case.name not in recorded.verdicts] if same else []


def with_results(record: Record, implementation: Mapping[str, str], cases: Iterable[Case], lines: Any) -> Record:
    """The record with these results of a run in place of what it said of their subjects.

    Where a run asked the new cases of a subject alone, the answers to the others stay.
    """
    by_id = {case.id: case for case in cases}
    results: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        results.setdefault(subject(by_id[line["id"]]), []).append(line)
    subjects = by_subject(by_id.values())
    fresh = {name: _recorded(subjects[name], lines, record.tables.get(name)) for name, lines in results.items()}
    return Record(record.adapter, dict(implementation), {**record.tables, **fresh})


def stale_tables(record: Record, cases: Iterable[Case]) -> tuple[str, ...]:
    """Subjects whose bytes or questions are not those of the record, that it has too many, or tables that it lacks.

    Cases that write are asked of a peer by name: one that was never asked lacks nothing.
    """
    now = by_subject(cases)
    recorded_names = {name for name in now if name in record.tables or not name.startswith(f"{WRITING}/")}
    changed = {name for name in recorded_names if not _is_fresh(record.tables.get(name), now[name])}
    return tuple(sorted(changed | (record.tables.keys() - now.keys())))


def by_subject(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by subject, drafts left out: no release speaks them."""
    found: dict[str, list[Case]] = {}
    for case in (one for one in cases if not one.drafts):
        found.setdefault(subject(case), []).append(case)
    return found


def contradictions(record: Record) -> tuple[str, ...]:
    """Cases whose recorded verdict is neither right nor an expected failure."""
    return tuple(
        f"{table}::{case}: {recorded.verdicts[case]}"
        for table, recorded in sorted(record.tables.items())
        for case in sorted(_bad(recorded))
    )


def contradicted(record: Record) -> tuple[str, ...]:
    """The subjects that have such cases."""
    return tuple(sorted(name for name, recorded in record.tables.items() if _bad(recorded)))


def _bad(recorded: RecordedTable) -> list[str]:
    return [case for case, verdict in recorded.verdicts.items() if verdict not in GOOD]


def relabelled(record: Record, listed: Container[str]) -> Record:
    """The record by a list of expected failures as it stands now: what failed is expected where it is listed."""
    tables = {name: replace(one, verdicts=_by_list(name, one, listed)) for name, one in record.tables.items()}
    return replace(record, tables=tables)


def _by_list(name: str, recorded: RecordedTable, listed: Container[str]) -> dict[str, str]:
    return {case: _label(verdict, _id_of(name, case) in listed) for case, verdict in recorded.verdicts.items()}


def _label(verdict: str, is_listed: bool) -> str:
    if verdict in {Verdict.PASS, Verdict.UNEXPECTED_PASS}:
        return str(Verdict.UNEXPECTED_PASS if is_listed else Verdict.PASS)
    if verdict in FAILURES and is_listed:
        return Verdict.EXPECTED_FAIL.value
    return Verdict.FAIL.value if verdict == Verdict.EXPECTED_FAIL and not is_listed else verdict


def _id_of(name: str, case: str) -> str:
    writing = name.endswith(f"/{case}") and name.startswith(f"{WRITING}/")
    return f"conformance::{name.removesuffix(f'/{case}') if writing else name}::{case}"


def longest_unqueried(record: Record, count: int) -> tuple[str, ...]:
    """The subjects that were asked about longest ago."""
    return tuple(sorted(record.tables, key=lambda name: (record.tables[name].queried_on, name))[:count])


def _recorded(cases: list[Case], lines: Iterable[Mapping[str, Any]], before: RecordedTable | None) -> RecordedTable:
    verdicts = {line["case"]: line["verdict"] for line in lines}
    answers = {line["case"]: line["answer_sha256"] for line in lines}
    queried_on = dt.datetime.now(dt.timezone.utc).date().isoformat()
    if before is not None and {case.name for case in _new_cases(before, cases)} == verdicts.keys():
        verdicts, answers, queried_on = (
            {**before.verdicts, **verdicts},
            {**before.answers, **answers},
            before.queried_on,
        )
    return RecordedTable(table_bytes(cases), questions(cases), queried_on, verdicts, answers)


def _is_fresh(recorded: RecordedTable | None, cases: list[Case]) -> bool:
    if recorded is None or recorded.table_bytes != table_bytes(cases):
        return False
    return recorded.questions == questions(cases)


def table_bytes(cases: Iterable[Case]) -> str:
    """The hash of the files of a golden table; of the rows that a case puts in, where it writes."""
    every = list(cases)
    if not every[0].writes:
        return manifest.digest(listed(every[0].table.folder))
    return _hashed(input_text(step.input.content) for case in every for step in case.steps if step.input)


def questions(cases: Iterable[Case]) -> str:
    """The hash of what cases ask and of what must come of it; how they are described may change."""
    return _hashed(text for case in sorted(cases, key=lambda one: one.name) for text in _signature(case))


def _signature(case: Case) -> Iterator[str]:
    """A case and its steps; which clause an answer is a reading of is no part of the question."""
    yield case.name
    for step in case.steps:
        parts = (step.op, step.params, step.reasons, step.warnings, step.done, step.by, step.process)
        yield json.dumps(parts, sort_keys=True, default=str)
        yield from (f"{one.reading}\n{answer_text(one.answer.content)}" for one in step.expectations)


def _hashed(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(f"{text}\n".encode())
    return digest.hexdigest()


def _table(entry: Mapping[str, Any]) -> RecordedTable:
    cases = {name: (value, None) if isinstance(value, str) else tuple(value) for name, value in entry["cases"].items()}
    return RecordedTable(
        entry["table_bytes"],
        entry["questions"],
        entry["queried_on"],
        {name: verdict for name, (verdict, _) in cases.items()},
        {name: answer for name, (_, answer) in cases.items()},
    )


def _rendered(record: Record) -> dict[str, Any]:
    tables = {
        name: {
            "table_bytes": one.table_bytes,
            "questions": one.questions,
            "queried_on": one.queried_on,
            "cases": {case: [verdict, one.answers[case]] for case, verdict in sorted(one.verdicts.items())},
        }
        for name, one in sorted(record.tables.items())
    }
    return {"adapter": record.adapter, "implementation": dict(record.implementation), "tables": tables}
