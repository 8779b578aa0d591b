"""What is wrong with a table, rule by rule: every fault there is, not only the first that a reader meets."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from hudi_model.actions import Action, State
from hudi_model.configuration import properties_fault, sound_properties
from hudi_model.files import CorruptBlock, DataBlock, DeleteBlock, FileSlice
from hudi_model.history import history_instants
from hudi_model.merge_modes import merge_mode
from hudi_model.metadata import metadata_differences
from hudi_model.readings import RELEASED
from hudi_model.records import Damaged
from hudi_model.rejection import Rejection
from hudi_model.retention import inner_path, refuse_lost_timeline, refuse_missing, refuse_missing_logs
from hudi_model.slicing import path_of, snapshot_slices
from hudi_model.tables import Table, open_table
from hudi_model.timeline import commit_metadata, completed_data
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
    found = (*property_violations(table), *timeline_violations(table), *content_violations(table))
    return tuple(dict.fromkeys((*found, *reading_violations(table, {one.clause for one in found}))))


def told(fault: Rejection | Damaged, severity: Severity = Severity.ERROR) -> Violation:
    """A refusal, or what would be refused, as an entry of the list."""
    return Violation(fault.clause, severity, fault.where, fault.detail)


def refusals(*checks: Callable[[], object]) -> tuple[Violation, ...]:
    """What those checks that refuse have to say."""
    found = []
    for check in checks:
        try:
            check()
        except Rejection as rejection:
            found.append(told(rejection))
    return tuple(found)


def property_violations(table: Table) -> tuple[Violation, ...]:
    """A broken properties file; a warning where a sound backup stands in for it.

    Clauses: PR-002, PR-003, PR-004.
    """
    fault, stood_in = properties_fault(table.properties), properties_fault(table.backup_properties) is None
    return (told(fault, Severity.WARNING if stood_in else Severity.ERROR),) if fault else ()


def timeline_violations(table: Table) -> tuple[Violation, ...]:
    """Names that look like an instant and are none, and what no legal history leaves behind.

    Clauses: TL-003, TL-005, TL-006, TL-011, TL-012, TL-016.
    """
    rows = (*table.history.archived_log, *(row for file in table.history.files for row in file.instants))
    faults = timeline_faults(table.timeline, (row.requested for row in rows))
    return (*(told(one) for one in table.malformed), *(told(one) for one in faults))


def content_violations(table: Table) -> Iterator[Violation]:
    """Timeline files whose content does not parse, and completed ones that are empty.

    What an inflight file holds is never read, and damage there is only worth a look.

    Clauses: TL-015.
    """
    for entry in table.timeline:
        if isinstance(entry.content, Damaged):
            severity = Severity.WARNING if entry.state is State.INFLIGHT else Severity.ERROR
            yield replace(told(entry.content, severity), where=entry.name)
        elif entry.content is None and entry.state is State.COMPLETED:
            yield Violation("TL-015", Severity.ERROR, entry.name, "the completed action is empty")


def reading_violations(table: Table, known: Collection[str]) -> tuple[Violation, ...]:
    """What keeps a snapshot of a table from being read whole; what closes it, unless that clause is known as broken.

    Clauses: RD-011, RD-013, HS-004, SL-007, VR-002.
    """
    try:
        opened = open_table(table)
        view = view_at(opened, None, RELEASED)
        slices = snapshot_slices(view)
    except Rejection as rejection:
        return () if rejection.clause in known else (told(rejection),)
    commits = completed_data(opened.timeline)
    paths = (stat.path for one in commits for stat in commit_metadata(one).write_stats if stat.path)
    return (
        *refusals(
            partial(merge_mode, opened.configuration),
            partial(refuse_lost_timeline, view),
            partial(refuse_missing, view, slices),
            partial(refuse_missing_logs, view, slices),
            partial(history_instants, table.history, opened.configuration.timeline_layout),
            *(partial(inner_path, path) for path in paths),
        ),
        *(violation for one in slices for violation in slice_violations(one)),
        *metadata_violations(table),
    )


def slice_violations(found: FileSlice) -> Iterator[Violation]:
    """Damage in the files of a slice that is being read, and bytes that are no block.

    Clauses: BF-004, LF-010, LF-013, RD-013.
    """
    if found.base_file and isinstance(found.base_file.records, Damaged):
        yield told(found.base_file.records)
    for log in found.log_files:
        for block in [log.blocks] if isinstance(log.blocks, Damaged) else log.blocks:
            match block:
                case DataBlock(records=Damaged() as damage) | DeleteBlock(deletes=Damaged() as damage):
                    yield told(damage)
                case Damaged():
                    yield told(block)
                case CorruptBlock(offset, length):
                    yield Violation("LF-010", Severity.WARNING, path_of(log), f"{length} bytes at {offset}")


def metadata_violations(table: Table) -> tuple[Violation, ...]:
    """Entries of the metadata table that are not so; while files are being removed it may still list them.

    Clauses: MT-005.
    """
    actions = open_table(table).timeline.instants
    if table.metadata is None or any(one.action in REMOVING and one.state is not State.COMPLETED for one in actions):
        return ()
    try:
        found = metadata_differences(table)
    except Rejection as rejection:
        return (told(rejection),)
    return tuple(Violation("MT-005", Severity.ERROR, index, f"{key!r} is not as it is held") for index, key in found)
