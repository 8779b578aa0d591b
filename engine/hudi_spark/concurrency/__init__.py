"""Writers beside each other: locks, heartbeats, instants, and the helper through which they change storage."""

from hudi_spark.concurrency.clock import (
    AHEAD_KEY,
    Clock,
    SetClock,
    SystemClock,
    instant_text,
    milliseconds_of,
    next_instant,
)
from hudi_spark.concurrency.effects import (
    DOWNWARDS,
    Effects,
    Failure,
    Hook,
    afterwards,
    delete_entries,
    delete_entry,
    hooks_of_environment,
    joined,
    timeline_path,
    with_failures,
)
from hudi_spark.concurrency.heartbeats import (
    beating,
    is_alive,
    reject_unknown_writers,
    remove_heartbeat,
    start_heartbeat,
    stop_heartbeat,
)
from hudi_spark.concurrency.locks import Holding, holding_of, place_of, table_lock

__all__ = [
    "AHEAD_KEY",
    "DOWNWARDS",
    "Clock",
    "Effects",
    "Failure",
    "Holding",
    "Hook",
    "SetClock",
    "SystemClock",
    "afterwards",
    "beating",
    "delete_entries",
    "delete_entry",
    "holding_of",
    "hooks_of_environment",
    "instant_text",
    "is_alive",
    "joined",
    "milliseconds_of",
    "next_instant",
    "place_of",
    "reject_unknown_writers",
    "remove_heartbeat",
    "start_heartbeat",
    "stop_heartbeat",
    "table_lock",
    "timeline_path",
    "with_failures",
]
