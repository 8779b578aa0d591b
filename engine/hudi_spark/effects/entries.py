"""Files of an action that leave the timeline."""

from typing import Final

from hudi_format.names import TimelineState, parse_timeline_file_name

from hudi_spark.effects.helper import Effects
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Instant

DOWNWARDS: Final[tuple[TimelineState, ...]] = ("COMPLETED", "INFLIGHT", "REQUESTED")


def delete_entries(
    effects: Effects,
    configuration: TableConfiguration,
    instant: Instant,
    states: tuple[TimelineState, ...] = DOWNWARDS,
) -> None:
    """Entries of an action leave the timeline, the highest state first; those that are gone already are passed over.

    Clauses: RB-009, SR-003, TL-017.
    """
    for state in states:
        path = instant.files.get(state)
        if path is not None and effects.storage.exists(path):
            delete_entry(effects, configuration, path)


def delete_entry(effects: Effects, configuration: TableConfiguration, path: str) -> None:
    """One file of the timeline goes.

    Clauses: TL-007.
    """
    name = parse_timeline_file_name(path.rpartition("/")[2], configuration.timeline_layout, path)
    if name is None:
        raise ValueError(f"{path} is no file of a timeline")
    effects.delete_instant(configuration, name)
