"""What is wrong with a table, rule by rule: every fault there is, not only the first that a reader meets."""

from collections.abc import Collection, Iterator
from functools import partial

from hudi_model.actions import Action, Instant, State
from hudi_model.configuration import valid_properties
from hudi_model.files import FileSlice
from hudi_model.history import history_instants
from hudi_model.rejection import Rejection
from hudi_model.retention import refuse_lost_timeline, refuse_missing, refuse_missing_logs
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, Evidence, OpenTable, Table, View, open_table, view_at

from hudi_model_tools.checks.commits import commit_violations
from hudi_model_tools.checks.definition import definition_violations
from hudi_model_tools.checks.files import file_violations
from hudi_model_tools.checks.finding import Severity, Violation, error, refusals, violation_of
from hudi_model_tools.checks.history import history_violations
from hudi_model_tools.checks.metadata import metadata_differences, metadata_table_violations
from hudi_model_tools.checks.plans import plan_violations
from hudi_model_tools.checks.properties import configuration_violations, property_violations
from hudi_model_tools.checks.results import result_violations
from hudi_model_tools.checks.rows import row_violations
from hudi_model_tools.checks.timeline import action_violations, content_violations, timeline_violations

__all__ = ["Evidence", "Severity", "Violation", "metadata_violations", "violations"]

REMOVING = (Action.CLEAN, Action.ROLLBACK, Action.RESTORE)


def violations(table: Table) -> tuple[Violation, ...]:
    """What is wrong with a table; files that failed writes left behind are tolerated and not in the list.

    What storage shows beside the state (`Table.evidence`) is looked at where it is known.

    Raises: NOT_A_TABLE where there is no table to check; unsupported what the model does not hold yet.

    Clauses: SL-001, PR-004, TL-003, TL-016, RD-011, RD-013.
    """
    if table.properties is None and table.backup_properties is None:
        valid_properties(None, None)
    found = (*property_violations(table), *timeline_violations(table), *content_violations(table))
    return tuple(dict.fromkeys((*found, *reading_violations(table, {one.clause for one in found}))))


def reading_violations(table: Table, known: Collection[str]) -> Iterator[Violation]:
    """What is wrong with a table that opens; what closes it, unless that clause is known as broken.

    Clauses: RD-011, RD-013, HS-004, SL-007, VR-002.
    """
    try:
        opened = open_table(table)
    except Rejection as rejection:
        yield from () if rejection.clause in known else (violation_of(rejection),)
        return
    found = tuple(opened_violations(opened, table.evidence))
    yield from found
    try:
        view = view_at(opened, None, RELEASED)
        slices = snapshot_slices(view)
    except Rejection as rejection:
        yield from () if rejection.clause in {*known, *(one.clause for one in found)} else (violation_of(rejection),)
        return
    yield from content_of(view, slices, table.evidence)


def opened_violations(opened: OpenTable, evidence: Evidence) -> Iterator[Violation]:
    """What is wrong with properties, actions, history and commits of a table, whether or not its files can be read."""
    yield from configuration_violations(opened.configuration)
    yield from action_violations(opened.configuration, opened.timeline, past_of(opened))
    yield from history_violations(opened)
    yield from commit_violations(opened, evidence)


def content_of(view: View, slices: tuple[FileSlice, ...], evidence: Evidence) -> Iterator[Violation]:
    """What is wrong with the files of a table whose timeline can be read.

    Clauses: RD-011, RD-018, TL-022.
    """
    missing = refusals(
        partial(refuse_lost_timeline, view),
        partial(refuse_missing, view, slices),
        partial(refuse_missing_logs, view, slices),
    )
    # A file in a folder that is not marked is there: the folder is reported.
    yield from (one for one in missing if one.where not in evidence.unplaced)
    yield from file_violations(view, evidence)
    yield from plan_violations(view, slices)
    yield from definition_violations(view, evidence)
    yield from result_violations(view, deep=evidence.deep)
    yield from metadata_table_violations(view, evidence)
    if evidence.deep:
        yield from row_violations(view, slices, evidence)


def past_of(opened: OpenTable) -> tuple[Instant, ...]:
    """The archived actions; none where the history is broken, which is reported on its own."""
    try:
        rows = history_instants(opened.state.history, opened.configuration.timeline_layout)
    except Rejection:
        return ()
    return tuple(Instant(one.requested, one.action, State.COMPLETED, one.completed, one.metadata) for one in rows)


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
        return (violation_of(rejection),)
    return tuple(error("MT-005", index, f"{key!r} is not as it is held") for index, key in found)
