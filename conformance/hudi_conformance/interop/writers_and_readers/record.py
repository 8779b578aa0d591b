"""The writer x reader matrix as it is kept: one file for all writers, one line for each case of a writer."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hudi_conformance.interop.writers_and_readers.matrix import CHECKED, WROTE, Played, known_of
from hudi_conformance.runner.adapter_pool import roles_of
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.cases import Case, load_cases
from hudi_conformance.runner.recorded_results import load_recorded, save_recorded
from hudi_conformance.runner.verdicts import BAD, Outcome, Verdict

SOURCE = "writers-and-readers"


@dataclass(frozen=True, slots=True)
class RecordedWriter:
    """The verdicts on a writer's cases: by case, then by column; who it was, and when it was asked."""

    name: str
    implementation: Mapping[str, Any]
    queried_on: str
    cases: Mapping[str, Mapping[str, str]]
    bad: Mapping[str, str]
    """What was found where a verdict is neither right nor known, by `case, column`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that some case has, as they come."""
        return tuple(dict.fromkeys(column for by_column in self.cases.values() for column in by_column))

    def counts(self, column: str, cases: Iterable[str] | None = None) -> Counter[str]:
        """How many of the cases, or of some, have which verdict in a column."""
        chosen = self.cases if cases is None else [one for one in cases if one in self.cases]
        return Counter(self.cases[case][column] for case in chosen if column in self.cases[case])


def load_matrix(root: Path) -> dict[str, RecordedWriter]:
    """What a checkout holds, by writer; nothing where nothing was recorded."""
    content = load_recorded(root, SOURCE) or {}
    return {name: _writer(name, entry) for name, entry in content.items()}


def add_writer(root: Path, played: Played) -> None:
    """Put a writer's cases in place of what was recorded of them; what readers said who were not asked now stays."""
    held, fresh = load_matrix(root), recorded(played)
    joined = _joined(held.get(fresh.name), fresh)
    save_recorded(root, SOURCE, _rendered({**held, fresh.name: joined}))


def _joined(older: RecordedWriter | None, fresh: RecordedWriter) -> RecordedWriter:
    if older is None:
        return fresh
    cases = {name: {**older.cases.get(name, {}), **by_column} for name, by_column in fresh.cases.items()}
    fresh_places = {f"{name}, {column}" for name, by_column in fresh.cases.items() for column in by_column}
    kept = {f"{name}, {column}" for name, by_column in cases.items() for column in by_column} - fresh_places
    bad = {place: message for place, message in older.bad.items() if place in kept}
    return replace(fresh, cases=cases, bad={**bad, **fresh.bad})


def relist(root: Path) -> None:
    """Hold what was recorded against the lists as they stand now, without asking anybody."""
    cases = {case.id.removeprefix("conformance::"): case for case in load_cases(root) if case.writes}
    record = {name: _relisted(one, cases, root) for name, one in load_matrix(root).items()}
    if record:
        save_recorded(root, SOURCE, _rendered(record))


def _relisted(one: RecordedWriter, cases: Mapping[str, Case], root: Path) -> RecordedWriter:
    """A case that is there no more is left out."""
    writer, readers = find_adapter(one.name, root), [name for name in one.columns if name not in {WROTE, CHECKED}]
    known = known_of(writer, roles_of(root, readers=readers), root)
    found = {
        name: known.settled(
            cases[name], one.name, {key: _unlisted(cases[name], word) for key, word in by_column.items()}
        )
        for name, by_column in one.cases.items()
        if name in cases
    }
    verdicts = {name: {key: by_column.verdict.value for key, by_column in row.items()} for name, row in found.items()}
    places = {
        f"{name}, {key}" for name, row in found.items() for key, by_column in row.items() if by_column.verdict in BAD
    }
    return replace(one, cases=verdicts, bad={place: one.bad.get(place, "") for place in places})


def _unlisted(case: Case, verdict: str) -> Outcome:
    """The outcome behind a verdict, before any list was looked at."""
    behind = {Verdict.EXPECTED_FAIL: Verdict.FAIL, Verdict.UNEXPECTED_PASS: Verdict.PASS}
    return Outcome(case, behind.get(Verdict(verdict), Verdict(verdict)))


def recorded(played: Played) -> RecordedWriter:
    """A writer's cases as they are kept."""
    cases = {
        case.id.removeprefix("conformance::"): {column: one.verdict.value for column, one in by_column.items()}
        for case, by_column in played.cases
    }
    bad = {
        f"{case.id.removeprefix('conformance::')}, {column}": message_of(one)
        for case, by_column in played.cases
        for column, one in by_column.items()
        if one.verdict in BAD
    }
    who = {key: str(value) for key, value in played.implementation.items()}
    return RecordedWriter(played.writer.name, who, played.queried_on, cases, bad)


def message_of(outcome: Outcome, length: int = 300) -> str:
    """What an outcome says, in one line."""
    return "; ".join(one for one in (outcome.message, *outcome.differences) if one)[:length]


def _writer(name: str, entry: Mapping[str, Any]) -> RecordedWriter:
    columns = entry["columns"]
    cases = {
        case: {column: verdict for column, verdict in zip(columns, verdicts.split(), strict=True) if verdict != "-"}
        for case, verdicts in entry["cases"].items()
    }
    return RecordedWriter(name, entry["implementation"], entry["queried_on"], cases, entry["bad"])


def _rendered(record: Mapping[str, RecordedWriter]) -> dict[str, Any]:
    return {
        name: {
            "implementation": dict(one.implementation),
            "queried_on": one.queried_on,
            "columns": list(one.columns),
            "cases": {
                case: " ".join(one.cases[case].get(column, "-") for column in one.columns) for case in sorted(one.cases)
            },
            "bad": dict(sorted(one.bad.items())),
        }
        for name, one in sorted(record.items())
    }
