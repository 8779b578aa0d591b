"""The history of the timeline in the variables of the TLA+ modules, and what an archiver has still to do."""

from collections.abc import Iterator

from hudi_model.actions import TimelineEntry
from hudi_model.effects import DeleteHistoryFile, DeleteInstant, DeleteMarkers, PutHistoryFile, PutManifest
from hudi_model.tables import ArchivedInstant, HistoryFile
from hudi_model_tools.protocol import Process, World

from hudi_conformance.verification.agreement.times import ticks
from hudi_conformance.verification.tla.expressions import Function, Value, function

MANIFEST = "manifest_"


def history(world: World) -> Value:
    """The files of the history, named by a manifest or not."""
    return frozenset(map(history_file, world.shared.table.value.history.files))


def history_file(file: HistoryFile) -> Function:
    """A file of the history: what its name says, and the rows in it."""
    rows = frozenset(map(archived_row, file.instants))
    return function({"name": file_name(file.name), "rows": rows})


def file_name(name: str) -> Function:
    """What the name of a file of the history says."""
    least, greatest, level = name.removesuffix(".parquet").split("_")
    return function({"level": int(level), "from": ticks(least), "upto": ticks(greatest)})


def archived_row(one: ArchivedInstant) -> Function:
    """An action in the history."""
    completed = ticks(one.completed) if one.completed else 0
    return function({"requested": ticks(one.requested), "completed": completed, "action": one.action.value})


def manifests(world: World) -> Value:
    """The manifests, and the files that each names."""
    found = world.shared.table.value.history.manifests
    return frozenset(function({"version": one.version, "files": frozenset(map(file_name, one.files))}) for one in found)


def version(world: World) -> Value:
    """The number in the version file, 0 where there is no such file."""
    return world.shared.table.value.history.current or 0


def work_of(world: World, process: Process) -> Value:
    """What an archiver that has begun has still to do."""
    ahead = process.local.value.todo if process.program == "archiver" else ()
    table = world.shared.table.value
    files = {
        one.name: one for one in (*table.history.files, *(one.file for one in ahead if isinstance(one, PutHistoryFile)))
    }
    added = [files[one.manifest.files[-1]] for one in ahead if isinstance(one, PutManifest)]
    deleted = [one.name for one in ahead if isinstance(one, DeleteHistoryFile)]
    gone = {one.name for one in ahead if isinstance(one, DeleteInstant)}
    return function(
        {
            "unmark": frozenset(ticks(one.instant) for one in ahead if isinstance(one, DeleteMarkers)),
            "entering": frozenset(archived_row(row) for one in added if not one.level for row in one.instants),
            "leaving": frozenset(instants_of(table.timeline, gone)),
            "merges": frozenset(one.level - 1 for one in added if one.level),
            "ending": frozenset(int(one.removeprefix(MANIFEST)) for one in deleted if one.startswith(MANIFEST)),
        }
    )


def instants_of(timeline: tuple[TimelineEntry, ...], names: set[str]) -> Iterator[int]:
    """The actions that files of the timeline belong to."""
    return (ticks(one.requested) for one in timeline if one.name in names)
