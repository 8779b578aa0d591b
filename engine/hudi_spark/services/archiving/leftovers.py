"""Rollbacks that have to stay: while a file of a write that they undid is there, only they tell that it never counted.

Clauses: AR-009.
"""

from collections.abc import Iterable

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.state.listing import stored_files
from hudi_spark.state.removals import undone_instants
from hudi_spark.state.timeline import Instant, Timeline


def oldest_with_leftovers(storage: Storage, actions: Iterable[Instant]) -> str | None:
    """The first rollback among actions of whose undone writes storage holds a file.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a rollback does not parse.

    Clauses: AR-009.

    """
    undone = {one.requested: undone_instants(storage, Timeline((one,))) for one in actions if one.action == "rollback"}
    if not any(undone.values()):
        return None
    stored = _instants_of_files(storage)
    return min((requested for requested, writes in undone.items() if writes & stored), default=None)


def _instants_of_files(storage: Storage) -> frozenset[str]:
    named = (parse_data_file_name(name) for _, name in stored_files(storage).files)
    return frozenset(one.instant for one in named if one is not None)
