"""What was found of the array of written tables: one entry for each row."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from hudi_conformance.interop.fuzzing.reading_back import RowResult
from hudi_conformance.runner.recorded_results import load_recorded, save_recorded

SOURCE = "written-tables"


def load_results(root: Path) -> dict[str, RowResult]:
    """The results of a checkout by row; none where nothing was recorded."""
    return {entry["row"]: RowResult(**entry) for entry in load_recorded(root, SOURCE) or ()}


def add_results(root: Path, results: Iterable[RowResult]) -> None:
    """Put rows in place of older ones; what other readers and writers said of the same row stays."""
    held = load_results(root)
    for one in results:
        held[one.row] = with_older(one, held.get(one.row))
    save_recorded(root, SOURCE, [asdict(held[name]) for name in sorted(held)])


def with_older(result: RowResult, older: RowResult | None) -> RowResult:
    """A row's result with the words that only an older result of the same table has."""
    if older is None or dict(older.features) != dict(result.features):
        return result
    return replace(result, read=_joined(older.read, result.read), continued=_joined(older.continued, result.continued))


def _joined(older: Mapping[str, str], newer: Mapping[str, str]) -> dict[str, str]:
    return {**older, **newer}
