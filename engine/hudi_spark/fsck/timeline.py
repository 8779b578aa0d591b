"""The files of a timeline and of its history: names, states, times, and what they hold."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from hudi_format.avro.files import read_container
from hudi_format.errors import FormatError, Reason
from hudi_format.json_text import read_json
from hudi_format.names import ACTIONS, TimelineFileName, parse_timeline_file_name, refuse_no_file
from hudi_format.storage import Storage
from hudi_format.timeline import plans
from hudi_format.timeline.archived_log import is_archived_log, read_archived_log
from hudi_format.timeline.commit_metadata import WriteStat, content_kind, parse_commit_metadata
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

from hudi_spark.errors import HudiError
from hudi_spark.fsck.violations import Violations
from hudi_spark.table_state import (
    DATA_ACTIONS,
    Commit,
    Instant,
    TableConfiguration,
    Timeline,
    archived_instants,
    archived_log_folder,
    beside,
    completed_bytes,
    file_name_of,
    history_folder,
    identity_of,
    instant_of,
    refuse_escape,
)

_COMPLETES_AS: Final = {"compaction": "commit", "logcompaction": "deltacommit", "clustering": "replacecommit"}
INITIAL_VERSION: Final = "hoodie.table.initial.version"
_FIRST_WITH_COMPLETION_TIMES: Final = 8

_Named = tuple[TimelineFileName, str]
"""The parts of a file's name, and its path."""


def check_names(storage: Storage, configuration: TableConfiguration, violations: Violations) -> Timeline:
    """The active timeline, without files whose names say nothing that could be known.

    Clauses: TL-001, TL-002, TL-005, TL-006, TL-007, TL-008, TL-012, TL-016, TL-021.
    """
    gathered: dict[tuple[str, str], list[_Named]] = {}
    for path in storage.list_no_files(configuration.timeline_folder):
        with violations.noting(path):
            refuse_no_file(path, configuration.timeline_layout)
    for status in storage.list_files(configuration.timeline_folder, recursive=False):
        with violations.noting(status.path):
            name = status.path.rpartition("/")[2]
            parsed = parse_timeline_file_name(name, configuration.timeline_layout, status.path)
            if parsed is not None:
                gathered.setdefault((parsed.requested, beside(parsed.action)), []).append((parsed, status.path))
    timeline = Timeline(tuple(_instant(gathered[key], violations) for key in sorted(gathered)))
    _check_active_states(timeline, violations)
    _check_times(timeline, violations, generated=times_are_generated(configuration))
    return timeline


def _instant(found: list[_Named], violations: Violations) -> Instant:
    """The action of an instant; of several completions the first counts, of several actions the completed one.

    Clauses: TL-005, TL-006, TL-012.
    """
    completed = sorted((one for one in found if one[0].state == "COMPLETED"), key=lambda one: one[0].completed or "")
    for _, path in completed[1:]:
        violations.error("TL-012", path, f"{file_name_of(completed[0][1])} completed the action already")
    pending = [one for one in found if one[0].state != "COMPLETED"]
    first = min(pending, key=lambda one: one[0].state == "INFLIGHT", default=None)
    for name, path in pending:
        if first is not None and name.action != first[0].action:
            violations.error("TL-005", path, f"{file_name_of(first[1])} has the instant for another action")
    _check_completed_names(completed, first, violations)
    return instant_of([*pending, *completed[:1]])


def _check_completed_names(completed: list[_Named], pending: _Named | None, violations: Violations) -> None:
    """Clauses: TL-005, TL-006."""
    if pending is None:
        return
    expected_action = _COMPLETES_AS.get(pending[0].action, pending[0].action)
    is_there = any(name.action == expected_action for name, _ in completed)
    for name, path in completed if is_there else completed[:1]:
        if name.action != expected_action and is_there:
            violations.error("TL-005", path, f"{file_name_of(pending[1])} has the instant for another action")
        elif name.action != expected_action:
            violations.error("TL-006", path, f"what {file_name_of(pending[1])} began completes as {expected_action}")


def _check_active_states(timeline: Timeline, violations: Violations) -> None:
    """Clauses: TL-010, SR-001."""
    saved = {one.requested for one in timeline.instants if one.is_completed and one.action in DATA_ACTIONS}
    for one in timeline.instants:
        if not one.is_savepoint:
            continue
        if "REQUESTED" in one.files:
            violations.error("TL-010", one.files["REQUESTED"], "a savepoint is not requested")
        if one.is_completed and one.requested not in saved:
            violations.error("SR-001", one.file, "the timeline has no completed write of the savepoint's instant")


def times_are_generated(configuration: TableConfiguration) -> bool:
    """Whether one generator gave all times; those of older tables come from modification times, when they are upgraded.

    Clauses: TL-024, VR-006.
    """
    text = configuration.properties.get(INITIAL_VERSION, "").strip()
    return text.isdecimal() and int(text) >= _FIRST_WITH_COMPLETION_TIMES


def _check_times(timeline: Timeline, violations: Violations, *, generated: bool) -> None:
    """Clauses: TL-011, TL-012, TL-024."""
    requested = {one.requested: one for one in timeline.one_of_each_time if generated}
    completions: dict[str, Instant] = {}
    for one in timeline.instants:
        if one.completed is None:
            continue
        if one.completed <= one.requested:
            violations.error("TL-011", one.file, "the action completed before it was requested")
        other = completions.setdefault(one.completed, one)
        if other is not one:
            violations.error("TL-012", one.file, f"{file_name_of(other.file)} completed at the same time")
        if one.completed in requested and requested[one.completed] is not one:
            violations.error(
                "TL-024", one.file, f"{file_name_of(requested[one.completed].file)} was requested when it completed"
            )


def without(timeline: Timeline, broken: Iterable[Instant]) -> Timeline:
    """The timeline without some of its actions."""
    left_out = {id(one) for one in broken}
    return Timeline(tuple(one for one in timeline.instants if id(one) not in left_out))


_Parse = Callable[[bytes, str], Any]

_PLANS: Final[Mapping[str, _Parse]] = {
    "compaction": plans.parse_compaction_plan,
    "logcompaction": plans.parse_compaction_plan,
    "clustering": plans.parse_requested_replace,
    "replacecommit": plans.parse_requested_replace,
    "clean": plans.parse_cleaner_plan,
    "rollback": plans.parse_rollback_plan,
    "restore": plans.parse_restore_plan,
    "indexing": plans.parse_index_plan,
}
_RESULTS: Final[Mapping[str, _Parse]] = {
    "clean": plans.parse_clean_metadata,
    "rollback": plans.parse_rollback_metadata,
    "restore": plans.parse_restore_metadata,
    "savepoint": plans.parse_savepoint_metadata,
    "indexing": plans.parse_index_commit,
}
# What the inflight file of a commit, which has a bare name, begins with is the state.
_WITH_COMMITS: Final = (*DATA_ACTIONS, "inflight")
# A write that replaces groups may be requested without a plan.
_PLAN_OR_NOTHING: Final = ("replacecommit",)


@dataclass(slots=True)
class Contents:
    """What could be read of a timeline.

    `commits`: completed data actions, by completion, without stats whose paths leave the table. `plans` and `results`
    are by action. `broken`: actions of which a file could not be read.
    """

    timeline: Timeline
    commits: tuple[Commit, ...] = ()
    plans: dict[Instant, Any] = field(default_factory=dict)
    results: dict[Instant, Any] = field(default_factory=dict)
    broken: list[Instant] = field(default_factory=list)

    @property
    def readable(self) -> Timeline:
        """The timeline without the services whose files could not be read."""
        return without(self.timeline, (one for one in self.broken if one.action not in DATA_ACTIONS))

    def pending(self, *kinds: type) -> dict[Instant, Any]:
        """The plans of some kinds that wait to be carried out."""
        return {one: plan for one, plan in self.plans.items() if not one.is_completed and isinstance(plan, kinds)}


def check_contents(storage: Storage, timeline: Timeline, violations: Violations) -> Contents:
    """What the timeline's files hold.

    Clauses: TL-014, TL-015, TL-019, TL-020, TL-033, SL-007, SL-008, RD-008.
    """
    contents = Contents(timeline)
    for instant in timeline.instants:
        for state, path in instant.files.items():
            if state == "REQUESTED":
                _check_requested(storage, instant, path, contents, violations)
            elif state == "INFLIGHT":
                _check_inflight(storage.read(path), path, violations)
            elif instant.action in _RESULTS:
                _check_result(storage, instant, path, contents, violations)
    contents.commits = check_commits(storage, timeline, violations)
    return contents


def check_commits(storage: Storage, timeline: Timeline, violations: Violations) -> tuple[Commit, ...]:
    """The completed data actions of a timeline that can be read, by completion.

    Clauses: TL-015, TL-019, TL-020, SL-007, SL-008.
    """
    found: list[Commit] = []
    for instant in timeline.completed_data():
        with violations.noting(instant.file):
            data = completed_bytes(storage, instant)
            if not data:
                raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-015", "the completed action is empty", instant.file)
            metadata = parse_commit_metadata(data, instant.file)
            kept = [one for one in metadata.write_stats if _stays_inside(storage, one, instant, violations)]
            found.append(Commit(instant, replace(metadata, write_stats=tuple(kept))))
    return tuple(found)


def _stays_inside(storage: Storage, stat: WriteStat, instant: Instant, violations: Violations) -> bool:
    """Clauses: SL-007, SL-008."""
    paths = (stat.path or "", *(stat.cdc_stats or {}))
    try:
        for path in paths:
            refuse_escape(storage, path)
    except FormatError as error:
        violations.error("SL-007", instant.file, f"names {error.file}: {error.message}")
        return False
    partition = (stat.partition_path or "").strip("/")
    if stat.path is None:
        violations.error("SL-008", instant.file, f"a write stat of {stat.file_id} names no file")
    elif partition != stat.path.rpartition("/")[0]:
        violations.error("SL-008", instant.file, f"{stat.path} is filed under the partition {partition!r}")
    return True


def _check_requested(storage: Storage, instant: Instant, path: str, contents: Contents, violations: Violations) -> None:
    """Clauses: RD-008, TL-014, TL-033."""
    data, action = storage.read(path), _action_of(path)
    parse = _PLANS.get(action)
    if parse is None:
        # A downgrade leaves metadata there, which nobody reads.
        _ = violations.reading(_content, data, path) if data else None
        return
    if not data and action in _PLAN_OR_NOTHING:
        return
    if not data:
        unknown = action == "compaction" and not instant.is_completed
        violations.error("RD-008" if unknown else "TL-033", path, "the plan is empty")
    _note(contents.plans, instant, violations.reading(parse, data, path) if data else None, contents)


def _action_of(path: str) -> str:
    return path.rpartition("/")[2].split(".")[1]


def _check_result(storage: Storage, instant: Instant, path: str, contents: Contents, violations: Violations) -> None:
    """Clauses: TL-014, TL-033."""
    data = storage.read(path)
    if not data:
        violations.error("TL-033", path, f"the completed {instant.action} is empty")
    result = violations.reading(_RESULTS[instant.action], data, path) if data else None
    _note(contents.results, instant, result, contents)


def _note(known: dict[Instant, Any], instant: Instant, value: Any, contents: Contents) -> None:
    if value is None:
        contents.broken.append(instant)
    else:
        known[instant] = value


def _check_inflight(data: bytes, path: str, violations: Violations) -> None:
    """No reader opens what an inflight file holds: to be warned of it is enough.

    Clauses: TL-014, TL-019, TL-020, TL-033.
    """
    found = Violations()
    if data and _action_of(path) in _WITH_COMMITS:
        found.reading(parse_commit_metadata, data, path)
    elif data:
        found.reading(_content, data, path)
    for one in found.found:
        violations.warning(one.clause, one.where, one.message)


def _content(data: bytes, path: str) -> Any:
    """A JSON value, or the one record of a container.

    Clauses: TL-014.
    """
    if content_kind(data, path) == "json":
        return read_json(data, path, Reason.TIMELINE_FILE_CORRUPT, "TL-014")
    _, records = read_container(data, path)
    if len(records) != 1:
        message = f"the file holds {len(records)} records instead of one"
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-014", path, None, message)
    return records[0]


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
    _check_archived_states(found, active, violations)
    return CheckedHistory(found)


def _check_archived_states(archived: Iterable[Instant], active: Timeline, violations: Violations) -> None:
    """No action skips a state; of those that are just leaving the timeline the history shows.

    Clauses: TL-003, TL-010, AR-011.
    """
    leaving = {identity_of(one) for one in archived}
    for one in active.instants:
        states = ("INFLIGHT",) if one.is_savepoint else ("REQUESTED", "INFLIGHT")
        before = states if one.is_completed else states[: states.index(one.state)]
        if identity_of(one) not in leaving:
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
    left = {identity_of(one): one for one in archived}
    undead = [one for one in active.instants if not one.is_completed and identity_of(one) in left]
    for one in undead:
        message = f"the action is pending, and completed in {left[identity_of(one)].file}"
        violations.error("AR-011", one.file, message)
    first = without(active, undead).first_write()
    standing = {identity_of(one) for one in active.instants}
    clause = "AR-005" if first in {one.requested for one in active.instants if not one.is_completed} else "AR-004"
    for one in archived:
        here = identity_of(one) in standing or one.action not in DATA_ACTIONS
        if first is not None and first < one.requested and not here:
            violations.error(clause, one.file, f"{one.requested} has left the timeline, {first} stands there still")
