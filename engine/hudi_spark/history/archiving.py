"""Completed actions leave the active timeline: first the history has them, then their files go.

Clauses: AR-001, AR-002, AR-010, AR-011.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hudi_spark.effects.entries import delete_entry
from hudi_spark.effects.helper import Effects
from hudi_spark.history.log import append_states
from hudi_spark.history.rows import archived_states, history_row
from hudi_spark.history.tree import add_actions, merge_levels, remove_obsolete
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import archived_since
from hudi_spark.state.timeline import Instant, Timeline


@dataclass(frozen=True, slots=True)
class HistorySizes:
    """How many files of a level become one, and how many records a block of the log before version 8 has."""

    files_to_merge: int = 10
    records_a_block: int = 10


def finish_interrupted(effects: Effects, configuration: TableConfiguration, timeline: Timeline) -> tuple[Instant, ...]:
    """What an interrupted archival left of actions that the history holds is removed; answers these actions.

    Clauses: AR-002, HS-008.
    """
    first = min((one.requested for one in timeline.instants), default=None)
    if first is None:
        return ()
    known = {_identity(one) for one in archived_since(effects.storage, configuration, first)}
    left = tuple(one for one in timeline.instants if _identity(one) in known)
    remove_files(effects, configuration, left)
    return left


def archive_actions(
    effects: Effects, configuration: TableConfiguration, actions: Sequence[Instant], sizes: HistorySizes
) -> None:
    """Completed actions of the active timeline move to the history; `actions` by requested time, at least one.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT for a history that lacks what it names.
        FormatError: TIMELINE_FILE_CORRUPT for a file of an action that does not parse.

    Clauses: AR-001, AR-010, AR-011, HS-007, HS-009, HS-010, HS-011.

    """
    if configuration.timeline_layout == 1:
        modified = _modified(effects, configuration)
        states = [state for one in actions for state in archived_states(effects.storage, one, modified)]
        append_states(effects, configuration, states, sizes.records_a_block)
        remove_files(effects, configuration, actions)
        return
    add_actions(effects, configuration, [history_row(effects.storage, one) for one in actions])
    remove_files(effects, configuration, actions)
    merged = merge_levels(effects, configuration, sizes.files_to_merge)
    remove_obsolete(effects, configuration, merged)


def remove_files(effects: Effects, configuration: TableConfiguration, actions: Iterable[Instant]) -> None:
    """The files of archived actions go: those of pending states, then those of completed ones, the oldest first.

    Clauses: AR-011.
    """
    ordered = sorted(actions, key=lambda one: one.requested)
    paths = [path for one in ordered for state, path in one.files.items() if state != "COMPLETED"]
    for path in (*paths, *(one.files["COMPLETED"] for one in ordered if "COMPLETED" in one.files)):
        delete_entry(effects, configuration, path)


def _modified(effects: Effects, configuration: TableConfiguration) -> dict[str, int]:
    found = effects.storage.list_files(configuration.timeline_folder, recursive=False)
    return {status.path: status.modified_ms for status in found}


def _identity(instant: Instant) -> tuple[str, bool]:
    return instant.requested, instant.is_savepoint
