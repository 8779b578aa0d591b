"""Deltacommits of the metadata table: requested, inflight, completed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hudi_format.names import TimelineFileName
from hudi_format.timeline.commit_metadata import (
    NO_PREVIOUS_COMMIT,
    CommitMetadata,
    WriteStat,
    serialise_avro,
    serialise_json,
)

from hudi_spark.effects.helper import Effects
from hudi_spark.indexing.groups import Place
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.state.configuration import TableConfiguration

_ACTION = "deltacommit"
UPDATE = "UPSERT_PREPPED"


@dataclass(frozen=True, slots=True)
class Deltacommit:
    """One deltacommit of the metadata table; `effects` and `configuration` are that table's own.

    Clauses: MT-003, TL-002, TL-003.
    """

    effects: Effects
    configuration: TableConfiguration
    layout: MetadataLayout
    instant: str
    operation: str = UPDATE

    def begin(self, places: Mapping[str, Mapping[str, Place]] | None = None) -> None:
        """Requested, then inflight: with the groups that are to be changed, or empty where an index begins.

        Clauses: TL-002, TL-014.
        """
        self._put(TimelineFileName(self.instant, _ACTION, "REQUESTED"), b"")
        content = b"" if places is None else self._bytes(CommitMetadata(self.operation, write_stats=_expected(places)))
        self._put(TimelineFileName(self.instant, _ACTION, "INFLIGHT"), content)

    def complete(self, stats: Iterable[WriteStat], completed: str) -> None:
        """Completed, with the files that were written.

        Clauses: TL-003, TL-019, TL-020.
        """
        extra = {"schema": self.layout.record_schema}
        content = self._bytes(CommitMetadata(self.operation, write_stats=tuple(stats), extra=extra))
        time = completed if self.layout.has_completion_times else None
        self._put(TimelineFileName(self.instant, _ACTION, "COMPLETED", time), content)

    def _put(self, name: TimelineFileName, content: bytes) -> None:
        self.effects.create_instant(self.configuration, name, content)

    def _bytes(self, metadata: CommitMetadata) -> bytes:
        return serialise_avro(metadata) if self.layout.has_completion_times else serialise_json(metadata)


def _expected(places: Mapping[str, Mapping[str, Place]]) -> tuple[WriteStat, ...]:
    """What a rollback of the deltacommit looks for: the groups, with the slices that they are in."""
    none = WriteStat(file_id="", prev_commit=NO_PREVIOUS_COMMIT, num_inserts=0, num_update_writes=0)
    return tuple(
        replace(none, partition_path=partition, file_id=file_id, prev_commit=place.instant, num_update_writes=1)
        for partition, groups in places.items()
        for file_id, place in groups.items()
    )
