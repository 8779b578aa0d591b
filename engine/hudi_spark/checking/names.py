"""The names of a timeline's files: which actions there are, in which states, at which times."""

from collections.abc import Iterable
from typing import Final

from hudi_format.names import TimelineFileName, parse_timeline_file_name
from hudi_format.storage import Storage

from hudi_spark.checking.violations import Violations
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import DATA_ACTIONS, Instant, Timeline, instant_of

_COMPLETES_AS: Final = {"compaction": "commit", "logcompaction": "deltacommit", "clustering": "replacecommit"}
_INITIAL_VERSION: Final = "hoodie.table.initial.version"
_FIRST_WITH_COMPLETION_TIMES: Final = 8

_Named = tuple[TimelineFileName, str]
"""The parts of a file's name, and its path."""


def check_names(storage: Storage, configuration: TableConfiguration, violations: Violations) -> Timeline:
    """The active timeline, without files whose names say nothing that could be known.

    Clauses: TL-001, TL-002, TL-005, TL-006, TL-007, TL-008, TL-012, TL-016, TL-021.
    """
    gathered: dict[tuple[str, bool], list[_Named]] = {}
    for status in storage.list_files(configuration.timeline_folder, recursive=False):
        with violations.noting(status.path):
            name = status.path.rpartition("/")[2]
            parsed = parse_timeline_file_name(name, configuration.timeline_layout, status.path)
            if parsed is not None:
                gathered.setdefault((parsed.requested, parsed.action == "savepoint"), []).append((parsed, status.path))
    timeline = Timeline(tuple(_instant(gathered[key], violations) for key in sorted(gathered)))
    _check_states(timeline, violations)
    _check_times(timeline, violations, generated=times_are_generated(configuration))
    return timeline


def _instant(found: list[_Named], violations: Violations) -> Instant:
    """The action of an instant; of several completions the first counts, of several actions the completed one.

    Clauses: TL-005, TL-006, TL-012.
    """
    completed = sorted((one for one in found if one[0].state == "COMPLETED"), key=lambda one: one[0].completed or "")
    for _, path in completed[1:]:
        violations.error("TL-012", path, f"{_name(completed[0][1])} completed the action already")
    pending = [one for one in found if one[0].state != "COMPLETED"]
    first = min(pending, key=lambda one: one[0].state == "INFLIGHT", default=None)
    for name, path in pending:
        if first is not None and name.action != first[0].action:
            violations.error("TL-005", path, f"{_name(first[1])} has the instant for another action")
    _check_completed_names(completed, first, violations)
    return instant_of([*pending, *completed[:1]])


def _check_completed_names(completed: list[_Named], pending: _Named | None, violations: Violations) -> None:
    """Clauses: TL-005, TL-006."""
    if pending is None:
        return
    asked = _COMPLETES_AS.get(pending[0].action, pending[0].action)
    is_there = any(name.action == asked for name, _ in completed)
    for name, path in completed if is_there else completed[:1]:
        if name.action != asked and is_there:
            violations.error("TL-005", path, f"{_name(pending[1])} has the instant for another action")
        elif name.action != asked:
            violations.error("TL-006", path, f"what {_name(pending[1])} began completes as {asked}")


def _check_states(timeline: Timeline, violations: Violations) -> None:
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
    text = configuration.properties.get(_INITIAL_VERSION, "").strip()
    return text.isdecimal() and int(text) >= _FIRST_WITH_COMPLETION_TIMES


def _check_times(timeline: Timeline, violations: Violations, *, generated: bool) -> None:
    """Clauses: TL-011, TL-012, TL-024."""
    requested = {one.requested: one for one in timeline.instants if generated and not one.is_savepoint}
    completions: dict[str, Instant] = {}
    for one in timeline.instants:
        if one.completed is None:
            continue
        if one.completed <= one.requested:
            violations.error("TL-011", one.file, "the action completed before it was requested")
        other = completions.setdefault(one.completed, one)
        if other is not one:
            violations.error("TL-012", one.file, f"{_name(other.file)} completed at the same time")
        if one.completed in requested and requested[one.completed] is not one:
            violations.error(
                "TL-024", one.file, f"{_name(requested[one.completed].file)} was requested when it completed"
            )


def without(timeline: Timeline, broken: Iterable[Instant]) -> Timeline:
    """The timeline without some of its actions."""
    left_out = {id(one) for one in broken}
    return Timeline(tuple(one for one in timeline.instants if id(one) not in left_out))


def _name(path: str) -> str:
    return path.rpartition("/")[2]
