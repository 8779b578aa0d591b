"""Expected failures: cases that an adapter is known to fail, each with evidence; they run, and must keep failing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

from hudi_conformance.runner.adapters_config import AdapterConfigError
from hudi_conformance.runner.cases import fitting, normal_id
from hudi_conformance.runner.findings import Finding, finding_of, findings_below
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.plain_text import counted

_CASE, _READ_BACK = "case", "read_back"
_LISTED = frozenset({_CASE, _READ_BACK})


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A case that fails (or a glob over cases), and what was found out about it."""

    id: str
    finding: Finding

    @property
    def clause(self) -> str:
        """The clause that the implementation differs from."""
        return self.finding.clause

    @property
    def why(self) -> str:
        """What it does instead, in a sentence."""
        return self.finding.why

    @property
    def evidence(self) -> str:
        """What shows that not the case is wrong."""
        return self.finding.evidence


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A case (or a glob over cases) whose table an adapter reads wrongly once others have written it.

    `writers`: whose tables it reads so; everybody's where nobody is named.
    """

    id: str
    finding: Finding
    writers: frozenset[str] = frozenset()

    def fits(self, case_id: str, writer: str) -> bool:
        """Whether the entry speaks of a case as this adapter wrote it."""
        return bool(fitting(self.id, (case_id,))) and (not self.writers or writer in self.writers)


def load_read_back(path: Path | None) -> tuple[ReadBack, ...]:
    """What an adapter is known to read wrongly of tables that others write, as its list has it.

    Raises:
        AdapterConfigError: as `load_expected_failures`.

    """
    if path is None:
        return ()
    return tuple(one for entry in entries_of(path, _READ_BACK) for one in _read_back(entry, path))


def load_expected_failures(path: Path | None) -> Mapping[str, ExpectedFailure]:
    """The expected failures of a file, by full case id or glob.

    Raises:
        AdapterConfigError: the file is absent, does not parse, lacks an entry or names a case twice.

    """
    failures = [failure for entry in entries_of(path, _CASE) for failure in _failures(entry, path)] if path else []
    refuse_duplicates((failure.id for failure in failures), path)
    return {failure.id: failure for failure in failures}


def resolved(failures: Mapping[str, ExpectedFailure], known: Iterable[str]) -> dict[str, ExpectedFailure]:
    """One entry a case, held against all cases of the corpus (not only the selected ones).

    Raises:
        AdapterConfigError: a listed id or glob fits no case, or two fit one.

    """
    ids = cases_by_entry(failures, known, "expected failures")
    return {case: replace(failures[entry], id=case) for case, entry in ids.items()}


def entries_of(path: Path, kind: str) -> list[Mapping[str, Any]]:
    """The `[[kind]]` entries of a list of cases.

    Raises:
        AdapterConfigError: the file is absent, does not parse, or holds something else as well.

    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        strange = sorted(content.keys() - ({kind} if kind not in _LISTED else _LISTED))
        if strange:
            raise ValueError(f"[[{strange[0]}]] is not known here: entries are [[{kind}]]")  # noqa: TRY301 - reported below
        return [dict(entry) for entry in content.get(kind, [])]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise AdapterConfigError(f"{path.name}: {error}") from error


def text_of(entry: Mapping[str, Any], key: str, path: Path) -> str:
    """What an entry says under a key.

    Raises:
        AdapterConfigError: it says nothing.

    """
    text = str(entry.get(key, "")).strip()
    if not text:
        raise AdapterConfigError(f"{path.name}: {key!r} is missing from {entry.get('id', 'an entry')}")
    return text


def refuse_duplicates(ids: Iterable[str], path: Path | None) -> None:
    """Hold the ids of a list against each other.

    Raises:
        AdapterConfigError: one is there twice.

    """
    seen: set[str] = set()
    for case_id in ids:
        if case_id in seen:
            raise AdapterConfigError(f"{path.name if path else 'the list'}: {case_id} is listed twice")
        seen.add(case_id)


def cases_by_entry(entries: Iterable[str], known: Iterable[str], what: str) -> dict[str, str]:
    """The entry that each listed case stands under, by case id.

    Raises:
        AdapterConfigError: an entry fits no case, or two fit one.

    """
    found: dict[str, str] = {}
    cases = frozenset(known)
    fits = {entry: fitting(entry, cases) for entry in entries}
    unknown = sorted(entry for entry, ids in fits.items() if not ids)
    if unknown:
        near = nearest_words(unknown[0], cases)
        raise AdapterConfigError(f"{what} name {counted(len(unknown), 'unknown case')}: {', '.join(unknown[:5])}{near}")
    for entry, ids in fits.items():
        for case in ids:
            if found.setdefault(case, entry) != entry:
                raise AdapterConfigError(f"{what} name {case} twice: by {found[case]} and by {entry}")
    return found


def _failures(entry: Mapping[str, Any], path: Path) -> list[ExpectedFailure]:
    finding = _finding(entry, path)
    ids = entry["ids"] if "ids" in entry else [text_of(entry, "id", path)]
    if not isinstance(ids, list) or not ids:
        raise AdapterConfigError(f"{path.name}: 'ids' is a list of cases, not {ids!r}")
    return [ExpectedFailure(normal_id(str(one)), finding) for one in ids]


def _read_back(entry: Mapping[str, Any], path: Path) -> list[ReadBack]:
    writers = frozenset(map(str, entry.get("writers", ())))
    stated = {key: value for key, value in entry.items() if key != "writers"}
    return [ReadBack(failure.id, failure.finding, writers) for failure in _failures(stated, path)]


def _finding(entry: Mapping[str, Any], path: Path) -> Finding:
    """What an entry says itself, or the finding that it names."""
    if "finding" not in entry:
        return finding_of({**entry, "name": ""}, path)
    name = text_of(entry, "finding", path)
    known = findings_below(path.parent)
    if name not in known:
        near = nearest_words(name, known)
        raise AdapterConfigError(f"{path.name}: {name!r} is no finding of {path.parent.name}/findings{near}")
    return known[name]
