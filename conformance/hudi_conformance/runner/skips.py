"""Skips: cases that an adapter is not asked, each with a reason; they are reported, and never count as passed."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from hudi_conformance.runner.cases import normal_id
from hudi_conformance.runner.expected_failures import cases_by_entry, entries_of, refuse_duplicates, text_of


def load_skips(path: Path | None) -> Mapping[str, str]:
    """The reasons of a file of skips, by full case id or glob.

    Raises:
        AdapterConfigError: the file is absent, does not parse, or names a case without a reason or twice.

    """
    if path is None:
        return {}
    skips = [(normal_id(text_of(entry, "id", path)), text_of(entry, "reason", path)) for entry in _entries(path)]
    refuse_duplicates((case_id for case_id, _ in skips), path)
    return dict(skips)


def resolved_skips(skips: Mapping[str, str], known: Iterable[str]) -> dict[str, str]:
    """The reason for each case that is skipped.

    Raises:
        AdapterConfigError: a listed id or glob fits no case, or two fit one.

    """
    return {case: skips[entry] for case, entry in cases_by_entry(skips, known, "skips").items()}


def _entries(path: Path) -> list[Mapping[str, str]]:
    return entries_of(path, "skip")
