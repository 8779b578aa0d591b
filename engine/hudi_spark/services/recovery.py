"""Recovery: a table without its properties or its timeline, built again from its files.

properties lost          the timeline is read for what it says; the properties are put
timeline lost, or both   one action that stands for all that is there, and a clean that keeps earlier states from
                         being requested; then a completed action for each write; the properties, where they are lost

Clauses: SL-004, SL-005, RD-005, TL-018, TL-019, RD-003, CL-001.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.avro.schemas import record_schema
from hudi_format.names import LogFileName, TimelineFileName, TimelineState
from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import PROPERTIES_FILE, holds_table, repair_properties
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, CommitMetadata, WriteStat
from hudi_format.timeline.plan_values import CompactionOperation, CompactionPlan
from hudi_format.timeline.plans import (
    ActionInstant,
    CleanerPlan,
    CleanMetadata,
    serialise_clean_metadata,
    serialise_cleaner_plan,
    serialise_compaction_plan,
)

from hudi_spark.concurrency import next_instant, timeline_path
from hudi_spark.merge import RECORD_KEY
from hudi_spark.metadata import GroupReading, GroupTask, list_indexes, whole_groups
from hudi_spark.read import Executor, TaskIdentity
from hudi_spark.readings import RELEASED
from hudi_spark.schema import WriterState, schema_of_avro
from hudi_spark.services.recovered_files import (
    CLAUSE,
    Defined,
    FoundFile,
    FoundTable,
    Left,
    Recovered,
    RecoveryHints,
    Unknown,
    base_instants,
    bases_of,
    defined_table,
    found_table,
    is_named_after_slice,
    logs_of,
    metadata_properties,
    refused,
)
from hudi_spark.services.upgrade_timeline import instant_of
from hudi_spark.table_state import (
    ArchivedContent,
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    beside,
    commit_of,
    configuration_of,
    load_configuration,
    load_timeline,
    snapshot_at,
    timeline_zone,
)
from hudi_spark.write import TableWork, metadata_content, requested_content

__all__ = ["Recovered", "RecoveryHints", "recover"]

_COMPACT: Final = "COMPACT"
_CLAUSE: Final = "RD-005"


@dataclass(frozen=True, slots=True)
class RecoveredWrite:
    """A write; `action` is its completed name, `requested_as` what it was requested as.

    `completed` is None before version 8, and for one that did not complete.
    """

    requested: str
    action: str
    requested_as: str
    metadata: CommitMetadata = field(repr=False)
    completed: str | None = None
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class RecoveredWrites:
    """All writes by requested time; compactions that later logs of version 6 show to be pending; what is unknown."""

    writes: tuple[RecoveredWrite, ...]
    compactions: Mapping[str, CompactionPlan]
    unknown: tuple[Unknown, ...]


def recovered_writes(found: FoundTable, configuration: TableConfiguration, known: RecoveryHints) -> RecoveredWrites:
    """What the files say of the writes that they are of.

    Raises:
        HudiError: CONFIG_INVALID where only a guess would tell which slice a log belongs to.

    Clauses: SL-004, SL-005, RD-005.

    """
    stats = _stats(found, configuration)
    compacting = _compacting(found, configuration)
    times, unknown = _completion_times(found, configuration, known, sorted(stats))
    writes = []
    for requested in sorted(stats):
        pending = requested in known.uncommitted
        metadata = CommitMetadata(_COMPACT if requested in compacting else "UPSERT", False, tuple(stats[requested]))
        compacts = requested in compacting
        action = "commit" if compacts or configuration.table_type == "COPY_ON_WRITE" else "deltacommit"
        writes.append(
            RecoveredWrite(
                requested,
                action,
                "compaction" if compacts else action,
                replace(metadata, compacted=compacts),
                None if pending else times.get(requested),
                is_pending=pending,
            )
        )
    pending_plans = {} if configuration.has_completion_times else _pending_compactions(found)
    return RecoveredWrites(tuple(writes), pending_plans, unknown)


def _stats(found: FoundTable, configuration: TableConfiguration) -> dict[str, list[WriteStat]]:
    """What each write wrote; a log whose blocks are of several writes is a file of each."""
    stats: dict[str, list[WriteStat]] = {}
    for one in found.files:
        is_log = isinstance(one.name, LogFileName)
        named = not is_log or (configuration.has_completion_times and not one.instants)
        for requested in (one.name.instant,) if named else one.instants:
            stats.setdefault(requested, []).append(_stat(one))
    return stats


def _stat(one: FoundFile) -> WriteStat:
    stat = WriteStat(
        file_id=one.name.file_id,
        path=one.path,
        prev_commit=NO_PREVIOUS_COMMIT,
        num_writes=one.rows,
        num_inserts=one.rows,
        num_update_writes=0,
        num_deletes=0,
        total_write_bytes=one.size,
        total_write_errors=0,
        partition_path=one.partition,
        file_size_in_bytes=one.size,
    )
    if not isinstance(one.name, LogFileName):
        return stat
    logs = (str(one.name),)
    return replace(stat, prev_commit=one.name.instant, log_version=one.name.version, log_offset=0, log_files=logs)


def _compacting(found: FoundTable, configuration: TableConfiguration) -> frozenset[str]:
    """The writes of base files only, of which one at least comes upon logs: compactions."""
    if configuration.table_type == "COPY_ON_WRITE":
        return frozenset()
    of_bases = {one.name.instant for files in found.groups().values() for one in bases_of(files)}
    of_logs = {instant for files in found.groups().values() for one in logs_of(files) for instant in one.instants}
    upon = {
        base.name.instant
        for files in found.groups().values()
        for base in bases_of(files)
        if any(one.name.instant < base.name.instant for one in files)
    }
    return frozenset((of_bases & upon) - of_logs)


def _pending_compactions(found: FoundTable) -> dict[str, CompactionPlan]:
    """Before version 8 logs that come upon a base file under a later name are in a slice that a compaction opened.

    Clauses: CP-003, RD-005.
    """
    operations: dict[str, list[CompactionOperation]] = {}
    for (partition, file_id), files in found.groups().items():
        bases = base_instants(files)
        for instant in sorted({one.name.instant for one in logs_of(files)} - set(bases)):
            before = [base for base in bases if base < instant]
            if before and instant > bases[-1]:
                operations.setdefault(instant, []).append(_operation(partition, file_id, before[-1], files))
    return {instant: CompactionPlan(tuple(each), {}) for instant, each in operations.items()}


def _operation(partition: str, file_id: str, base: str, files: Iterable[FoundFile]) -> CompactionOperation:
    data = next(str(one.name) for one in bases_of(files) if one.name.instant == base)
    logs = tuple(str(one.name) for one in logs_of(files) if one.name.instant == base)
    return CompactionOperation(base, logs, data, file_id, partition, {})


def _completion_times(
    found: FoundTable, configuration: TableConfiguration, known: RecoveryHints, writes: Iterable[str]
) -> tuple[dict[str, str], tuple[Unknown, ...]]:
    """A completion time for each write from version 8 on: as given, else right after its request.

    A log belongs to the slice of the last base file before its write completed. That a base file came after the write
    began says nothing yet; that its rows are among those of the base file does.

    Raises:
        HudiError: CONFIG_INVALID naming the writes that may have completed after a compaction that began after them.

    Clauses: RD-005.

    """
    if not configuration.has_completion_times:
        return {}, ()
    late, doubtful = _overtaken(found, known)
    if doubtful and not known.guess:
        raise refused(
            f"it is not clear whether {', '.join(sorted(doubtful))} completed before the base file that came next",
            "give completion_times of these writes, or guess=True to believe the times of files",
            _CLAUSE,
        )
    times: dict[str, str] = {}
    taken: set[str] = set()
    for requested in writes:
        modified = instant_of(late[requested], configuration) if requested in late else ""
        time = known.completion_times.get(requested) or max(modified, next_instant(requested))
        while time in taken:
            time = next_instant(time)
        times[requested] = time
        taken.add(time)
    guessed = tuple(Unknown(_CLAUSE, "completed, by its files' times, after a compaction", one) for one in sorted(late))
    return times, guessed


def _overtaken(found: FoundTable, known: RecoveryHints) -> tuple[dict[str, int], frozenset[str]]:
    """The writes whose logs may belong to a later base file: with the times of those that were written after it."""
    late: dict[str, int] = {}
    doubtful: set[str] = set()
    merged = {(one, base.name.instant) for base in bases_of(found.files) for one in base.instants}
    for files in found.groups().values():
        for log in logs_of(files):
            after = next((one for one in bases_of(files) if one.name.instant > log.name.instant), None)
            requested = log.name.instant
            if after is None or is_named_after_slice(log, files) or requested in known.completion_times:
                continue
            if (requested, after.name.instant) in merged or requested in known.uncommitted:
                continue
            doubtful.add(requested)
            if log.modified_ms > after.modified_ms:
                late[requested] = max(late.get(requested, 0), log.modified_ms)
    return late, frozenset(doubtful)


MARK: Final = "hudi_spark.recovered"
CLEAN: Final = "clean"


@dataclass(frozen=True, slots=True)
class Entries:
    """Puts what is not there yet into the timeline; `stands`: the time of the action that stands for all."""

    work: TableWork
    configuration: TableConfiguration
    timeline: Timeline
    stands: str
    schema: Mapping[str, Any]

    def standing_action(self, replaced: Mapping[str, Any]) -> str:
        """What the action is called."""
        if replaced:
            return "replacecommit"
        return "commit" if self.configuration.table_type == "COPY_ON_WRITE" else "deltacommit"

    def put_standing(self, action: str, replaced: Mapping[str, tuple[str, ...]]) -> str | None:
        """From here on all files that are there count, but for the replaced groups.

        Clauses: TL-018, RD-003.
        """
        completed = self._completion(self.stands, action)
        extra = {**self._extra(), MARK: self.stands}
        metadata = CommitMetadata("UNKNOWN", replaced_file_ids=replaced, extra=extra)
        self._put_all(action, action, self.stands, completed, metadata)
        return completed

    def put_clean(self) -> None:
        """Nobody requests states before: which of their files are gone is not known.

        Clauses: RD-014, CN-009.
        """
        clean = next((one for one in self.timeline.instants if one.action == CLEAN), None)
        requested = clean.requested if clean else self.work.time(self.timeline, self.stands)
        earliest = ActionInstant(self.stands, "commit", "COMPLETED")
        plan = serialise_cleaner_plan(CleanerPlan(earliest, self.stands))
        done = CleanMetadata(requested, earliest_commit_to_retain=self.stands, last_completed_commit_timestamp="")
        self.put(CLEAN, requested, "REQUESTED", plan)
        self.put(CLEAN, requested, "INFLIGHT", b"" if self.configuration.has_completion_times else plan)
        completed = self._completion(requested, CLEAN)
        self.put(CLEAN, requested, "COMPLETED", serialise_clean_metadata(done), completed)

    def put_write(self, one: RecoveredWrite) -> None:
        """A write, completed unless its owner says that it was not."""
        metadata = replace(one.metadata, extra=self._extra())
        if one.is_pending:
            self.put(one.action, one.requested, "REQUESTED", requested_content(one.action))
            self.put(one.action, one.requested, "INFLIGHT", b"")
            return
        self._put_all(one.action, one.requested_as, one.requested, one.completed, metadata)

    def put(
        self, action: str, requested: str, state: TimelineState, content: bytes, completed: str | None = None
    ) -> None:
        """One file of the timeline, unless it is there."""
        known = (one for one in self.timeline.instants if one.requested == requested)
        if any(state in one.files for one in known if beside(one.action) == beside(action)):
            return
        name = TimelineFileName(requested, action, state, completed)
        if not self.work.storage.exists(timeline_path(self.configuration, name)):
            self.work.effects.create_instant(self.configuration, name, content)

    def _put_all(
        self, action: str, requested_as: str, requested: str, completed: str | None, metadata: CommitMetadata
    ) -> None:
        plan = (
            serialise_compaction_plan(CompactionPlan((), {})) if requested_as != action else requested_content(action)
        )
        self.put(requested_as, requested, "REQUESTED", plan)
        self.put(requested_as, requested, "INFLIGHT", b"")
        self.put(action, requested, "COMPLETED", metadata_content(self.configuration, action, metadata), completed)

    def _completion(self, requested: str, action: str) -> str | None:
        if not self.configuration.has_completion_times:
            return None
        known = (one for one in self.timeline.instants if one.requested == requested and one.action == action)
        return next((one.completed for one in known if one.completed), None) or self.work.time(self.timeline, requested)

    def _extra(self) -> dict[str, str]:
        return {"schema": schema_of_avro(self.schema).text}


_KEYS: Final = pa.schema([("partition", pa.string()), ("key", pa.string()), ("file_id", pa.string())])
_PAIRS: Final = pa.schema([("partition", pa.string()), ("first", pa.string()), ("second", pa.string())])


def doubled_groups(state: WriterState, executor: Executor) -> Sequence[tuple[str, str, str]]:
    """Pairs of file groups that hold the same key, each once: partition and both file ids."""
    tasks = GroupReading(state, (RECORD_KEY,)).tasks(whole_groups(state))
    if not tasks:
        return ()
    flow = executor.tasks(tasks, _keys, _KEYS).shuffled(["partition", "key"]).map(_pairs, _PAIRS)
    rows = flow.gathered().group_by(_PAIRS.names).aggregate([])
    columns = (rows.column(name).to_pylist() for name in _PAIRS.names)
    return tuple(sorted(zip(*columns, strict=True)))


def _keys(task: GroupTask, _: TaskIdentity) -> pa.Table:
    keys = pc.unique(task.rows_after().column(RECORD_KEY).combine_chunks())
    change = task.change
    return pa.table(
        [pa.repeat(change.partition, len(keys)), keys.cast(pa.string()), pa.repeat(change.file_id, len(keys))],
        schema=_KEYS,
    )


def _pairs(keys: pa.Table, _: TaskIdentity) -> pa.Table:
    """The least and the greatest file id of each key that has two."""
    found = keys.group_by(["partition", "key"]).aggregate([("file_id", "min"), ("file_id", "max")])
    two = found.filter(pc.not_equal(found.column("file_id_min"), found.column("file_id_max")))
    pairs = two.select(["partition", "file_id_min", "file_id_max"]).rename_columns(_PAIRS.names)
    return pairs.group_by(_PAIRS.names).aggregate([]).select(_PAIRS.names).cast(_PAIRS)


_HOLDER: Final = "recover"
_LAYOUTS: Final = {1: ".hoodie", 2: ".hoodie/timeline"}


def recover(work: TableWork, known: RecoveryHints) -> Recovered:
    """Build a table again that lost its properties, its timeline, or both.

    An attempt that stopped is gone on with.

    Raises:
        HudiError: CONFIG_INVALID where nothing is lost, and where a guess might be wrong; nothing is changed then.
        FormatError: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT.
        UnsupportedFeature: base files of another format than Parquet, a bootstrapped table.

    Clauses: SL-001, SL-002, RD-003, RD-005, RD-014, SR-011, TL-018.

    """
    with work.lock(_HOLDER):
        return _Recovery(work, known).run()


@dataclass(slots=True)
class _Recovery:
    work: TableWork
    known: RecoveryHints

    def run(self) -> Recovered:
        found = found_table(self._storage, self.work.executor)
        has_properties = holds_table(self._storage)
        if has_properties:
            repair_properties(self._storage)
            defined = Defined(load_configuration(self._storage).properties, ())
        else:
            defined = defined_table(self._storage, found, _left(self._storage), self.known)
        configuration = configuration_of(defined.properties)
        # The properties that state the time zone may not be there yet.
        self.work = replace(self.work, clock=self.work.clock.in_zone(lambda: timeline_zone(configuration)))
        timeline = load_timeline(self._storage, configuration)
        first_requested = _first_requested(self._storage, timeline)
        if timeline.completed_data() and not first_requested:
            return self._with_timeline(defined, has_properties=has_properties)
        self._refuse_gone_on(timeline, first_requested, has_properties=has_properties)
        return self._whole(found, configuration, timeline, defined, first_requested, has_properties=has_properties)

    @property
    def _storage(self) -> Storage:
        return self.work.storage

    def _with_timeline(self, defined: Defined, *, has_properties: bool) -> Recovered:
        """Only the properties are put.

        Clauses: SL-001.
        """
        if has_properties:
            raise _nothing_lost()
        self._put_properties(defined)
        return Recovered(None, None, None, 0, defined.unknown)

    def _refuse_gone_on(self, timeline: Timeline, first_requested: str, *, has_properties: bool) -> None:
        """A table that was recovered and has been written to since has lost nothing."""
        later = [
            one
            for one in timeline.instants
            if first_requested and one.requested > first_requested and one.action != CLEAN
        ]
        if has_properties and later:
            raise _nothing_lost()

    def _whole(
        self,
        found: FoundTable,
        configuration: TableConfiguration,
        timeline: Timeline,
        defined: Defined,
        first_requested: str,
        *,
        has_properties: bool,
    ) -> Recovered:
        self._refuse_marked(found)
        _refuse_attempts(found)
        if not found.files:
            raise refused("there is no data file in any partition", "create the table anew")
        recovered = recovered_writes(found, configuration, self.known)
        newest = max(one.requested for one in recovered.writes)
        stands = first_requested or _requested(timeline, newest) or self.work.time(timeline, newest)
        entries = Entries(self.work, configuration, timeline, stands, _stated_schema(found, configuration))
        action = entries.standing_action(self.known.replaced)
        unknown = (*defined.unknown, *recovered.unknown, *self._checked_groups(found, configuration, recovered))
        if has_properties:
            list_indexes(self.work.effects, ())
        completed = entries.put_standing(action, self.known.replaced)
        entries.put_clean()
        for one in reversed(recovered.writes):
            entries.put_write(one)
        for requested, plan in recovered.compactions.items():
            entries.put("compaction", requested, "REQUESTED", serialise_compaction_plan(plan))
        if not has_properties:
            self._put_properties(defined)
        return Recovered(stands, completed, action, len(recovered.writes), (*unknown, *_always_unknown(configuration)))

    def _refuse_marked(self, found: FoundTable) -> None:
        """Markers say that a write was under way, or had just completed: which of both its writer knew.

        Clauses: MK-003.
        """
        found_in_files = {*self.known.committed, *self.known.uncommitted}
        instants = {one.name.instant for one in found.files}
        marked = {path.rpartition("/")[2] for path in self._storage.list_folders(MARKERS_FOLDER)}
        open_ = sorted((marked & instants) - found_in_files)
        if open_ and not self.known.guess:
            message = f"writes left markers, and may not have completed: {', '.join(open_)}"
            raise refused(message, "tell each of them in committed or in uncommitted", "MK-003")

    def _checked_groups(
        self, found: FoundTable, configuration: TableConfiguration, recovered: RecoveredWrites
    ) -> tuple[Unknown, ...]:
        """No key is in two file groups of a partition; else one of them had been replaced.

        Clauses: RD-003.
        """
        if not all(one.has_keys for one in found.files):
            return (Unknown("RD-003", "whether file groups had been replaced: rows store no record keys"),)
        if not self.known.keep_duplicates:
            snapshot = self._snapshot(configuration, recovered)
            avro = _stated_schema(found, configuration)
            state = WriterState(self._storage, snapshot, self.work.options, schema_of_avro(avro))
            doubled = doubled_groups(state, self.work.executor)
            if doubled:
                named = "; ".join(f"{first} and {second} in {partition!r}" for partition, first, second in doubled[:3])
                message = f"file groups hold the same record keys, so that one of them had been replaced: {named}"
                hint = "tell which in replaced, or keep_duplicates=True where keys may repeat"
                raise refused(message, hint, "RD-003")
        return (Unknown("RD-003", "whether partitions or file groups had been deleted whose files are still there"),)

    def _snapshot(self, configuration: TableConfiguration, recovered: RecoveredWrites) -> Snapshot:
        """The table as it will be read, before anything is written."""
        instants = [_instant(one, configuration) for one in recovered.writes]
        newest = max(one.requested for one in recovered.writes)
        stands = CommitMetadata(replaced_file_ids=self.known.replaced)
        content = ArchivedContent(stands)
        instants.append(Instant(newest + "999", "replacecommit", "COMPLETED", None, {"COMPLETED": ""}, content))
        pending = [
            Instant(requested, "compaction", "REQUESTED", None, {"REQUESTED": ""}, ArchivedContent(None, plan))
            for requested, plan in recovered.compactions.items()
        ]
        timeline = Timeline(tuple(sorted((*instants, *pending), key=lambda one: one.requested)))
        return snapshot_at(self._storage, (configuration, timeline), RELEASED, None, "requested")

    def _put_properties(self, defined: Defined) -> None:
        self.work.effects.put_new_properties(PROPERTIES_FILE, serialise_properties(defined.properties))


def _instant(one: RecoveredWrite, configuration: TableConfiguration) -> Instant:
    """A write that is not on the timeline yet, as a reader would see it there."""
    if one.is_pending:
        return Instant(one.requested, one.action, "INFLIGHT", None, {"INFLIGHT": ""})
    completed = one.completed if configuration.has_completion_times else None
    content = ArchivedContent(one.metadata)
    return Instant(one.requested, one.action, "COMPLETED", completed, {"COMPLETED": ""}, content)


def _left(storage: Storage) -> Left:
    """What is left of `.hoodie`.

    Clauses: PR-007, TL-007.
    """
    for layout, folder in ((2, _LAYOUTS[2]), (1, _LAYOUTS[1])):
        names = [one.path.rpartition("/")[2] for one in storage.list_files(folder, recursive=False)]
        entries = [name for name in names if name[:1].isdigit()]
        if entries:
            deltacommits = any(".deltacommit" in name for name in entries)
            return Left(2 if layout == 2 else 1, deltacommits, metadata_properties(storage))
    return Left(None, has_deltacommits=False, metadata=metadata_properties(storage))


def _first_requested(storage: Storage, timeline: Timeline) -> str:
    """The time of the action by which an earlier recovery stands for all; empty where there was none."""
    for one in timeline.completed_data():
        found = commit_of(storage, one).metadata.extra.get(MARK)
        if found:
            return found
    return ""


def _requested(timeline: Timeline, newest: str) -> str:
    """The time that an attempt took for its action and died; empty where there was none."""
    return next((one.requested for one in timeline.instants if one.requested > newest and not one.is_completed), "")


def _stated_schema(found: FoundTable, configuration: TableConfiguration) -> Mapping[str, object]:
    """The schema of the newest file, else that of the table's creation."""
    stating = [one for one in found.files if one.schema]
    newest = max(stating, key=lambda one: (max((one.name.instant, *one.instants)), str(one.name)), default=None)
    text = newest.schema if newest is not None else configuration.create_schema or ""
    if not text:
        raise refused("no file states the table's schema", "give the schema", "DM-003")
    return record_schema(text, PROPERTIES_FILE if newest is None else newest.path)


def _always_unknown(configuration: TableConfiguration) -> Iterable[Unknown]:
    yield Unknown("MK-003", "which writes had not completed: the files of all count, except those of `uncommitted`")
    yield Unknown("RD-014", "earlier states and changes: they can be requested from now on only")
    yield Unknown("SR-011", "savepoints, the history, and plans of table services")
    if configuration.has_completion_times:
        yield Unknown("TM-003", "when writes completed: right after their request is taken, where files do not say")
    yield Unknown("DM-021", "columns that were renamed or dropped and have ids")


def _refuse_attempts(found: FoundTable) -> None:
    """Of two base files that one write has for a file group, one is of an attempt that failed.

    Clauses: SL-023, MK-003.
    """
    for (partition, file_id), files in found.groups().items():
        instants = base_instants(files)
        double = next((one for one in instants if instants.count(one) > 1), None)
        if double is not None:
            message = f"the write {double} left two base files of {file_id} in {partition!r}; one of them never counted"
            hint = "move the file of the attempt that failed out of the table, by what its rows tell"
            raise refused(message, hint, "MK-003")


def _nothing_lost() -> Exception:
    return refused("the table has its properties and its timeline", "open it: there is nothing to recover", CLAUSE)
