"""The plan of a rollback: what it does to each file group, as Apache Hudi writes it down."""

from collections.abc import Iterable
from typing import Final

from hudi_format.names import LogFileName
from hudi_format.storage import FileStatus, Storage
from hudi_format.timeline.plans import InstantInfo, RollbackPlan, RollbackRequest

from hudi_spark.effects.helper import joined
from hudi_spark.options.resolving import Options
from hudi_spark.services.rollback.own_files import OwnFile, Search

BY_MARKERS: Final = "hoodie.rollback.using.markers"


def rollback_plan(search: Search, options: Options) -> RollbackPlan:
    """What is to be removed of an action that has not completed: nothing of one that did not go inflight.

    Clauses: RB-003, RB-006, RB-007.
    """
    if search.target.state == "REQUESTED":
        return plan_of(search, ())
    by_markers = search.announced() if options.flag(BY_MARKERS) else None
    return plan_of(search, search.listed() if by_markers is None else by_markers)


def listing_plan(search: Search, stored: Iterable[FileStatus]) -> RollbackPlan:
    """What is to be removed of an action, of completed ones too, by a listing of the whole table.

    Clauses: SR-006, RB-006.
    """
    return plan_of(search, search.listed(stored))


def plan_of(search: Search, files: Iterable[OwnFile]) -> RollbackPlan:
    """The plan that removes some files of an action.

    Clauses: RB-003.
    """
    own = sorted(files, key=lambda one: (one.partition, str(one.name)))
    requests = [_deletion(search.storage, one) for one in own if one.goes]
    slices: dict[tuple[str, str, str], dict[str, int]] = {}
    for one in own:
        if not one.goes and isinstance(one.name, LogFileName):
            logs = slices.setdefault((one.partition, one.name.file_id, one.name.instant), {})
            logs[str(one.name)] = one.size
    requests += [RollbackRequest(*where, (), logs) for where, logs in slices.items()]
    undone = InstantInfo(search.target.requested, search.target.action)
    return RollbackPlan(undone, tuple(requests))


def _deletion(storage: Storage, file: OwnFile) -> RollbackRequest:
    """Releases take the whole path, without a scheme for local files."""
    path = absolute(storage, file.partition, str(file.name))
    return RollbackRequest(file.partition, file.name.file_id, file.name.instant, (path,), {})


def absolute(storage: Storage, partition: str, name: str) -> str:
    """A file's path as plans name it."""
    return f"{storage.base.rstrip('/')}/{joined(partition, name)}"
