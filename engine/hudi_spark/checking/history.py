"""The timeline's history: what the current version names, the rows in it, and how they fit the active timeline."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hudi_format.names import ACTIONS
from hudi_format.storage import Storage
from hudi_format.timeline.archived_log import is_archived_log, read_archived_log
from hudi_format.timeline.history import (
    VERSION_FILE,
    HistoryRow,
    ManifestEntry,
    manifest_number,
    parse_history_name,
    parse_manifest,
    parse_version,
    read_history_file,
)

from hudi_spark.checking.names import times_are_generated, without
from hudi_spark.checking.violations import Violations
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import archived_instants, archived_log_folder, history_folder
from hudi_spark.state.timeline import DATA_ACTIONS, Instant, Timeline

_DIGITS: Final = re.compile("[0-9]+")
_KEPT_FOR_READERS: Final = 3


@dataclass(frozen=True, slots=True)
class CheckedHistory:
    """The actions of the history; `is_whole`: whether all of it could be read."""

    instants: tuple[Instant, ...] = ()
    is_whole: bool = True


def check_history(
    storage: Storage, configuration: TableConfiguration, active: Timeline, violations: Violations
) -> CheckedHistory:
    """The history of a table, and whether it fits the active timeline.

    Clauses: HS-001, HS-002, HS-004, HS-005, HS-006, HS-007, HS-010, TL-003, TL-030, TL-031, TL-032, AR-004, AR-005,
    AR-011.
    """
    before = len(violations.found)
    if configuration.timeline_layout == 1:
        _check_log(storage, configuration, violations)
    else:
        _check_tree(storage, configuration, violations)
    if len(violations.found) > before:
        # What is left of it is read again where it can be.
        probe = Violations()
        with probe.noting():
            return CheckedHistory(archived_instants(storage, configuration), is_whole=True)
        return CheckedHistory(is_whole=False)
    found = archived_instants(storage, configuration)
    _check_beside(found, active, violations)
    _check_states(found, active, violations)
    return CheckedHistory(found)


def _check_states(archived: Iterable[Instant], active: Timeline, violations: Violations) -> None:
    """No action skips a state; of those that are just leaving the timeline the history tells.

    Clauses: TL-003, TL-010, AR-011.
    """
    leaving = {(one.requested, one.is_savepoint) for one in archived}
    for one in active.instants:
        states = ("INFLIGHT",) if one.is_savepoint else ("REQUESTED", "INFLIGHT")
        before = states if one.is_completed else states[: states.index(one.state)]
        if (one.requested, one.is_savepoint) not in leaving:
            for state in before:
                if state not in one.files:
                    violations.error("TL-003", one.file, f"the action is {one.state}, and was never {state}")


def _check_log(storage: Storage, configuration: TableConfiguration, violations: Violations) -> None:
    """Clauses: HS-010, TL-032."""
    for status in storage.list_files(archived_log_folder(configuration), recursive=False):
        if is_archived_log(status.path.rpartition("/")[2]):
            violations.reading(read_archived_log, storage.read(status.path), status.path)


def _check_tree(storage: Storage, configuration: TableConfiguration, violations: Violations) -> None:
    """Clauses: HS-002, HS-003, HS-004, TL-031."""
    folder = history_folder(configuration)
    sizes = {one.path.rpartition("/")[2]: one.size for one in storage.list_files(folder, recursive=False)}
    manifests = {number: name for name in sizes if (number := manifest_number(name)) is not None}
    current = max(manifests, default=None)
    if VERSION_FILE in sizes:
        path = f"{folder}/{VERSION_FILE}"
        current = violations.reading(parse_version, storage.read(path), path)
        if current is not None and current not in manifests:
            name = f"{folder}/manifest_{current}"
            violations.error("HS-004", name, "the version file names the manifest, storage lacks it")
    entries = _entries(storage, folder, manifests.get(-1 if current is None else current), violations)
    for entry in entries:
        _check_file(storage, f"{folder}/{entry.file_name}", entry, sizes, configuration, violations)
    for number in sorted(number for number in manifests if number < (current or 0))[-_KEPT_FOR_READERS + 1 :]:
        for entry in _entries(storage, folder, manifests[number], violations):
            if entry.file_name not in sizes and entry not in entries:
                violations.error("HS-011", f"{folder}/{entry.file_name}", f"{manifests[number]} names it for readers")


def _entries(storage: Storage, folder: str, name: str | None, violations: Violations) -> tuple[ManifestEntry, ...]:
    if name is None:
        return ()
    path = f"{folder}/{name}"
    return violations.reading(parse_manifest, storage.read(path), path) or ()


def _check_file(  # noqa: PLR0917 - a file is judged by all of them
    storage: Storage,
    path: str,
    entry: ManifestEntry,
    sizes: Mapping[str, int],
    configuration: TableConfiguration,
    violations: Violations,
) -> None:
    """Clauses: HS-004, TL-030, TL-031."""
    if entry.file_name not in sizes:
        violations.error("HS-004", path, "the manifest names it, storage lacks it")
        return
    rows = violations.reading(read_history_file, storage.read(path), path)
    if rows is not None:
        size = sizes[entry.file_name]
        if size != entry.file_length:
            violations.error("TL-031", path, f"the manifest says {entry.file_length} bytes, storage {size}")
        _check_rows(path, entry.file_name, rows, configuration, violations)


def _check_rows(
    path: str, name: str, rows: Iterable[HistoryRow], configuration: TableConfiguration, violations: Violations
) -> None:
    """Clauses: HS-005, HS-006, HS-007, TL-011, TL-030."""
    times = [row.instant_time for row in rows]
    # An upgrade may write archived actions again in no order.
    bounds = parse_history_name(name)
    if bounds is None:
        violations.error("TL-030", path, "the name is not that of a file of the history")
    elif times and (min(times), max(times)) != (bounds.minimum, bounds.maximum):
        violations.error("HS-005", path, f"the file holds {min(times)} to {max(times)}")
    if times_are_generated(configuration) and any(later < earlier for earlier, later in pairwise(times)):
        violations.error("HS-006", path, "the actions do not stand in the order of their requested times")
    for row in rows:
        for message in _wrong(row):
            clause = "TL-011" if "before" in message else "HS-007"
            violations.error(clause, path, f"{row.instant_time} {row.action}: {message}")


def _wrong(row: HistoryRow) -> Iterator[str]:
    if not _DIGITS.fullmatch(row.instant_time):
        yield "the instant is not made of digits"
    if row.action not in ACTIONS:
        yield "there is no such action"
    if row.completion_time is not None and row.completion_time <= row.instant_time:
        yield "the action completed before it was requested"


def _check_beside(archived: Iterable[Instant], active: Timeline, violations: Violations) -> None:
    """Clauses: AR-004, AR-005, AR-011."""
    left = {(one.requested, one.is_savepoint): one for one in archived}
    undead = [one for one in active.instants if not one.is_completed and (one.requested, one.is_savepoint) in left]
    for one in undead:
        message = f"the action is pending, and completed in {left[one.requested, one.is_savepoint].file}"
        violations.error("AR-011", one.file, message)
    first = without(active, undead).first_write()
    standing = {(one.requested, one.is_savepoint) for one in active.instants}
    clause = "AR-005" if first in {one.requested for one in active.instants if not one.is_completed} else "AR-004"
    for one in archived:
        here = (one.requested, one.is_savepoint) in standing or one.action not in DATA_ACTIONS
        if first is not None and first < one.requested and not here:
            violations.error(clause, one.file, f"{one.requested} has left the timeline, {first} stands there still")
