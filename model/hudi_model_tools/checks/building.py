"""Indexes that are being built, against the writes that completed meanwhile."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from hudi_model.actions import Action, CommitMetadata, IndexDefinition, State, TimelineEntry
from hudi_model.configuration import property_names
from hudi_model.indexes import Contents, contents
from hudi_model.metadata import BEFORE_ALL, BUILDING, BUILT, FOLDER, STATISTICS
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.retention import instant_of_log
from hudi_model.slicing import data_files
from hudi_model.tables import RELEASED, Table, View
from hudi_model.time import InstantTime
from hudi_model.timeline import with_entries

from hudi_model_tools.checks.finding import Violation, error

TWICE = 2


def being_built(view: View, metadata: Table) -> tuple[IndexDefinition, ...]:
    """The indexes that an indexing action is building; what a failed one left is no index.

    Clauses: IG-003, IG-005.
    """
    properties = view.configuration.properties
    names = {*property_names(properties, BUILDING)} - {*property_names(properties, BUILT)}
    instants = view.table.timeline.instants
    at_work = any(one.action is Action.INDEXING and one.state is State.INFLIGHT for one in instants)
    return tuple(one for one in metadata.indexes if at_work and one.name in names)


def passed_by(index: IndexDefinition, view: View, metadata: Table, stored: Contents) -> Iterator[Violation]:
    """What an index that is being built lacks of the writes that completed since it was there to be logged to.

    [New in v8] Before, nothing states what had completed by then. What was there before may not be in it yet.

    Clauses: IG-003.
    """
    since = opened_at(index.name, metadata)
    if since is None:
        return
    try:
        before, held = contents(index, view_by(view, since)), contents(index, view)
    except (Rejection, Unsupported):
        # What keeps rows from being read is reported on its own.
        return
    changed = [key for key in {*before, *held} if before.get(key) != held.get(key)]
    known = {subject(index, key) for key in changed if stored.get(key) == held.get(key)}
    for one in sorted({subject(index, key) for key in changed} - known):
        yield error("IG-003", f"{FOLDER}/{index.name} {one}", "a write passed the index by that is being built")


def subject(index: IndexDefinition, key: str) -> str:
    """What an entry is about: a file or partition where it is of statistics, which a writer may leave out of columns.

    Clauses: MT-013.
    """
    return key.partition("|")[2] if index.kind in STATISTICS else key


def opened_at(name: str, metadata: Table) -> InstantTime | None:
    """When an index was there to be logged to: when its first deltacommit completed; None where no clock states that.

    Clauses: MT-009, MT-021.
    """
    first = min((one.instant for one in data_files(metadata) if one.partition == name), default=None)
    times = [(one.requested, one.completed) for one in metadata.timeline]
    times += [(one.requested, one.completed) for file in metadata.history.files for one in file.instants]
    done = (completed for requested, completed in times if requested == first and completed)
    return next((one for one in done if not one.startswith(BEFORE_ALL)), None)


def instants_named(entry: TimelineEntry) -> set[tuple[str, InstantTime]]:
    """The partitions that a write has files in, with its own instant and those in the names of its logs.

    A log of version 6 names its slice: so it records an index that was logged to and never whole.

    Clauses: SL-005.
    """
    stats = entry.content.write_stats if isinstance(entry.content, CommitMetadata) else ()
    of_logs = {(one.partition, instant_of_log(one.path or "")) for one in stats}
    named = {(name, instant) for name, instant in of_logs if instant is not None}
    return named | {(one.partition, entry.requested) for one in stats}


def view_by(view: View, moment: InstantTime) -> View:
    """The table with what had completed by a moment."""
    entries = view.table.timeline.entries
    known = (one for one in entries if one.completed is None or one.completed <= moment)
    return View(view.table, with_entries(view.table.timeline, known), None, None, RELEASED)


def since_opened(counted: View) -> View:
    """A metadata table whose deltacommits name nothing of an index that was made anew after them.

    Where no clock states what came after, as before version 8, an index that was made twice names no files.

    Clauses: IX-002, MT-009.
    """
    entries, metadata = counted.table.timeline.entries, counted.table.state
    made = {(one.partition, one.instant) for one in data_files(metadata)}
    made = made.union(*(instants_named(one) for one in entries))
    times = Counter(name for name, instant in made if instant.startswith(BEFORE_ALL))
    opened = {name: opened_at(name, metadata) for name in times}

    def is_current(entry: TimelineEntry, name: str) -> bool:
        moment = opened.get(name)
        return entry.completed >= moment if entry.completed and moment else times[name] < TWICE

    kept = tuple(with_stats(one, partial(is_current, one)) for one in entries)
    timeline = with_entries(counted.table.timeline, kept)
    return replace(counted, timeline=timeline, table=replace(counted.table, timeline=timeline))


def with_stats(entry: TimelineEntry, is_kept: Callable[[str], bool]) -> TimelineEntry:
    """An entry that names the files of some partitions only."""
    if not isinstance(entry.content, CommitMetadata):
        return entry
    stats = tuple(one for one in entry.content.write_stats if is_kept(one.partition))
    return replace(entry, content=replace(entry.content, write_stats=stats))
