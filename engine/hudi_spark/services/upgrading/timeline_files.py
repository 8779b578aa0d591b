"""The files of a timeline as the other layout has them: named anew, and commits in their other form.

layout 1    .hoodie/T.<action>                      commits as JSON
layout 2    .hoodie/timeline/T_C.<action>           commits as Avro, a request of a clustering is `clustering`
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from hudi_format.names import (
    SCHEMA_COMMIT,
    TimelineFileName,
    parse_schema_commit_name,
    parse_timeline_file_name,
    timeline_file_name,
)
from hudi_format.storage import Storage
from hudi_format.storage.interface import FileStatus
from hudi_format.timeline.commit_metadata import content_kind, parse_commit_metadata, serialise_avro, serialise_json
from hudi_format.timeline.plans import parse_requested_replace

from hudi_spark.effects.helper import timeline_path
from hudi_spark.schemas.history import SCHEMA_FOLDER
from hudi_spark.services.upgrading.completion_times import CompletedFile, completion_times
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import DATA_ACTIONS

_CLUSTERING: Final = "clustering"
_REPLACE: Final = "replacecommit"


@dataclass(frozen=True, slots=True)
class MovedFile:
    """One file of the timeline in its other form.

    `old`: where it is now. `completed`: when its action completed, also where the name does not say it.
    """

    old: str
    old_name: TimelineFileName
    name: TimelineFileName
    content: bytes = field(repr=False)
    completed: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """One file of the schemas' history under its other name."""

    old: str
    new: str
    content: bytes = field(repr=False)


def moved_timeline(storage: Storage, old: TableConfiguration, new: TableConfiguration) -> tuple[MovedFile, ...]:
    """Every file of the active timeline as the new layout has it; completed files last, in their order.

    Raises:
        FormatError: INSTANT_MALFORMED, TIMELINE_FILE_CORRUPT for files that cannot be put in another form.

    Clauses: VR-006, TL-007, TL-014, TL-019, TL-020.

    """
    named = tuple(timeline_names(storage, old))
    known = _Known(new, _times(storage, old, named), _clusterings(storage, old, named))
    moved = (_moved(known, storage.read(status.path), status.path, name) for status, name in named)
    return tuple(sorted(moved, key=lambda one: (one.name.state == "COMPLETED", one.name.requested)))


def timeline_names(
    storage: Storage, configuration: TableConfiguration
) -> Iterable[tuple[FileStatus, TimelineFileName]]:
    """The files of a layout's timeline folder, with the parts of their names.

    Clauses: TL-007.
    """
    for status in storage.list_files(configuration.timeline_folder, recursive=False):
        name = status.path.rpartition("/")[2]
        parsed = parse_timeline_file_name(name, configuration.timeline_layout, status.path)
        if parsed is not None:
            yield status, parsed


def moved_schemas(
    storage: Storage, old: TableConfiguration, new: TableConfiguration, moved: Iterable[MovedFile]
) -> tuple[SchemaFile, ...]:
    """The files of the schemas' history under the new layout's names; each has its commit's completion time.

    Clauses: DM-020, VR-006.
    """
    times = {one.name.requested: one.completed for one in moved if one.name.action in DATA_ACTIONS and one.completed}
    found = []
    for status in storage.list_files(SCHEMA_FOLDER, recursive=False):
        folder, _, name = status.path.rpartition("/")
        parsed = _schema_name(name, old, status.path)
        if parsed is not None:
            completed = times.get(parsed.requested, parsed.completed or parsed.requested)
            renamed = replace(parsed, completed=completed if parsed.state == "COMPLETED" else None)
            new_name = timeline_file_name(renamed, new.timeline_layout)
            if new_name != name:
                found.append(SchemaFile(status.path, f"{folder}/{new_name}", storage.read(status.path)))
    return tuple(found)


def doubled_schemas(storage: Storage, configuration: TableConfiguration) -> tuple[str, ...]:
    """Completed files of the schemas' history that stand under the other layout's name, and under this one's as well.

    Clauses: DM-020, VR-006.
    """
    paths = [status.path for status in storage.list_files(SCHEMA_FOLDER, recursive=False)]
    done = [path for path in paths if path.endswith(f".{SCHEMA_COMMIT}")]
    own = {path for path in done if ("_" in path.rpartition("/")[2]) == (configuration.timeline_layout == 2)}
    kept = {_instant(path) for path in own}
    return tuple(path for path in done if path not in own and _instant(path) in kept)


def _instant(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].partition("_")[0]


def _schema_name(name: str, old: TableConfiguration, path: str) -> TimelineFileName | None:
    """The parts of a name; None for a file of the other layout, which an earlier attempt left."""
    stem = name.partition(".")[0]
    if name.endswith(f".{SCHEMA_COMMIT}") and ("_" in stem) != (old.timeline_layout == 2):
        return None
    return parse_schema_commit_name(name, old.timeline_layout, path)


def new_path(new: TableConfiguration, moved: MovedFile) -> str:
    """Where a file comes to lie."""
    return timeline_path(new, moved.name)


@dataclass(frozen=True, slots=True)
class _Known:
    """The new layout; when each completed action completed; which actions were requested as clusterings."""

    new: TableConfiguration
    times: Mapping[tuple[str, bool], str]
    clusterings: frozenset[str]


def _moved(known: _Known, data: bytes, path: str, name: TimelineFileName) -> MovedFile:
    action, new = name.action, known.new
    if name.state != "COMPLETED" and name.requested in known.clusterings:
        action = _CLUSTERING if new.has_completion_times else _REPLACE
    is_savepoint = name.action == "savepoint"
    completed = known.times.get((name.requested, is_savepoint)) if name.state == "COMPLETED" else None
    named = replace(name, action=action, completed=completed if new.timeline_layout == 2 else None)
    return MovedFile(path, name, named, _content(data, name, new, path), completed)


def _content(data: bytes, name: TimelineFileName, new: TableConfiguration, path: str) -> bytes:
    """The content in the form of the new layout: what commits hold changes, plans and results do not.

    Clauses: TL-014, TL-019, TL-020.
    """
    wanted = "avro" if new.timeline_layout == 2 else "json"
    # Releases that changed a version also put metadata into the requested files of commits.
    holds_commit = name.action in DATA_ACTIONS and (name.action, name.state) != (_REPLACE, "REQUESTED")
    if not holds_commit or not data or content_kind(data, path) == wanted:
        return data
    metadata = parse_commit_metadata(data, path)
    if wanted == "json":
        return serialise_json(metadata)
    return serialise_avro(metadata, replace=name.action == _REPLACE and name.state == "COMPLETED")


def _times(
    storage: Storage, old: TableConfiguration, named: Iterable[tuple[FileStatus, TimelineFileName]]
) -> Mapping[tuple[str, bool], str]:
    """When each completed action completed: by its file's name or, before version 8, by when it was written."""
    done = [(status, name) for status, name in named if name.state == "COMPLETED"]
    if old.timeline_layout == 2:
        return {(name.requested, name.action == "savepoint"): name.completed or "" for _, name in done}
    files = (CompletedFile(name.requested, name.action == "savepoint", status.modified_ms) for status, name in done)
    return completion_times(storage, old, files)


def _clusterings(
    storage: Storage, old: TableConfiguration, named: Iterable[tuple[FileStatus, TimelineFileName]]
) -> frozenset[str]:
    """The actions that were requested as clusterings; before version 8 only their plans tell.

    Clauses: TL-006, VR-006.
    """
    requests = [(status.path, name) for status, name in named if name.state == "REQUESTED"]
    if old.timeline_layout == 2:
        return frozenset(name.requested for _, name in requests if name.action == _CLUSTERING)
    plans = ((name.requested, path, storage.read(path)) for path, name in requests if name.action == _REPLACE)
    return frozenset(
        requested for requested, path, data in plans if data and parse_requested_replace(data, path).clustering_plan
    )
