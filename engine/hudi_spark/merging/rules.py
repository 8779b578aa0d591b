"""What decides between two versions of a record, as one value that travels with each task."""

from dataclasses import dataclass
from typing import Any, Literal

from hudi_spark.merging.mergers import CarriedMerger

MergeMode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"]
Unset = Literal["defaults", "nulls", "unavailable"]
OrderingForm = Literal["values", "log_places"]


@dataclass(frozen=True, slots=True)
class Completion:
    """When the winner of two versions takes columns of the loser, beyond those that a partial update leaves out.

    `unset` says what a column holds that takes the loser's value: the column's default, null, or the text
    `unavailable`. `defaults` has the columns whose default is not null.
    `newer_only`: a newer winner is completed from the older version, never the other way round.
    `newest_meta`: the meta fields are those of the newer version, whichever won.

    Clauses: MG-023, MG-024, PL-003, PL-004, PL-007.
    """

    unset: Unset
    unavailable: str | None = None
    defaults: tuple[tuple[str, Any], ...] = ()
    newer_only: bool = False
    newest_meta: bool = False


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How versions of a record compete.

    `delete_field` and `delete_marker` name a column and the value with which a data record is a delete.
    `deletes_reach_base`: a version without ordering value hides the base row from the versions after it.
    `ordering_form`: ordering fields hold values, or the one field holds places `file.position` in a binary log.
    `plain_deletes`: tombstones beat what precedes them whatever ordering value they carry; records that mark
    themselves deleted, by the flag or by the delete marker, do where `plain_marks` says so.

    Clauses: MG-001, MG-008, MG-012, MG-013, PL-006, PL-007, PL-008, PL-009, RM-001.
    """

    mode: MergeMode
    ordering: tuple[str, ...]
    delete_field: str | None = None
    delete_marker: str | None = None
    deletes_reach_base: bool = False
    marker_of_any_case: bool = False
    ordering_form: OrderingForm = "values"
    plain_deletes: bool = False
    plain_marks: bool = False
    completion: Completion | None = None
    merger: CarriedMerger | None = None

    @property
    def compares_event_time(self) -> bool:
        """Whether ordering values are compared at all."""
        return self.mode == "EVENT_TIME_ORDERING" and bool(self.ordering)

    @property
    def reads_ordering(self) -> bool:
        """Whether versions carry ordering values: to compare them, or for a merger."""
        return bool(self.ordering) and (self.compares_event_time or self.merger is not None)

    @property
    def completes(self) -> bool:
        """Whether a merged record may hold values of several versions even where none is a partial update."""
        return self.completion is not None or self.merger is not None
