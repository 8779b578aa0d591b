"""How far a reader of changes may go, and where it stands: checkpoints that survive a restart.

batches/<number>    the range of a batch, written before its rows are handed out
finished/<number>   the batch was worked off
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state import DATA_ACTIONS, EARLIEST, Timeline, is_clustering, load_table, time_range

Rows = TypeVar("Rows")
_KEPT: Final = 100
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class BatchRange:
    """A numbered range: after `begin`, up to `end`. After a restart the same number has the same range.

    Clauses: IN-002, IN-008.
    """

    number: int
    begin: str
    end: str

    def __str__(self) -> str:
        return f"batch {self.number}: ({self.begin}, {self.end}]"


@dataclass(frozen=True, slots=True)
class Batch(Generic[Rows]):
    """What a stream hands out: the rows that came after `begin` and up to `end`, under a number.

    Clauses: IN-008.
    """

    number: int
    begin: str
    end: str
    rows: Rows


def latest_checkpoint(storage: Storage) -> str | None:
    """The time up to which every change is there and none will be added; None before the first.

    From table version 8 on it is the newest completion time: writes get theirs one after another. Before, a write
    stands at the time it was requested, so that one that is still pending holds back whatever was requested later;
    services do not, since they bring no rows.

    Raises:
        HudiError: the reasons of a refused table.
        FormatError: what a file of the timeline breaks.

    Clauses: IN-003, IN-005, IN-008.

    """
    configuration, timeline = load_table(storage)
    times = [instant.at("completed") for instant in timeline.completed_data()]
    if not configuration.has_completion_times:
        pending = _first_pending_write(storage, timeline)
        times = [one for one in times if pending is None or one < pending]
    return max(times, default=None)


def _first_pending_write(storage: Storage, timeline: Timeline) -> str | None:
    pending = (one for one in timeline.instants if one.action in DATA_ACTIONS and not one.is_completed)
    return min((one.requested for one in pending if not is_clustering(storage, one)), default=None)


def is_later(end: str, begin: str) -> bool:
    """Whether a range after `begin` and up to `end` can have anything in it."""
    return end != EARLIEST and (begin == EARLIEST or end > begin)


class Checkpoints:
    """The position of one reader, in a folder of its own.

    Clauses: IN-008.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def unfinished(self) -> BatchRange | None:
        """The last batch, if it was not worked off."""
        last = self.last()
        return None if last is None or self._storage.exists(_path("finished", last.number)) else last

    def last(self) -> BatchRange | None:
        """The last batch that was planned.

        Raises:
            HudiError: CONFIG_INVALID when the folder holds something else.

        """
        paths = [status.path for status in self._storage.list_files("batches", recursive=False)]
        if not paths:
            return None
        try:
            form: Any = json.loads(self._storage.read(paths[-1]))
            return BatchRange(int(paths[-1].rpartition("/")[2]), str(form["begin"]), str(form["end"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            hint = "give each stream a checkpoint folder of its own"
            message = "the folder holds no checkpoints"
            raise HudiError(Reason.CONFIG_INVALID, "IN-008", message, paths[-1], hint=hint) from error

    def plan(self, batch: BatchRange) -> None:
        """Note a batch before its rows are handed out.

        Raises:
            HudiError: WRITE_CONFLICT when another reader has noted one.

        Clauses: IN-008.

        """
        data = json.dumps({"begin": batch.begin, "end": batch.end}).encode()
        if not self._storage.put_if_absent(_path("batches", batch.number), data):
            message = f"another reader goes on from the same checkpoint: it has planned batch {batch.number}"
            hint = "give each stream a checkpoint folder of its own"
            raise HudiError(Reason.WRITE_CONFLICT, "IN-008", message, hint=hint)

    def finish(self, batch: BatchRange) -> None:
        """Note that a batch was worked off, and forget what is long finished."""
        self._storage.put(_path("finished", batch.number), b"")
        if batch.number > _KEPT:
            self._storage.delete(_path("batches", batch.number - _KEPT))
            self._storage.delete(_path("finished", batch.number - _KEPT))


def batch_ranges(
    table: Storage,
    checkpoints: Checkpoints,
    begin: str = EARLIEST,
    poll_seconds: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[BatchRange]:
    """The ranges that a reader works off, one after the other; each is finished when the next is requested.

    A batch that was planned and not finished comes again, with its number and its range. Without `poll_seconds` the
    ranges end where nothing new is there.

    Raises:
        HudiError: the reasons of a refused table; INSTANT_MALFORMED; WRITE_CONFLICT, CONFIG_INVALID of checkpoints.

    Clauses: IN-002, IN-008.

    """
    start = time_range(begin, None).begin or EARLIEST
    while True:
        batch = checkpoints.unfinished() or _next(table, checkpoints, start)
        if batch is not None:
            yield batch
            checkpoints.finish(batch)
        elif poll_seconds is None:
            return
        else:
            sleep(poll_seconds)


def _next(table: Storage, checkpoints: Checkpoints, start: str) -> BatchRange | None:
    """The range from the last batch to now, noted; None while nothing new has completed.

    The range is read from a later listing of the timeline than the one that its end comes from: whatever completed
    before that end is in it, even where the first listing ran beside the writes.

    Clauses: IN-008.
    """
    last = checkpoints.last()
    begin = start if last is None else last.end
    end = latest_checkpoint(table)
    if end is None or not is_later(end, begin):
        return None
    batch = BatchRange(1 if last is None else last.number + 1, begin, end)
    checkpoints.plan(batch)
    return batch


def _path(folder: str, number: int) -> str:
    return f"{folder}/{number:0{_DIGITS}d}"
