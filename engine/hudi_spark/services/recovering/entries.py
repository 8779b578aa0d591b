"""What a recovery puts into a timeline: one action that stands for all, a clean, and a completed action a write."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.timeline.commit_metadata import CommitMetadata
from hudi_format.timeline.plan_values import CompactionPlan
from hudi_format.timeline.plans import (
    ActionInstant,
    CleanerPlan,
    CleanMetadata,
    serialise_clean_metadata,
    serialise_cleaner_plan,
    serialise_compaction_plan,
)

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import timeline_path
from hudi_spark.evolution.schema import schema_of_avro
from hudi_spark.services.recovering.writes import RecoveredWrite
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Timeline
from hudi_spark.writing.contents import metadata_content, requested_content

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
        """Nobody asks for states before: which of their files are gone is not known.

        Clauses: RD-014, CN-009.
        """
        begun = next((one for one in self.timeline.instants if one.action == CLEAN), None)
        requested = begun.requested if begun else self.work.time(self.timeline, self.stands)
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
        if any(state in one.files for one in known):
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
