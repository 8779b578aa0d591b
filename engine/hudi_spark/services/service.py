"""What a table service is: it plans under the table's lock, and one attempt at a time carries the plan out.

requested ──lock──▶ inflight ──tasks──▶ files, announced by markers ──lock──▶ completed
    ▲                                        │
    └── markers' files, markers, inflight ◀──┘ whatever failed, or died and is found again

Clauses: CP-002, CP-010, MK-003, TL-003.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from hudi_format.compat import add_note
from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.concurrency import afterwards, joined
from hudi_spark.errors import DamagedLogWarning, HudiError, OutcomeUnknownError, Reason, SkippedBytes
from hudi_spark.table_state import (
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    Visibility,
    commit_of,
    load_configuration,
    load_timeline,
    scan_logs,
)
from hudi_spark.write import (
    Check,
    Completion,
    Outcome,
    TableWork,
    announced,
    back_to_requested,
    complete,
    remove_unnamed,
)


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """What a service is going to do: the action of its requested file, and what this file holds.

    Clauses: TL-033, CP-001.
    """

    action: str
    content: bytes = field(repr=False)


class Service(Protocol):
    """One kind of table service."""

    def plan(self, work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be done now, by the options' triggers and strategies; None where there is nothing.

        Called under the lock. `asked`: what the caller names besides the options.
        """

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a plan of this service."""

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry out a plan that is requested, or inflight and left by a failed process; takes the lock to finish.

        Raises:
            HudiError: WRITE_CONFLICT where what completed meanwhile does not leave the plan standing.

        """


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a plan whose pending files are named after `action`.

    Clauses: CP-002, CP-010.
    """

    work: TableWork
    action: str
    requested: str

    @contextmanager
    def inflight(self) -> Iterator[None]:
        """The plan is inflight inside; what fails there is taken back, so that the plan waits as before.

        Raises:
            HudiError: INSTANT_NOT_FOUND when the plan is gone or has completed; WRITE_CONFLICT when somebody else has
                taken it over: whatever is there then is theirs.

        Clauses: CP-010, OW-009, TL-003.

        """
        self._begin()
        try:
            yield
        except (TakenOverError, OutcomeUnknownError):
            raise
        except BaseException as error:
            with _noted(error):
                self._give_up()
            raise

    def complete(self, snapshot: Snapshot, completion: Completion, check: Check) -> str | None:
        """The plan's action completes; its completion time, None before version 8.

        `check`: refuses what happened meanwhile.

        Raises:
            HudiError: WRITE_CONFLICT; LOCK_UNAVAILABLE, LOCK_LOST.

        Clauses: CP-006, MK-003, TL-003.

        """
        stats = tuple(one.stat for one in completion.finished.written)
        checks = partial(_both, partial(self._settle, stats), check)
        try:
            completed = complete(self.work, snapshot, completion, checks)
        except OutcomeUnknownError:
            raise
        except HudiError as error:
            with _noted(error):
                self._remove_strays(stats)
            raise
        with afterwards("delete_markers"):
            self.work.effects.delete_markers(self.requested)
        return completed

    def _remove_strays(self, stats: tuple[WriteStat, ...]) -> None:
        """Where another attempt has completed, what this one wrote after it was taken over is nobody's.

        Files that the completed action names stay, no matter who wrote them: two attempts may have named one alike.

        Clauses: CP-010, OW-009.
        """
        with self.work.lock(self.requested):
            timeline = self.work.timeline()
            done = next((one for one in timeline.completed_data() if one.requested == self.requested), None)
            if done is None:
                return
            named = _paths(commit_of(self.work.storage, done).metadata.write_stats)
            for path in sorted(_paths(stats) - named):
                if self.work.storage.exists(path):
                    partition, _, name = path.rpartition("/")
                    self.work.effects.delete_data_file(self.requested, partition, name)
            self.work.effects.delete_markers(self.requested)

    def _begin(self) -> None:
        """Clauses: CP-010."""
        with self.work.lock(self.requested):
            configuration = load_configuration(self.work.storage)
            if (pending := self._pending(configuration)).state == "INFLIGHT":
                back_to_requested(self.work, configuration, pending)
            self.work.effects.create_instant(configuration, self._name("INFLIGHT"))

    def _give_up(self) -> None:
        with self.work.lock(self.requested):
            configuration = load_configuration(self.work.storage)
            if (pending := self._pending(configuration)).state == "INFLIGHT":
                back_to_requested(self.work, configuration, pending)

    def _pending(self, configuration: TableConfiguration) -> Instant:
        timeline = load_timeline(self.work.storage, configuration)
        for one in timeline.instants:
            if one.requested == self.requested and one.action == self.action:
                return one
        message = f"the {self.action} {self.requested} is no longer pending"
        hint = "look at the timeline: it has completed, or was rolled back"
        raise HudiError(Reason.INSTANT_NOT_FOUND, "CP-002", message, hint=hint)

    def _settle(self, stats: tuple[WriteStat, ...], timeline: Timeline) -> None:
        """Whoever begins anew removes all files and markers of the attempt before; under the lock as this is.

        Only who still holds the plan may remove what it did not name: else it would be the files of the other attempt.

        Clauses: CP-010, MK-003.
        """
        del timeline
        known = announced(self.work.storage, self.requested)
        if not {one.path or "" for one in stats} <= {joined(one.partition, one.name.data_file) for one in known}:
            message = f"somebody else has begun the {self.action} {self.requested} anew"
            hint = "let one process at a time carry out a plan"
            raise TakenOverError(Reason.WRITE_CONFLICT, "CP-010", message, hint=hint)
        remove_unnamed(self.work.effects, self.requested, stats)

    def _name(self, state: TimelineState) -> TimelineFileName:
        return TimelineFileName(self.requested, self.action, state)


class TakenOverError(HudiError):
    """An attempt that another one at the same plan has put an end to."""


@contextmanager
def _noted(error: BaseException) -> Iterator[None]:
    """What cannot be removed is reported with the error that is under way."""
    try:
        yield
    except (OSError, HudiError) as left:
        add_note(error, f"and what was written could not be removed: {left}")


_NOTHING: Final = Visibility(frozenset(), frozenset(), None)


def skipped_in(storage: Storage, stats: Iterable[WriteStat], logs: Iterable[str]) -> tuple[SkippedBytes, ...]:
    """The stretches of logs that are no blocks, in the partitions whose stats count any.

    Clauses: LF-010, RD-013.
    """
    partitions = {one.partition_path or "" for one in stats if one.total_corrupt_log_block}
    damaged = sorted({path for path in logs if path.rpartition("/")[0] in partitions})
    return scan_logs(storage, damaged, _NOTHING).skipped if damaged else ()


def warn_of_skipped(outcome: Outcome) -> Outcome:
    """The same; what its new files lack for good is warned of, as by who reads the logs before."""
    for one in outcome.skipped:
        # Where warnings are turned into errors they are in the answer all the same: the action stands.
        with suppress(Warning):
            message = f"{one}; what stood there is in none of the files of the {outcome.operation}"
            warnings.warn(message, DamagedLogWarning, stacklevel=3)
    return outcome


def _paths(stats: Iterable[WriteStat]) -> frozenset[str]:
    """Data files and change logs."""
    return frozenset(path for one in stats for path in (one.path or "", *(one.cdc_stats or {})))


def _both(first: Check, second: Check, timeline: Timeline) -> None:
    first(timeline)
    second(timeline)
