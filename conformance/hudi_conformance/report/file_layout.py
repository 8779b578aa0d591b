"""A table's files as they are drawn: file groups with their slices, and which of them a question reads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_model.files import BaseFile, FileGroup, FileSlice, LogFile
from hudi_model.incremental import open_range, view_at_end, writes_within
from hudi_model.queries import optimized_slices, view_as_of
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.slicing import data_files, file_groups, group_of, path_of, snapshot_slices
from hudi_model.tables import RELEASED, Table, View, open_table, replaced_groups, view_at
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata

BASE, LOG, CHANGES = "base", "log", "changes"


@dataclass(frozen=True, slots=True)
class DrawnFile:
    """A base file, a log file, or a file of the change feed."""

    path: str
    name: str
    kind: str
    instant: str


@dataclass(frozen=True, slots=True)
class DrawnSlice:
    """A slice: its base file, if it has one, then its logs in merge order."""

    base_instant: str
    files: tuple[DrawnFile, ...]


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """A file group; `loose` are files that no slice holds: uncommitted, left by attempts, or of the change feed."""

    partition: str
    file_id: str
    slices: tuple[DrawnSlice, ...]
    loose: tuple[DrawnFile, ...] = ()
    replaced: bool = False


def layout_of(table: Table) -> tuple[DrawnGroup, ...]:
    """The file groups of a table as it is now, by partition.

    Raises:
        Rejection: the table breaks a rule.
        Unsupported: the model does not hold a feature of it.

    """
    view = view_at(open_table(table), None, RELEASED)
    groups, replaced = {group_of(one): one for one in file_groups(view)}, replaced_groups(view)
    held = {path_of(file) for group in groups.values() for one in group.slices for file in _files(one)}
    loose = [file for file in data_files(table) if path_of(file) not in held]
    return tuple(
        DrawnGroup(
            partition=name[0],
            file_id=name[1],
            slices=_slices(groups.get(name)),
            loose=tuple(_drawn(file) for file in loose if group_of(file) == name),
            replaced=name in replaced,
        )
        for name in sorted({*groups, *map(group_of, loose)})
    )


def files_read(table: Table, op: str, params: Mapping[str, Any]) -> frozenset[str]:
    """The paths of the files that the answer to a question comes from; none where it is refused or reads none.

    For a range these are the files that its writes brought.
    """
    try:
        return frozenset(map(path_of, _read(table, op, params)))
    except (Rejection, Unsupported):
        return frozenset()


def _read(table: Table, op: str, params: Mapping[str, Any]) -> Iterable[BaseFile | LogFile]:
    as_of = params.get("instant", params.get("as_of"))
    instant = None if as_of is None else InstantTime(str(as_of))
    match op:
        case "read_snapshot" | "read_as_of" | "read_unmerged" | "list_file_slices":
            return _all_files(snapshot_slices(view_as_of(open_table(table), instant, RELEASED)))
        case "read_optimized":
            return _all_files(optimized_slices(view_as_of(open_table(table), instant, RELEASED)))
        case "read_incremental" | "read_changes":
            return _brought(table, params)
        case _:
            return ()


def _brought(table: Table, params: Mapping[str, Any]) -> Iterable[BaseFile | LogFile]:
    end = params.get("end")
    opened, time_range = open_range(table, str(params.get("begin")), None if end is None else str(end))
    view: View = view_at_end(opened, time_range.end, RELEASED)
    stats = (stat for one in writes_within(view, time_range) for stat in commit_metadata(one).write_stats)
    named = {path for stat in stats for path in (stat.path, *stat.change_logs) if path}
    return [file for file in data_files(table) if path_of(file) in named]


def _all_files(slices: Iterable[FileSlice]) -> Iterable[BaseFile | LogFile]:
    return [file for one in slices for file in _files(one)]


def _files(found: FileSlice) -> tuple[BaseFile | LogFile, ...]:
    return (*((found.base_file,) if found.base_file else ()), *found.log_files)


def _slices(group: FileGroup | None) -> tuple[DrawnSlice, ...]:
    found = group.slices if group else ()
    return tuple(DrawnSlice(one.base_instant, tuple(map(_drawn, _files(one)))) for one in found)


def _drawn(file: BaseFile | LogFile) -> DrawnFile:
    kind = BASE if isinstance(file, BaseFile) else CHANGES if file.cdc else LOG
    return DrawnFile(path_of(file), file.name, kind, file.instant)
