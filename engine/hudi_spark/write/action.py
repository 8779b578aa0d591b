"""One action on the timeline: who acts, on which state of the table, and what came of it.

Clauses: OW-002, VR-002.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from html import escape
from typing import Final

import pyarrow as pa
from hudi_format.names import TimelineFileName
from hudi_format.storage import Storage
from hudi_format.table.markers import HEARTBEATS_FOLDER, MARKERS_FOLDER, heartbeat_instant
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.concurrency import AHEAD_KEY, Clock, Effects, Failure, Holding, holding_of, table_lock
from hudi_spark.errors import HudiError, Reason, SkippedBytes, UnsupportedFeature
from hudi_spark.options import Options
from hudi_spark.read import Executor
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.schema import SCHEMA_FOLDER, WriterState, avro_of_arrow, schema_of_avro
from hudi_spark.table_state import (
    ENABLED_KEY,
    METADATA_FOLDER,
    Snapshot,
    TableConfiguration,
    Timeline,
    archived_log_folder,
    history_folder,
    lister,
    load_snapshot,
    load_table,
    refuse_no_folders,
)
from hudi_spark.write.schema_metadata import table_avro


@dataclass(frozen=True, slots=True)
class Outcome:
    """A completed action: its times (before version 8 there is no completion time), its action, what it wrote.

    `deleted`: files that it removed, by partition. `schema_changes`: what became of the table's columns, a text each.
    `missing_partitions`: those that were to be deleted and held nothing. Where there was nothing to do at all there is
    no action: both times and its name are empty. `failures`: what failed after it had completed; it stands.
    `repeated`: a write of its id stood already, and nothing was written now. `skipped`: stretches of logs that are no
    blocks, which a service read over: its files have nothing of what stood there.

    Clauses: OW-010.
    """

    requested: str
    completed: str | None
    action: str
    operation: str
    written: tuple[WriteStat, ...] = field(repr=False, default=())
    replaced: Mapping[str, tuple[str, ...]] = field(repr=False, default_factory=dict)
    deleted: Mapping[str, tuple[str, ...]] = field(repr=False, default_factory=dict)
    schema_changes: tuple[str, ...] = ()
    missing_partitions: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    repeated: bool = False
    skipped: tuple[SkippedBytes, ...] = ()

    def __str__(self) -> str:
        missing = [f"no partition {name!r}" for name in self.missing_partitions]
        if not self.requested:
            return f"{self.operation}: " + ", ".join(("nothing to do", *missing))
        return ": ".join((f"{self.operation} {self.requested} {self.action}", ", ".join((*self._parts(), *missing))))

    @property
    def _deletes_nothing(self) -> bool:
        return self.operation == "DELETE" and not self.written and not self.repeated

    def _repr_html_(self) -> str:
        """A small table for notebooks: what was done, when, and what became of rows, files and columns."""
        head = [("operation", self.operation), ("action", self.action or "none: nothing to do")]
        times = [("requested", self.requested), ("completed", self.completed or "")]
        missing = [f"no partition {name!r}" for name in self.missing_partitions]
        done = [("", part) for part in (*(self._parts() if self.requested else ()), *missing)]
        return html_table([row for row in (*head, *times, *done) if row[1]])

    def _parts(self) -> list[str]:
        partitions = {one.partition_path for one in self.written} | set(self.replaced) | set(self.deleted)
        rows = {name: _total(self.written, name) for name in ("num_inserts", "num_update_writes", "num_deletes")}
        gone = sum(len(ids) for ids in self.replaced.values())
        removed = sum(len(names) for names in self.deleted.values())
        return [
            f"{len(self.written)} files in {len(partitions)} partitions",
            f"{rows['num_inserts']} rows new, {rows['num_update_writes']} updated, {rows['num_deletes']} deleted",
            *([f"{gone} file groups replaced"] if gone else []),
            *([f"{removed} files removed"] if removed else []),
            f"{_total(self.written, 'total_write_bytes') / 1_000_000:.1f} MB",
            *(["no stored row matches"] if self._deletes_nothing else []),
            *self.schema_changes,
            *(["written before"] if self.repeated else []),
            *(str(one) for one in (*self.skipped, *self.failures)),
        ]


def html_table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Rows of text as an HTML table, escaped."""
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    names = "".join(f"<th>{escape(name)}</th>" for name in header)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in ([names] if names else []) + lines) + "</table>"


def _total(written: tuple[WriteStat, ...], name: str) -> int:
    return sum(getattr(one, name) or 0 for one in written)


_MERGE_MODE: Final = "hoodie.write.record.merge.mode"
_WRITTEN_VERSIONS: Final = (6, 8, 9)


def snapshot_to_write(storage: Storage, readings: Readings, options: Options) -> Snapshot:
    """The newest completed state of a table that can be written.

    Raises:
        HudiError: TABLE_VERSION_UNSUPPORTED for a version that is only read; CONFIG_INVALID for a file in the place of
            a folder that actions write to; the reasons of a refused table.
        UnsupportedFeature: base files of another format than Parquet.

    Clauses: OW-002, VR-002.

    """
    enabled = {ENABLED_KEY: options.text(ENABLED_KEY)}
    snapshot = load_snapshot(storage, readings, None, lister(enabled))
    version = snapshot.configuration.version
    if version not in _WRITTEN_VERSIONS:
        hint = "upgrade the table to version 6, 8 or 9 first"
        message = f"tables of version {version} are read, not written"
        raise HudiError(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", message, hint=hint)
    base_format = snapshot.configuration.properties.get("hoodie.table.base.file.format", "").strip().upper()
    if base_format not in ("", "PARQUET"):
        raise UnsupportedFeature(f"base-{base_format.lower()}-writing", "base files are written as Parquet only")
    _refuse_misplaced(storage, snapshot.configuration, options)
    return _overridden(snapshot, options, readings)


def _refuse_misplaced(storage: Storage, configuration: TableConfiguration, options: Options) -> None:
    """Nothing where the folders of `.hoodie` that actions write to can hold files, and no heartbeat is a folder.

    Clauses: MK-005, SL-022.
    """
    metadata = [METADATA_FOLDER] if options.flag(ENABLED_KEY) else []
    refuse_no_folders(storage, [*folders_of_actions(configuration), *metadata])
    for path in misplaced_heartbeats(storage):
        message, hint = "a folder is in the place of a write's heartbeat", "remove the folder"
        raise HudiError(Reason.CONFIG_INVALID, "MK-005", message, path, hint=hint)


def folders_of_actions(configuration: TableConfiguration) -> tuple[str, ...]:
    """The folders of `.hoodie` that actions write to, beside the timeline and the metadata table.

    Clauses: SL-022.
    """
    archive = history_folder if configuration.timeline_layout == 2 else archived_log_folder
    return MARKERS_FOLDER, HEARTBEATS_FOLDER, SCHEMA_FOLDER, archive(configuration)


def misplaced_heartbeats(storage: Storage) -> list[str]:
    """What is in the place of heartbeats and is no file.

    Clauses: MK-005.
    """
    found = storage.list_no_files(HEARTBEATS_FOLDER)
    return [path for path in found if heartbeat_instant(path.rpartition("/")[2])]


def _overridden(snapshot: Snapshot, options: Options, readings: Readings) -> Snapshot:
    """The table as a write merges by it that requests a mode of its own, where that is allowed.

    Clauses: MG-010.
    """
    if readings.override == "released" or not options.given(_MERGE_MODE):
        return snapshot
    configuration = snapshot.configuration
    properties = {**configuration.properties, "hoodie.record.merge.mode": options.text(_MERGE_MODE)}
    return replace(snapshot, configuration=replace(configuration, properties=properties))


def state_of_table(storage: Storage, snapshot: Snapshot, options: Options) -> WriterState:
    """What an action knows of its table that brings no columns: the schema is the table's own.

    Clauses: DM-003.
    """
    stated = table_avro(snapshot) or avro_of_arrow(pa.schema([]), snapshot.configuration.name)
    return WriterState(storage, snapshot, options, schema_of_avro(stated))


_INSTANT_DIGITS = 17


def new_file_id() -> str:
    """The id of a new file group.

    Clauses: SL-023.
    """
    return f"{uuid.uuid4()}-0"


@dataclass(frozen=True, slots=True)
class TableWork:
    """Work on one table: its storage through `effects`, who runs tasks, the options, and where instants come from.

    Clauses: OW-030.
    """

    effects: Effects
    executor: Executor
    options: Options
    clock: Clock
    readings: Readings = RELEASED
    file_ids: Callable[[], str] = new_file_id

    @property
    def storage(self) -> Storage:
        """Where the table lies."""
        return self.effects.storage

    def snapshot(self) -> Snapshot:
        """The newest completed state, read anew.

        Raises:
            HudiError: the reasons of a refused table; TABLE_VERSION_UNSUPPORTED.

        Clauses: OW-002.

        """
        return snapshot_to_write(self.storage, self.readings, self.options)

    def timeline(self) -> Timeline:
        """The timeline, read anew; no content of it.

        Raises:
            HudiError: the reasons of a refused table.

        Clauses: TL-004.

        """
        return load_table(self.storage)[1]

    def lock(self, holder: str) -> AbstractContextManager[Holding]:
        """Holds the table's lock.

        Raises:
            HudiError: LOCK_UNAVAILABLE.

        Clauses: LK-001, LK-003, LK-004.

        """
        return table_lock(self.effects, self.options, holder)

    def time(self, timeline: Timeline, after: str = "") -> str:
        """An instant after all that the timeline has, and after `after`; requested under the lock.

        Raises:
            HudiError: CONFIG_INVALID when this computer's clock is far behind what others, or it, have shown, or the
                timeline is further ahead of it than the options allow.

        Clauses: TM-003, TM-004, TM-005, TM-007, TM-008.

        """
        known = (time for one in timeline.instants for time in (one.requested, one.completed or ""))
        newest = max((*(one[:_INSTANT_DIGITS] for one in known), after))
        holding = holding_of(self.storage.base)
        if holding is not None and holding.is_shared and not self.options.given(AHEAD_KEY):
            self.clock.wait_past(newest)
        else:
            self.clock.refuse_far_ahead(newest, self.options.number(AHEAD_KEY) / 1000)
        time = self.clock.instant(newest)
        if holding is not None:
            holding.showed_time()
        with self.effects.record("generate_time", time=time):
            return time

    def request(
        self,
        configuration: TableConfiguration,
        timeline: Timeline,
        action: str,
        plan: bytes,
        announced: Callable[[str], None] | None = None,
    ) -> str:
        """An action is requested with its plan; the time that it is known by. Services do so under the lock.

        `announced` is called with the time before its file is there.

        Clauses: TL-002, TL-003, TM-007, LK-004.
        """
        requested = self.time(timeline)
        if announced is not None:
            announced(requested)
        self.effects.create_instant(configuration, TimelineFileName(requested, action, "REQUESTED"), plan)
        return requested
