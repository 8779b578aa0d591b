"""Instants as the moments that they name."""

from datetime import UTC, datetime, timedelta
from typing import Final

from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Timeline

INSTANT_DIGITS: Final = 17
_ZONE: Final = "hoodie.table.timeline.timezone"
_SECONDS: Final = "%Y%m%d%H%M%S"
_SECONDS_DIGITS: Final = 14
# What an instant of whole seconds is taken to end with.
_LAST_MILLISECOND: Final = 999
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds_of(instant: str, configuration: TableConfiguration) -> int:
    """Milliseconds since 1970 of an instant, in the time zone of the table's timeline.

    Of an instant that is no moment, as a bootstrap's are, 0.

    Clauses: IX-023, TM-001.
    """
    try:
        local = datetime.strptime(instant[:_SECONDS_DIGITS], _SECONDS)  # noqa: DTZ007 - its zone is the table's
    except ValueError:
        return 0
    in_utc = configuration.properties.get(_ZONE, "").strip().upper() == "UTC"
    moment = local.replace(tzinfo=UTC) if in_utc else local.astimezone(UTC)
    rest = int(instant[_SECONDS_DIGITS:] or _LAST_MILLISECOND)
    return (moment - _EPOCH) // _MILLISECOND + rest


def newest_time(timeline: Timeline) -> str:
    """The greatest of all times of a timeline, in 17 digits; empty where it has none.

    Clauses: TM-003, TM-005.
    """
    times = (time[:INSTANT_DIGITS] for one in timeline.instants for time in (one.requested, one.completed or ""))
    return max(times, default="")
