"""Services scheduled and executed: by a writer after its commit, or by a process of their own.

Clauses: CL-009, CL-010, LK-004, CP-001, CP-002.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from hudi_spark import table_state
from hudi_spark.concurrency import beating, is_alive, place_of
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature, suggested
from hudi_spark.services.cleaning import Cleaning
from hudi_spark.services.clustering import Clustering
from hudi_spark.services.compaction import Compaction
from hudi_spark.services.indexing import Indexing
from hudi_spark.services.log_compaction import LogCompaction
from hudi_spark.services.restore import after_restores
from hudi_spark.services.service import Service
from hudi_spark.table_state import Instant
from hudi_spark.write import Outcome, TableWork

SERVICES: Final[Mapping[str, Service]] = {
    "compaction": Compaction(),
    "logcompaction": LogCompaction(),
    "clustering": Clustering(),
    "clean": Cleaning(),
    "indexing": Indexing(),
}
"""compaction, logcompaction, clustering, clean, indexing."""


# Who requests a clustering wants it now, however few commits there were.
_NOW: Final = {
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.schedule.inline": "false",
    "hoodie.clustering.async.enabled": "false",
}


def clustering_configs(sort: str | Sequence[str], layout: str, partitions: str | Sequence[str]) -> dict[str, str]:
    """Columns to sort by, `linear`, `z-order` or `hilbert`, and partitions; what is empty is left to the options."""
    stated = {
        "hoodie.clustering.plan.strategy.sort.columns": _listed(sort, "sort"),
        "hoodie.layout.optimize.strategy": layout,
        "hoodie.clustering.plan.strategy.partition.selected": _listed(partitions, "partitions"),
    }
    return {**_NOW, **{key: value for key, value in stated.items() if value}}


def _listed(names: str | Sequence[str] | None, what: str) -> str:
    if isinstance(names, str):
        return names
    if names is not None and not (isinstance(names, Collection) and all(isinstance(one, str) for one in names)):
        message, hint = f"{what} is {repr(names)[:60]}, no list of names", f"give a list of texts: {what}=['a']"
        raise HudiError(Reason.CONFIG_INVALID, "PR-022", message, hint=hint)
    return ",".join(names or ())


def schedule(work: TableWork, name: str, params: Mapping[str, Any] | None = None) -> str | None:
    """The time of a plan that a service makes now; None where there is nothing to do.

    A restore that somebody left is finished first: else a plan would bring back rows that it is still to undo.

    Raises:
        HudiError: LOCK_UNAVAILABLE; what the service refuses.
        UnsupportedFeature: a service that there is not.

    Clauses: LK-004, CP-001, SR-006.

    """
    service = service_named(name)
    with work.lock(name):
        after_restores(work)
        snapshot = work.snapshot()
        plan = service.plan(work, snapshot, params or {})
        if plan is None:
            return None
        return work.request(snapshot.configuration, snapshot.timeline, plan.action, plan.content)


def execute(work: TableWork, requested: str) -> Outcome:
    """What a plan requests is done, by the one that made it.

    Raises:
        HudiError: INSTANT_NOT_FOUND when no plan of this time waits; WRITE_CONFLICT.

    Clauses: CP-002, TL-003.

    """
    pending = _pending(work, requested)
    service = next((one for one in SERVICES.values() if one.owns(work, pending)), None)
    if service is None:
        raise _not_found(f"the {pending.action} {requested} is no plan of a table service")
    return _carried_out(work, service, pending)


def run(work: TableWork, name: str, params: Mapping[str, Any] | None = None) -> Outcome | None:
    """Plans of a service that wait are carried out, oldest first, and one that it makes now; None for none of them.

    The outcome is that of the last one. Plans that somebody else is carrying out are left to them.

    Raises:
        HudiError: as `schedule` and `execute`.
        UnsupportedFeature: a service that there is not.

    Clauses: CP-002, CP-010, CP-015.

    """
    last = finish_waiting(work, name)
    requested = schedule(work, name, params)
    return last if requested is None else execute(work, requested)


def finish_waiting(work: TableWork, name: str) -> Outcome | None:
    """Plans of a service that wait are carried out, oldest first, but those that somebody is at; the last outcome.

    Raises:
        HudiError: as `execute`.
        UnsupportedFeature: a service that there is not.

    Clauses: CP-002, CP-010.

    """
    service = service_named(name)
    timeline = work.timeline()
    waiting = [one for one in timeline.instants if not one.is_completed and service.owns(work, one)]
    left = [one for one in waiting if not is_alive(work.storage, work.options, one.requested)]
    outcomes = [_carried_out(work, service, one) for one in left]
    return outcomes[-1] if outcomes else None


def _carried_out(work: TableWork, service: Service, pending: Instant) -> Outcome:
    """A plan that is carried out has a heartbeat: nobody takes who does it for failed, or does it as well.

    Raises:
        HudiError: WRITE_CONFLICT where somebody is at it.

    Clauses: CP-002, MK-005.

    """
    if is_alive(work.storage, work.options, pending.requested):
        message = f"somebody is carrying the {pending.action} {pending.requested} out"
        raise HudiError(Reason.WRITE_CONFLICT, "CP-010", message, pending.file, hint="let one process at a time do it")
    with beating(work.effects, work.options, pending.requested, place_of(work.storage, work.options)):
        return service.execute(work, pending)


def service_named(name: str) -> Service:
    """The service of a name.

    Raises:
        UnsupportedFeature: there is none.

    """
    if not isinstance(name, str) or name not in SERVICES:
        hint = suggested(str(name), SERVICES, f"there are {', '.join(SERVICES)}")
        raise UnsupportedFeature(f"schedule-{name}", hint)
    return SERVICES[name]


def _pending(work: TableWork, requested: str) -> Instant:
    timeline = work.timeline()
    known = [one for one in timeline.instants if one.requested == requested and not one.is_savepoint]
    if not known:
        raise _not_found(f"the timeline has no action {requested}")
    pending = [one for one in known if not one.is_completed]
    if not pending:
        raise _not_found(f"the {known[0].action} {requested} has completed")
    return pending[0]


def _not_found(message: str) -> HudiError:
    return HudiError(Reason.INSTANT_NOT_FOUND, "TL-003", message, hint="schedule the service, then execute its time")


def has_completed(work: TableWork, requested: str) -> bool:
    """Whether an action stands; one that is not seen to stand is looked for again under the lock.

    Raises:
        HudiError: LOCK_UNAVAILABLE; TIMELINE_FILE_CORRUPT for a broken history.

    Clauses: OW-010, LK-002.

    """
    if table_state.has_completed(work.storage, requested):
        return True
    with work.lock("ask"):
        return table_state.has_completed(work.storage, requested)
