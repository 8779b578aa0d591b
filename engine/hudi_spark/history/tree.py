"""The history from version 8 on, changed one version at a time.

a file that nobody names -> a manifest that is not current -> the version file swapped: readers see it from here on
"""

from collections.abc import Iterable, Sequence
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.timeline.history import (
    VERSION_FILE,
    HistoryFileName,
    HistoryRow,
    ManifestEntry,
    manifest_number,
    parse_history_name,
    parse_manifest,
    read_history_file,
    serialise_manifest,
    write_history_file,
)

from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import HistoryVersion, current_version, history_folder

_KEPT_FOR_READERS: Final = 3
_HIGHEST_LEVEL: Final = 9


def add_actions(effects: Effects, configuration: TableConfiguration, rows: Sequence[HistoryRow]) -> None:
    """The history has more actions, in one new file of the lowest level; `rows` by requested time.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT when the current manifest names a file of these times already.

    Clauses: AR-010, HS-003, HS-005, HS-006.

    """
    folder = history_folder(configuration)
    version = current_version(effects.storage, folder)
    name = str(HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0))
    if any(entry.file_name == name for entry in version.entries):
        message = "the history has a file of these times already, and not all of these actions are in it"
        hint = "look at the file: whoever wrote it left actions out"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "HS-005", message, f"{folder}/{name}", hint=hint)
    _put_version(effects, folder, version, HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0), rows)


def merge_levels(effects: Effects, configuration: TableConfiguration, batch: int) -> int:
    """Each level that has `batch` files gives its oldest ones to the next; answers how many levels did.

    Clauses: HS-006, HS-009.
    """
    folder = history_folder(configuration)
    level = 0
    while level < _HIGHEST_LEVEL and _merge(effects, folder, level, batch):
        level += 1
    return level


def remove_obsolete(effects: Effects, configuration: TableConfiguration, merged: int) -> None:
    """Old manifests go, then the files that no kept one names; `merged`: levels that this run has merged.

    Clauses: HS-011.
    """
    folder = history_folder(configuration)
    names = [status.path.rpartition("/")[2] for status in effects.storage.list_files(folder, recursive=False)]
    numbers = sorted(number for number in map(manifest_number, names) if number is not None)
    kept = numbers[-(_KEPT_FOR_READERS + merged) :]
    if len(kept) == len(numbers):
        return
    paths = [f"{folder}/manifest_{number}" for number in kept]
    named = {entry.file_name for path in paths for entry in parse_manifest(effects.storage.read(path), path)}
    for number in numbers[: len(numbers) - len(kept)]:
        effects.delete_history_file(f"{folder}/manifest_{number}")
    for name in names:
        if parse_history_name(name) is not None and name not in named:
            effects.delete_history_file(f"{folder}/{name}")


def _merge(effects: Effects, folder: str, level: int, batch: int) -> bool:
    """Clauses: HS-006, HS-009."""
    version = current_version(effects.storage, folder)
    merged = _of_level(version.entries, level)[:batch]
    if len(merged) < max(batch, 2):
        return False
    paths = [f"{folder}/{one}" for one in merged]
    rows = [row for path in paths for row in read_history_file(effects.storage.read(path), path)]
    rows.sort(key=lambda row: row.instant_time)
    bounds = min(one.minimum for one in merged), max(one.maximum for one in merged)
    left_out = frozenset(map(str, merged))
    _put_version(effects, folder, version, HistoryFileName(*bounds, level + 1), rows, left_out)
    return True


def _of_level(entries: Iterable[ManifestEntry], level: int) -> list[HistoryFileName]:
    """The files of a level, the oldest first."""
    named = (parse_history_name(entry.file_name) for entry in entries)
    found = [one for one in named if one is not None and one.level == level]
    return sorted(found, key=lambda one: (one.minimum, one.maximum))


def _put_version(  # noqa: PLR0917 - a version is told by all of them
    effects: Effects,
    folder: str,
    before: HistoryVersion,
    name: HistoryFileName,
    rows: Sequence[HistoryRow],
    left_out: frozenset[str] = frozenset(),
) -> None:
    """The next version: it names one file more, and not those that this file holds.

    What a dead archival left under a name is replaced: no manifest named it.

    Clauses: AR-010, HS-003.
    """
    data = write_history_file(rows)
    effects.put_history_file(f"{folder}/{name}", name.level, data)
    kept = [entry for entry in before.entries if entry.file_name not in left_out]
    number = before.number + 1
    manifest = serialise_manifest([*kept, ManifestEntry(str(name), len(data))])
    effects.put_manifest(f"{folder}/manifest_{number}", number, manifest)
    effects.swap_version(f"{folder}/{VERSION_FILE}", number)
