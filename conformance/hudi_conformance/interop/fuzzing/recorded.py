"""What was found of the array of written tables: a committed file, one line for each row."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from hudi_conformance.interop.fuzzing.reading_back import Told

RESULTS = Path("conformance") / "written_tables.json"


def load_results(root: Path) -> dict[str, Told]:
    """The results of a checkout by row; none where nothing was recorded."""
    file = root / RESULTS
    if not file.exists():
        return {}
    return {entry["row"]: Told(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))["rows"]}


def add_results(root: Path, told: Iterable[Told]) -> None:
    """Put rows in place of older ones; what other readers and writers said of the same row stays."""
    held = load_results(root)
    for one in told:
        held[one.row] = with_older(one, held.get(one.row))
    lines = ",\n".join(json.dumps(asdict(held[name]), ensure_ascii=False, sort_keys=True) for name in sorted(held))
    (root / RESULTS).write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")


def with_older(told: Told, older: Told | None) -> Told:
    """A row's result with the words that only an older result of the same table has."""
    if older is None or dict(older.features) != dict(told.features):
        return told
    return replace(told, read=_joined(older.read, told.read), continued=_joined(older.continued, told.continued))


def _joined(older: Mapping[str, str], newer: Mapping[str, str]) -> dict[str, str]:
    return {**older, **newer}
