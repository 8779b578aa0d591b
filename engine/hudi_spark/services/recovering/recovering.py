"""A lost table built again: nothing of it is deleted, and it is a table again once its properties are there.

properties lost          the timeline is read for what it says; the properties are put
timeline lost, or both   one action that stands for all that is there, and a clean that keeps earlier states from
                         being asked for; then a completed action for each write; the properties, where they are lost
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_format.avro.schemas import record_schema
from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import PROPERTIES_FILE, holds_table, repair_properties
from hudi_format.timeline.commit_metadata import CommitMetadata
from hudi_format.timeline.plans import serialise_compaction_plan

from hudi_spark.committing.work import TableWork
from hudi_spark.evolution.schema import schema_of_avro
from hudi_spark.indexing.table_state import list_indexes
from hudi_spark.readings import RELEASED
from hudi_spark.services.recovering.asked import CLAUSE, KnownOfTable, Recovered, Unknown, refused
from hudi_spark.services.recovering.definition import Defined, Left, defined_table, metadata_properties
from hudi_spark.services.recovering.duplicates import doubled_groups
from hudi_spark.services.recovering.entries import CLEAN, MARK, Entries
from hudi_spark.services.recovering.found_files import FoundTable, found_table
from hudi_spark.services.recovering.log_names import base_instants
from hudi_spark.services.recovering.writes import RecoveredWrite, RecoveredWrites, recovered_writes
from hudi_spark.state.commits import commit_of
from hudi_spark.state.configuration import TableConfiguration, configuration_of, load_configuration
from hudi_spark.state.snapshots import Snapshot, snapshot_at
from hudi_spark.state.timeline import ArchivedContent, Instant, Timeline, load_timeline
from hudi_spark.writer_state import WriterState

_HOLDER: Final = "recover"
_LAYOUTS: Final = {1: ".hoodie", 2: ".hoodie/timeline"}


def recover(work: TableWork, known: KnownOfTable) -> Recovered:
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
    known: KnownOfTable

    def run(self) -> Recovered:
        found = found_table(self._storage, self.work.executor)
        has_properties = holds_table(self._storage)
        if has_properties:
            repair_properties(self._storage)
            defined = Defined(load_configuration(self._storage).properties, ())
        else:
            defined = defined_table(self._storage, found, _left(self._storage), self.known)
        configuration = configuration_of(defined.properties)
        timeline = load_timeline(self._storage, configuration)
        begun = _begun(self._storage, timeline)
        if timeline.completed_data() and not begun:
            return self._with_timeline(defined, has_properties=has_properties)
        self._refuse_gone_on(timeline, begun, has_properties=has_properties)
        return self._whole(found, configuration, timeline, defined, begun, has_properties=has_properties)

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

    def _refuse_gone_on(self, timeline: Timeline, begun: str, *, has_properties: bool) -> None:
        """A table that was recovered and has been written to since has lost nothing."""
        later = [one for one in timeline.instants if begun and one.requested > begun and one.action != CLEAN]
        if has_properties and later:
            raise _nothing_lost()

    def _whole(
        self,
        found: FoundTable,
        configuration: TableConfiguration,
        timeline: Timeline,
        defined: Defined,
        begun: str,
        *,
        has_properties: bool,
    ) -> Recovered:
        self._refuse_marked(found)
        _refuse_attempts(found)
        if not found.files:
            raise refused("there is no data file in any partition", "create the table anew")
        recovered = recovered_writes(found, configuration, self.known)
        newest = max(one.requested for one in recovered.writes)
        stands = begun or _requested(timeline, newest) or self.work.time(timeline, newest)
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
        told = {*self.known.committed, *self.known.uncommitted}
        instants = {one.name.instant for one in found.files}
        marked = {path.rpartition("/")[2] for path in self._storage.list_folders(MARKERS_FOLDER)}
        open_ = sorted((marked & instants) - told)
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


def _begun(storage: Storage, timeline: Timeline) -> str:
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
    yield Unknown("MK-003", "which writes had not completed: the files of all count, but for those told uncommitted")
    yield Unknown("RD-014", "earlier states and changes: they can be asked for from now on only")
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
