"""What is wrong with a table, rule by rule: every fault there is, not only the first that a reader meets."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from hudi_model.blocks import blocks_of, corrupt_blocks
from hudi_model.configuration import properties_fault, sound_properties
from hudi_model.files import DataBlock, DeleteBlock, FileSlice
from hudi_model.merge_modes import merge_mode
from hudi_model.metadata import metadata_differences
from hudi_model.readings import RELEASED
from hudi_model.records import Damaged, sound_deletes, sound_records
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.retention import inner_path, refuse_lost_timeline, refuse_missing, refuse_missing_logs
from hudi_model.slicing import path_of, snapshot_slices
from hudi_model.tables import OpenTable, Table, open_table
from hudi_model.timeline import Action, State, TimelineEntry, commit_metadata, is_completed_data
from hudi_model.transitions import timeline_faults
from hudi_model.views import view_at

REMOVING = (Action.CLEAN, Action.ROLLBACK, Action.RESTORE)


class Severity(StrEnum):
    """An error breaks a rule; a warning is tolerated by the format but worth a look."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: which, how grave, where, and what was found."""

    clause: str
    severity: Severity
    where: str
    message: str


def violations(table: Table) -> tuple[Violation, ...]:
    """What is wrong with a table; files that failed writes left behind are tolerated and not in the list.

    Raises: NOT_A_TABLE where there is no table to check; unsupported what the model does not hold yet.

    Clauses: SL-001, PR-004, TL-003, TL-016, RD-011, RD-013.
    """
    if table.properties is None and table.backup_properties is None:
        sound_properties(None, None)
    found = (
        *property_violations(table),
        *name_violations(table),
        *timeline_violations(table),
        *content_violations(table),
        *reading_violations(table),
        *metadata_violations(table),
    )
    return tuple(dict.fromkeys(found))


def of_rejection(rejection: Rejection) -> Violation:
    """A refusal as an entry of the list."""
    return Violation(rejection.clause, Severity.ERROR, rejection.where, rejection.detail)


def refusals(*checks: Callable[[], object]) -> tuple[Violation, ...]:
    """What those checks that refuse have to say."""
    found = []
    for check in checks:
        try:
            check()
        except Rejection as rejection:
            found.append(of_rejection(rejection))
    return tuple(found)


def property_violations(table: Table) -> tuple[Violation, ...]:
    """A broken properties file; a warning where a sound backup stands in for it.

    Clauses: PR-002, PR-003, PR-004.
    """
    fault = properties_fault(table.properties)
    if fault is None:
        return ()
    stood_in = properties_fault(table.backup_properties) is None
    severity = Severity.WARNING if stood_in else Severity.ERROR
    return (Violation(fault.clause, severity, fault.where, fault.detail),)


def name_violations(table: Table) -> tuple[Violation, ...]:
    """Timeline names that look like an instant and are none.

    Clauses: TL-016.
    """
    return tuple(Violation(one.clause, Severity.ERROR, one.where, one.detail) for one in table.malformed)


def timeline_violations(table: Table) -> tuple[Violation, ...]:
    """What no legal history leaves behind.

    Clauses: TL-003, TL-005, TL-006, TL-011, TL-012.
    """
    rows = (*table.history.archived_log, *(row for file in table.history.files for row in file.instants))
    faults = timeline_faults(table.timeline, (row.requested for row in rows))
    return tuple(Violation(one.clause, Severity.ERROR, one.where, one.detail) for one in faults)


def content_violations(table: Table) -> tuple[Violation, ...]:
    """Timeline files whose content does not parse, and completed ones that are empty.

    What an inflight file holds is never read, and damage there is only worth a look.

    Clauses: TL-015.
    """
    return tuple(violation for entry in table.timeline for violation in entry_violations(entry))


def entry_violations(entry: TimelineEntry) -> Iterator[Violation]:
    """What is wrong with the content of one timeline file.

    Clauses: TL-015.
    """
    if isinstance(entry.content, Damaged):
        severity = Severity.WARNING if entry.state is State.INFLIGHT else Severity.ERROR
        yield Violation(entry.content.clause, severity, entry.name, entry.content.detail)
    elif entry.content is None and entry.state is State.COMPLETED:
        yield Violation("TL-015", Severity.ERROR, entry.name, "the completed action is empty")


def reading_violations(table: Table) -> tuple[Violation, ...]:
    """What keeps a snapshot of a table from being read whole.

    Clauses: RD-011, RD-013, SL-007, VR-002.
    """
    try:
        opened = open_table(table)
        view = view_at(opened, None, RELEASED)
        slices = snapshot_slices(view)
    except Rejection as rejection:
        return known_elsewhere(table, of_rejection(rejection))
    return (
        *refusals(
            partial(merge_mode, opened.configuration),
            partial(refuse_lost_timeline, view),
            partial(refuse_missing, view, slices),
            partial(refuse_missing_logs, view, slices),
        ),
        *path_violations(opened),
        *(violation for one in slices for violation in slice_violations(one)),
    )


def metadata_violations(table: Table) -> tuple[Violation, ...]:
    """Entries of the metadata table that are not so; while files are being removed it may still list them.

    Clauses: MT-005.
    """
    if table.metadata is None:
        return ()
    removing = [one for one in open_table(table).timeline.instants if one.action in REMOVING and one.completed is None]
    found = () if removing else metadata_differences(table)
    return tuple(Violation("MT-005", Severity.ERROR, index, f"{key!r} is not as it is held") for index, key in found)


def known_elsewhere(table: Table, violation: Violation) -> tuple[Violation, ...]:
    """A fault that closes the table, unless another check has found its clause broken already."""
    others = (
        *property_violations(table),
        *name_violations(table),
        *timeline_violations(table),
        *content_violations(table),
    )
    return () if violation.clause in {one.clause for one in others} else (violation,)


def path_violations(opened: OpenTable) -> tuple[Violation, ...]:
    """Paths of completed commits that leave the table.

    Clauses: RD-011.
    """
    commits = (one for one in opened.timeline.instants if is_completed_data(one))
    paths = (stat.path for one in commits for stat in commit_metadata(one).write_stats if stat.path)
    return tuple(violation for path in paths for violation in refusals(partial(inner_path, path)))


def slice_violations(found: FileSlice) -> tuple[Violation, ...]:
    """Damage in the files of a slice that is being read, and bytes that are no block.

    Clauses: BF-004, LF-013, RD-013.
    """
    skipped = tuple(
        Violation("LF-010", Severity.WARNING, path_of(one.log), f"{one.block.length} bytes at {one.block.offset}")
        for log in found.log_files
        if not isinstance(log.blocks, Damaged)
        for one in corrupt_blocks((log,))
    )
    return (*damage(checks_of(found)), *skipped)


def damage(checks: Iterable[Callable[[], object]]) -> tuple[Violation, ...]:
    """What those checks say that find damage; content of a kind not decoded yet is left alone."""
    found: list[Violation] = []
    for check in checks:
        try:
            found.extend(refusals(check))
        except Unsupported:
            continue
    return tuple(found)


def checks_of(found: FileSlice) -> Iterator[Callable[[], object]]:
    """One check for each piece of content in a slice.

    Clauses: BF-004, LF-013.
    """
    if found.base_file is not None:
        yield partial(sound_records, found.base_file.records)
    for log in found.log_files:
        if isinstance(log.blocks, Damaged):
            yield partial(blocks_of, log)
            continue
        for block in log.blocks:
            if isinstance(block, DataBlock):
                yield partial(sound_records, block.records)
            elif isinstance(block, DeleteBlock):
                yield partial(sound_deletes, block.deletes)
