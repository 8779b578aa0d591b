"""Which instants of the metadata table count beside one state of the data timeline."""

from dataclasses import replace
from typing import Final

from hudi_format.storage import Storage

from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Timeline, Visibility, load_timeline

INITIAL_PREFIX: Final = "00000000000000"
# Instants of the table's own services have three digits behind before version 8.
_INSTANT_DIGITS: Final = 17


def counted_beside(
    metadata: Visibility, timeline: Timeline, storage: Storage, configuration: TableConfiguration
) -> Visibility:
    """The metadata table's visibility without what belongs to actions that the data timeline does not complete.

    Actions that began after the data timeline was read do not count, though they may have completed by now; the
    timeline is looked at again only where such instants are there, since they can be those of services as well.

    Clauses: MT-006, MT-019, MT-021.
    """
    pending = {one.requested for one in timeline.instants if not one.is_completed and not one.is_savepoint}
    hidden = metadata.visible & (pending | _begun_since(metadata, timeline, storage, configuration))
    return replace(metadata, visible=metadata.visible - hidden, listed=metadata.listed | hidden)


def _begun_since(
    metadata: Visibility, timeline: Timeline, storage: Storage, configuration: TableConfiguration
) -> set[str]:
    newest = max((one.requested for one in timeline.instants), default="")
    later = {one for one in metadata.visible if _may_be_an_action(one) and one > newest}
    if not later:
        return set()
    return later & {one.requested for one in load_timeline(storage, configuration).instants}


def _may_be_an_action(instant: str) -> bool:
    return len(instant) <= _INSTANT_DIGITS and not instant.startswith(INITIAL_PREFIX)
