"""A write of Apache Hudi's in phases: each of its client's calls by itself, so that others may come in between.

Begin is `startCommit`; stage is the operation, carried out whole and kept as statuses of its files; commit is `commit`
with the statuses; abort is `rollback`. A write that is refused for a conflict is rolled back by its adapter, as a user
would: the release itself leaves that to a later writer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_adapter.protocol import Answer, Rejected, Request, Unsupported, ValueAnswer
from hudi_adapter.reasons import Reason

from hudi_conformance.adapters.apache_hudi_client import WriteClient, java_list, java_map, records_of
from hudi_conformance.adapters.apache_hudi_writing import OPERATIONS, configs_of, rows_of
from hudi_conformance.apache import hudi_views

_REPLACING = {"insert_overwrite", "insert_overwrite_table", "delete_partition"}
_BY_FRAME = "partial_update"


@dataclass(slots=True)
class OpenWrite:
    """A write that has begun: its client, its instant, its action, and once staged what it wrote and replaced."""

    client: WriteClient
    requested: str
    action: str
    statuses: Any = None
    replaced: Any = None


class OpenWrites:
    """The writes of one session, under the names of their transactions."""

    def __init__(self, release: str) -> None:
        self._release = release
        self._open: dict[tuple[Path, str], OpenWrite] = {}

    def begin(self, session: Any, request: Request) -> Answer:
        """The requested file, at a time of the client's own."""
        operation = str(request.params.get("operation"))
        if operation not in OPERATIONS:
            raise Rejected(Reason.CONFIG_INVALID, f"{operation!r} is no operation")
        if operation == _BY_FRAME:
            raise Unsupported("partial-update-in-phases")
        client = WriteClient(session, self._release, request.table, configs_of(request.params))
        action = "replacecommit" if operation in _REPLACING else _commit_action(client)
        started = OpenWrite(client, _requested(client, action), action)
        self._open[_name(request)] = started
        return _pending(started)

    def stage(self, session: Any, request: Request) -> Answer:
        """The inflight file, markers and files."""
        started = self._of(request)
        result = _written(session, request, started)
        started.replaced = result.getPartitionToReplaceFileIds()
        # Spark would do the work again for the one that requests the statuses again.
        started.statuses = session._jsc.parallelize(result.getWriteStatuses().collect(), 1)  # noqa: SLF001
        return _pending(started)

    def commit(self, session: Any, request: Request) -> Answer:
        """The lock, the client's checks, the completed file; a write in conflict is rolled back."""
        from py4j.protocol import Py4JJavaError  # noqa: PLC0415  only with a session

        started, client = self._of(request), self._of(request).client
        replaced = started.replaced or java_map(session, {})
        try:
            client.java.commit(
                started.requested, started.statuses, client.none(), started.action, replaced, client.none()
            )
        except Py4JJavaError:
            client.java.rollback(started.requested)
            raise
        finally:
            self._close(request)
        return answered(session, request.table, started.requested)

    def abort(self, _session: Any, request: Request) -> Answer:
        """Its files go, its instant goes; the rollback stays on the timeline."""
        started = self._of(request)
        try:
            started.client.java.rollback(started.requested)
        finally:
            self._close(request)
        return _pending(started)

    def close(self) -> None:
        """Give back what writes that nobody finished still have."""
        for one in self._open.values():
            one.client.close()
        self._open.clear()

    def _of(self, request: Request) -> OpenWrite:
        if _name(request) not in self._open:
            raise Rejected(Reason.INSTANT_NOT_FOUND, f"no write {request.params.get('txn')!r} is under way here")
        return self._open[_name(request)]

    def _close(self, request: Request) -> None:
        self._open.pop(_name(request)).client.close()


def _name(request: Request) -> tuple[Path, str]:
    return request.table, str(request.params.get("txn"))


def _commit_action(client: WriteClient) -> str:
    return str(hudi_views.meta_client(client.session, client.table).getCommitActionType())


def _requested(client: WriteClient, action: str) -> str:
    if not client.commits_separately:
        return str(client.java.startCommit(action))
    if action != "replacecommit":
        return str(client.java.startCommit())
    time = str(client.java.createNewInstantTime()) if not client.is_old else _new_time(client)
    client.java.startCommitWithTime(time, action)
    return time


def _new_time(client: WriteClient) -> str:
    return str(client.jvm.org.apache.hudi.common.table.timeline.HoodieActiveTimeline.createNewInstantTime())


def _written(session: Any, request: Request, started: OpenWrite) -> Any:
    """What the operation answers: statuses that are not computed yet, and the file groups that it replaces."""
    client, name = started.client, str(request.params.get("operation"))
    utils = client.jvm.org.apache.hudi.DataSourceUtils
    if name == "delete_partition":
        partitions = java_list(session, map(str, request.params["partitions"]))
        return client.java.deletePartitions(partitions, started.requested)
    operation = client.jvm.org.apache.hudi.common.model.WriteOperationType.fromValue(name)
    records = records_of(client, rows_of(session, request), operation, started.requested)
    if name == "delete":
        keys = java_list(session, (one.getKey() for one in records.collect()))
        deleted = client.java.delete(session._jsc.parallelize(keys, 1), started.requested)  # noqa: SLF001
        return client.jvm.org.apache.hudi.client.HoodieWriteResult(deleted)
    return utils.doWriteOperation(client.java, records, started.requested, operation, False)


def _pending(started: OpenWrite) -> Answer:
    return ValueAnswer({"requested": started.requested, "completed": None, "action": started.action})


def answered(session: Any, table: Path, requested: str | None) -> Answer:
    """What became of an action; empty where it is not completed, or none was needed."""
    listed = hudi_views.timeline(session, table)
    found = next((one for one in listed if one["requested"] == requested and one["state"] == "COMPLETED"), None)
    return ValueAnswer(shown(found))


def shown(entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """An entry of the timeline as an answer."""
    return {name: entry[name] if entry else None for name in ("requested", "completed", "action")}
