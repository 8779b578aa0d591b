"""A table as one question sees it: which actions had happened at the read time, on the axis of the reading."""

from dataclasses import dataclass

from hudi_model.actions import Instant
from hudi_model.configuration import Configuration
from hudi_model.files import GroupId
from hudi_model.readings import Reading, Readings
from hudi_model.tables import OpenTable
from hudi_model.time import InstantTime, at_or_before
from hudi_model.timeline import Timeline, commit_metadata, completed_data, timeline_up_to


@dataclass(frozen=True, slots=True)
class View:
    """A table as one question sees it.

    `timeline` is what had happened at the read time, on the axis of the question's reading.
    `limit` cuts slices and blocks by requested time, None where the timeline has been cut already.
    """

    table: OpenTable
    timeline: Timeline
    read_time: InstantTime | None
    limit: InstantTime | None
    readings: Readings

    @property
    def configuration(self) -> Configuration:
        """The table's settings."""
        return self.table.configuration


def view_at(table: OpenTable, read_time: InstantTime | None, readings: Readings) -> View:
    """The latest state, or the state as of a time: by requested time as released, by completion time in the text.

    Clauses: RD-001, RD-010.
    """
    if read_time is None:
        return View(table, table.timeline, None, None, readings)
    if readings.time_travel is Reading.TEXT:
        return View(table, timeline_up_to(table.timeline, read_time), read_time, None, readings)
    return View(table, table.timeline, read_time, read_time, readings)


def is_within(view: View, instant: InstantTime) -> bool:
    """Whether a requested time is not after the question's limit."""
    return view.limit is None or at_or_before(instant, view.limit)


def visible_commits(view: View) -> tuple[Instant, ...]:
    """The completed data actions that the question sees, in the order in which they took effect.

    Clauses: RD-001, RD-010.
    """
    return tuple(one for one in completed_data(view.timeline) if is_within(view, one.requested))


def replaced_groups(view: View) -> frozenset[GroupId]:
    """The file groups that a visible replacecommit took out of the table.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: RD-003, TL-027.
    """
    return frozenset(group for one in visible_commits(view) for group in commit_metadata(one).replaced)
