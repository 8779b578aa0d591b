"""The completion times that actions of version 6 get: when their completed files were written.

Clauses: VR-006, TM-001.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hudi_format.storage import Storage

from hudi_spark.clock import instant_text, next_instant
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.slicing import list_file_groups

_ZONE_KEY = "hoodie.table.timeline.timezone"


@dataclass(frozen=True, slots=True)
class CompletedFile:
    """The completed file of an action: its time, whether it is a savepoint's, when it was written."""

    requested: str
    is_savepoint: bool
    modified_ms: int

    @property
    def key(self) -> tuple[str, bool]:
        """A savepoint has the time of the action that it keeps."""
        return self.requested, self.is_savepoint


def completion_times(
    storage: Storage, configuration: TableConfiguration, completed: Iterable[CompletedFile]
) -> Mapping[tuple[str, bool], str]:
    """A completion time for each action, after its requested time, no two alike.

    Files that were copied tell a later time than their action had. Where logs are named after an action, its time stays
    before the next base file of their file group: later, they would join that one's slice.

    Clauses: VR-006, RD-005, TM-001.
    """
    limits = _limits(storage)
    found: dict[tuple[str, bool], str] = {}
    taken: set[str] = set()
    for one in sorted(completed, key=lambda one: (one.modified_ms, one.requested, one.is_savepoint)):
        time = _within(instant_of(one.modified_ms, configuration), one.requested, limits.get(one.requested))
        while time in taken:
            time = next_instant(time)
        taken.add(time)
        found[one.key] = time
    return found


def instant_of(modified_ms: int, configuration: TableConfiguration) -> str:
    """A time of storage as an instant in the table's time zone, that of this computer unless the table says UTC.

    Clauses: TM-001.
    """
    moment = datetime.fromtimestamp(modified_ms // 1000, UTC) + timedelta(milliseconds=modified_ms % 1000)
    return instant_text(moment if _is_utc(configuration) else moment.astimezone())


def modified_ms_of(instant: str, configuration: TableConfiguration) -> int:
    """The time of storage, in epoch milliseconds, that an instant of 17 digits amounts to.

    Clauses: TM-001.
    """
    seconds = datetime.strptime(instant[:14], "%Y%m%d%H%M%S")  # noqa: DTZ007 - the zone comes next
    moment = seconds.replace(tzinfo=UTC) if _is_utc(configuration) else seconds.astimezone()
    return int(moment.timestamp()) * 1000 + int(instant[14:17])


def _is_utc(configuration: TableConfiguration) -> bool:
    return configuration.properties.get(_ZONE_KEY, "").strip().upper() == "UTC"


def _within(time: str, requested: str, limit: str | None) -> str:
    if limit is not None and time >= limit:
        time = instant_before(limit)
    return time if time > requested else next_instant(requested)


def instant_before(instant: str) -> str:
    """The instant one millisecond earlier."""
    digits = (instant + "000")[:17]
    seconds = datetime.strptime(digits[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return instant_text(seconds + timedelta(milliseconds=int(digits[14:17]) - 1))


def _limits(storage: Storage) -> dict[str, str]:
    """For each instant that logs are named after, the first base file of one of their groups that came later."""
    limits: dict[str, str] = {}
    for group in list_file_groups(storage).values():
        bases = sorted(base.name.instant for base in group.base_files)
        for named in {log.name.instant for log in group.log_files}:
            later = next((instant for instant in bases if instant > named), None)
            if later is not None:
                limits[named] = min(limits.get(named, later), later)
    return limits
