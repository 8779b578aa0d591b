"""Expected failures: cases that an adapter is known to fail, each with evidence; they run, and must keep failing."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.adapters_config import AdapterConfigError
from hudi_conformance.cases import normal_id


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A case that fails, why, and what shows that the implementation and not the case is wrong."""

    id: str
    clause: str
    why: str
    evidence: str


def load_expected_failures(path: Path | None) -> Mapping[str, ExpectedFailure]:
    """The expected failures of a file, by full case id.

    Raises:
        AdapterConfigError: the file is absent, does not parse, lacks an entry or names a case twice.

    """
    if path is None:
        return {}
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("case", [])
        failures = [_failure(entry) for entry in entries]
    except KeyError as error:
        raise AdapterConfigError(f"{path.name}: {error.args[0]!r} is missing from a case") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise AdapterConfigError(f"{path.name}: {error}") from error
    _refuse_duplicates(failures, path.name)
    return {failure.id: failure for failure in failures}


def refuse_unknown(failures: Mapping[str, ExpectedFailure], known: Iterable[str]) -> None:
    """Hold the listed ids against all cases of the corpus (not only the selected ones).

    Raises:
        AdapterConfigError: a listed id is no case.

    """
    unknown = sorted(failures.keys() - set(known))
    if unknown:
        raise AdapterConfigError(f"expected failures name {len(unknown)} unknown case(s): {', '.join(unknown[:5])}")


def _failure(entry: Mapping[str, str]) -> ExpectedFailure:
    return ExpectedFailure(normal_id(str(entry["id"])), str(entry["clause"]), str(entry["why"]), str(entry["evidence"]))


def _refuse_duplicates(failures: list[ExpectedFailure], file: str) -> None:
    ids = [failure.id for failure in failures]
    for case_id in ids:
        if ids.count(case_id) > 1:
            raise AdapterConfigError(f"{file}: {case_id} is listed twice")
