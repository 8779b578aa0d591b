"""A table becomes one of another version, under its lock and step by step; what stopped is done again.

settled          failed writes rolled back, plans carried out, logs compacted
between layouts  all timeline files in the new folder -> the history -> properties -> the old files go
8 and 9          indexes that the other does not know go -> properties
"""

import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.names import TimelineFileName
from hudi_format.storage import LocalStorage
from hudi_format.table.table_properties import BACKUP_FILE, repair_properties

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError
from hudi_spark.indexing.table_state import update_properties
from hudi_spark.services.upgrading.archives import archived_states, history_rows, put_archived_log, put_history
from hudi_spark.services.upgrading.completion_times import modified_ms_of
from hudi_spark.services.upgrading.indexes import drop_indexes, lower_indexes, raise_indexes
from hudi_spark.services.upgrading.property_changes import applied, step_changes
from hudi_spark.services.upgrading.savepoints import refuse_saved_logs
from hudi_spark.services.upgrading.settling import refuse_unsettled, settle
from hudi_spark.services.upgrading.timeline_files import (
    MovedFile,
    doubled_schemas,
    moved_schemas,
    moved_timeline,
    new_path,
    timeline_names,
)
from hudi_spark.state.configuration import TableConfiguration, load_configuration

VERSIONS: Final = (6, 8, 9)
_HOLDER: Final = "version"
_ATTEMPTS: Final = 3


def change_version(work: TableWork, version: int, *, upgrade: bool) -> bool:
    """The table has the version from now on; False where it had it, and only leftovers of an earlier attempt went.

    Raises:
        HudiError: CONFIG_INVALID for a version that is no upgrade or downgrade of the table's, and for what the lower
            version cannot say, before any change; WRITE_CONFLICT while another writer is at work; LOCK_UNAVAILABLE.

    Clauses: VR-004, VR-005, VR-006, VR-009, VR-010, VR-011.

    """
    way = _checked_way(work, version, upgrade=upgrade)
    for step in way:
        _settled_step(work, step)
    with work.lock(_HOLDER):
        _remove_leftovers(work.effects)
    return bool(way)


def _checked_way(work: TableWork, version: int, *, upgrade: bool) -> tuple[tuple[int, int], ...]:
    """The steps from the table's version to another; each is known to be possible.

    Clauses: VR-004, VR-009.
    """
    with work.lock(_HOLDER):
        if work.storage.exists(BACKUP_FILE):
            repair_properties(work.storage)
        configuration = load_configuration(work.storage)
        way = way_between(configuration.version, version, upgrade=upgrade)
        properties: Mapping[str, str] = configuration.properties
        for old, new in way:
            properties = applied(properties, step_changes(properties, old, new))
        snapshot = work.snapshot()
        if (8, 6) in way:
            refuse_saved_logs(work.storage, snapshot.timeline)
    return way


def way_between(old: int, new: int, *, upgrade: bool) -> tuple[tuple[int, int], ...]:
    """The steps from one version to another; none where they are the same.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: VR-004, VR-021.

    """
    if new not in VERSIONS:
        hint = f"choose one of {', '.join(map(str, VERSIONS))}"
        raise HudiError(Reason.CONFIG_INVALID, "VR-004", f"table version {new} is not written", hint=hint)
    if old not in VERSIONS:
        hint = "let Apache Hudi 0.15 write to it once, which brings it to version 6"
        raise HudiError(Reason.CONFIG_INVALID, "VR-004", f"a table of version {old} is not upgraded here", hint=hint)
    if old != new and (new > old) != upgrade:
        asked, other = ("an upgrade", "downgrade") if upgrade else ("a downgrade", "upgrade")
        message = f"from version {old} to {new} is not {asked}"
        raise HudiError(Reason.CONFIG_INVALID, "VR-004", message, hint=f"ask for the {other}")
    passed = [one for one in sorted(VERSIONS, reverse=new < old) if min(old, new) <= one <= max(old, new)]
    return tuple(itertools.pairwise(passed))


def _settled_step(work: TableWork, step: tuple[int, int]) -> None:
    """One step, on a table that nobody else is at work on.

    Clauses: VR-005.
    """
    for attempt in range(_ATTEMPTS):
        settle(work)
        with work.lock(_HOLDER):
            try:
                refuse_unsettled(work)
            except HudiError:
                if attempt + 1 == _ATTEMPTS:
                    raise
                continue
            _remove_leftovers(work.effects)
            _step(work.effects, *step)
            return


def _step(effects: Effects, old: int, new: int) -> None:
    configuration = load_configuration(effects.storage)
    changes = step_changes(configuration.properties, old, new)
    if {old, new} == {6, 8}:
        _between_layouts(effects, configuration, changes)
        return
    (raise_indexes if new > old else lower_indexes)(effects)
    update_properties(effects, changes)


def _between_layouts(effects: Effects, old: TableConfiguration, changes: Mapping[str, str | None]) -> None:
    """Until the properties are put the table is the old one, by the old files; from then on the new one.

    Clauses: VR-006, VR-010, VR-011.
    """
    new = _other_layout(old, changes)
    moved = moved_timeline(effects.storage, old, new)
    schemas = moved_schemas(effects.storage, old, new, moved)
    archive = _Archive(effects, old, new)
    archive.check()
    drop_indexes(effects)
    _put_timeline(effects, new, moved)
    for one in schemas:
        effects.put_index_file(one.new, one.content)
    archive.put()
    update_properties(effects, changes)
    _remove_leftovers(effects)


@dataclass(slots=True)
class _Archive:
    """What is archived, in the form of the other layout: read whole before anything changes."""

    effects: Effects
    old: TableConfiguration
    new: TableConfiguration

    def check(self) -> None:
        (history_rows if self.new.timeline_layout == 2 else archived_states)(self.effects.storage, self.old)

    def put(self) -> None:
        """Clauses: VR-010."""
        if self.new.timeline_layout == 2:
            put_history(self.effects, self.new, history_rows(self.effects.storage, self.old))
        else:
            put_archived_log(self.effects, archived_states(self.effects.storage, self.old))


def _other_layout(old: TableConfiguration, changes: Mapping[str, str | None]) -> TableConfiguration:
    newer = old.timeline_layout == 1
    return replace(
        old,
        version=int(changes["hoodie.table.version"] or 0),
        timeline_layout=2 if newer else 1,
        timeline_folder=".hoodie/timeline" if newer else ".hoodie",
        properties=applied(old.properties, changes),
    )


def _put_timeline(effects: Effects, new: TableConfiguration, moved: Iterable[MovedFile]) -> None:
    """All files in the new folder; what an earlier attempt put there and is no more, or other now, goes.

    Clauses: VR-006.
    """
    wanted = {new_path(new, one): one for one in moved}
    there = {status.path: name for status, name in timeline_names(effects.storage, new)}
    for path, name in there.items():
        if path not in wanted or effects.storage.read(path) != wanted[path].content:
            effects.delete_instant(new, name)
    for path, one in wanted.items():
        if not effects.storage.exists(path):
            effects.create_instant(new, one.name, one.content)
        _date(effects, new, path, one)


def _date(effects: Effects, new: TableConfiguration, path: str, moved: MovedFile) -> None:
    """Before version 8 a completed file's own time tells when its action completed; object stores do not let us set it.

    Clauses: VR-006.
    """
    if new.timeline_layout == 1 and moved.completed and isinstance(effects.storage, LocalStorage):
        nanoseconds = modified_ms_of(moved.completed, new) * 1_000_000
        os.utime(effects.storage.resolve(path), ns=(nanoseconds, nanoseconds))


def _remove_leftovers(effects: Effects) -> None:
    """The timeline of the other layout goes: the old one of a change that is done, or a new one of none that was.

    Clauses: VR-004, VR-006.
    """
    configuration = load_configuration(effects.storage)
    other = _other_layout(configuration, {"hoodie.table.version": "6" if configuration.has_completion_times else "8"})
    for name in sorted((name for _, name in timeline_names(effects.storage, other)), key=_completed_last):
        effects.delete_instant(other, name)
    for path in doubled_schemas(effects.storage, configuration):
        effects.delete_properties(path)


def _completed_last(name: TimelineFileName) -> tuple[bool, str]:
    return name.state == "COMPLETED", name.requested
