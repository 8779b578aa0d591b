"""What was found of the array of written tables: one entry for each row."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from hudi_conformance.interop.fuzzing.reading_back import Told
from hudi_conformance.runner.recorded_results import load_recorded, save_recorded

SOURCE = "written-tables"


def load_results(root: Path) -> dict[str, Told]:
    """The results of a checkout by row; none where nothing was recorded."""
    return {entry["row"]: Told(**entry) for entry in load_recorded(root, SOURCE) or ()}


def add_results(root: Path, told: Iterable[Told]) -> None:
    """Put rows in place of older ones; what other readers and writers said of the same row stays."""
    held = load_results(root)
    for one in told:
        held[one.row] = with_older(one, held.get(one.row))
    save_recorded(root, SOURCE, [asdict(held[name]) for name in sorted(held)])


def with_older(told: Told, older: Told | None) -> Told:
    """A row's result with the words that only an older result of the same table has."""
    if older is None or dict(older.features) != dict(told.features):
        return told
    return replace(told, read=_joined(older.read, told.read), continued=_joined(older.continued, told.continued))


def _joined(older: Mapping[str, str], newer: Mapping[str, str]) -> dict[str, str]:
    return {**older, **newer}
