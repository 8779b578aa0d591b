"""The table services of Apache Hudi, planned, carried out, or both at once, through its write client."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hudi_adapter.protocol import Answer, Rejected, Request, Unsupported, ValueAnswer
from hudi_adapter.reasons import Reason

from hudi_conformance.adapters.apache_hudi_client import WriteClient, client_of, java_list
from hudi_conformance.adapters.apache_hudi_phases import answered, shown
from hudi_conformance.adapters.apache_hudi_releases import newer
from hudi_conformance.adapters.apache_hudi_writing import configs_of
from hudi_conformance.apache import hudi_views

_TYPES = {"compaction": "COMPACT", "logcompaction": "LOG_COMPACT", "clustering": "CLUSTER", "clean": "CLEAN"}
# Indexing refuses to run where writers are not informed that they may not be alone.
_BESIDE_WRITERS = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
_INDEX_SETTINGS = {
    "COLUMN_STATS": "hoodie.metadata.index.column.stats.enable",
    "BLOOM_FILTERS": "hoodie.metadata.index.bloom.filter.enable",
    "RECORD_INDEX": "hoodie.metadata.record.index.enable",
}
_CHANGES_OF_VERSION = {"upgrade", "downgrade"}
_MADE: Mapping[str, Sequence[str]] = {
    **{name: (name,) for name in ("rollback", "restore", "clean", "savepoint")},
    "alter_schema": ("commit", "deltacommit"),
}
"""The actions that services leave; others leave none."""


def schedule(session: Any, release: str, request: Request) -> Answer:
    """A plan, where the release finds that there is something to do."""
    service = str(request.params.get("service"))
    needed = _BESIDE_WRITERS if service == "indexing" else {}
    with client_of(session, release, request.table, {**needed, **configs_of(request.params)}) as client:
        if service == "indexing":
            found = _index_plan(client, request.params)
        elif service in _TYPES:
            kind = client.jvm.org.apache.hudi.common.model.TableServiceType.valueOf(_TYPES[service])
            found = client.java.scheduleTableService(client.none(), kind)
        else:
            raise Unsupported(f"schedule-{service}")
        return ValueAnswer({"requested": str(found.get()) if found.isPresent() else None})


def _index_plan(client: WriteClient, params: Mapping[str, Any]) -> Any:
    kinds = client.jvm.org.apache.hudi.metadata.MetadataPartitionType
    configs = configs_of(params)
    by_configs = [one for one, key in _INDEX_SETTINGS.items() if configs.get(key) == "true"]
    indexes = [str(one).upper() for one in params.get("indexes") or by_configs or ("COLUMN_STATS",)]
    wanted = java_list(client.session, (kinds.valueOf(one) for one in indexes))
    if client.is_old:
        return client.java.scheduleIndexing(wanted)
    return client.java.scheduleIndexing(wanted, java_list(client.session, ()))


def execute(session: Any, release: str, request: Request) -> Answer:
    """A plan, carried out."""
    requested = str(request.params["requested"])
    found = [one for one in hudi_views.timeline(session, request.table) if one["requested"] == requested]
    pending = next((one for one in found if one["state"] != "COMPLETED"), None)
    if pending is None:
        raise Rejected(Reason.INSTANT_NOT_FOUND, f"{requested} is not pending")
    needed = _BESIDE_WRITERS if pending["action"] == "indexing" else {}
    with client_of(session, release, request.table, {**needed, **configs_of(request.params)}) as client:
        _EXECUTORS[pending["action"]](client, requested)
    return answered(session, request.table, requested)


def _compact(client: WriteClient, requested: str) -> None:
    if not client.commits_separately:
        client.java.compact(requested, True)
        return
    done = client.java.compact(requested)
    client.java.commitCompaction(requested, done.getCommitMetadata().get(), client.none())


def _compact_logs(client: WriteClient, requested: str) -> None:
    if not client.commits_separately:
        client.java.logCompact(requested, True)
        return
    done = client.java.logCompact(requested)
    client.java.commitLogCompaction(requested, done.getCommitMetadata().get(), client.none())


def _cluster(client: WriteClient, requested: str) -> None:
    client.java.cluster(requested, True)


def _clean(client: WriteClient, requested: str) -> None:
    """Every plan that is pending: the release carries none out by itself."""
    if client.is_old:
        client.java.clean(requested, False, False)
    else:
        client.java.clean(False)


def _index(client: WriteClient, requested: str) -> None:
    client.java.index(requested)


_EXECUTORS: Mapping[str, Callable[[WriteClient, str], None]] = {
    "compaction": _compact,
    "logcompaction": _compact_logs,
    "clustering": _cluster,
    "replacecommit": _cluster,
    "clean": _clean,
    "indexing": _index,
}


def service(session: Any, release: str, request: Request) -> Answer:
    """A service that plans and runs in one; the answer is the action that it left, if any."""
    name, params = str(request.params.get("name")), request.params
    if name not in _SERVICES:
        raise Unsupported(f"service-{name}")
    if name in _CHANGES_OF_VERSION and (refused := newer(_wanted_version(params), release)):
        raise refused
    before = {_key(one) for one in hudi_views.timeline(session, request.table)}
    with client_of(session, release, request.table, {**_version_settings(params), **configs_of(params)}) as client:
        _SERVICES[name](client, params)
    made = [one for one in hudi_views.timeline(session, request.table) if _key(one) not in before]
    own = [one for one in made if one["action"] in _MADE.get(name, ())]
    return ValueAnswer(shown(max(own, key=lambda one: str(one["requested"])) if own else None))


def _key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return entry["requested"], entry["action"], entry["state"]


def _instant(params: Mapping[str, Any], *names: str) -> str | None:
    return next((str(params[name]) for name in names if params.get(name)), None)


def _rollback(client: WriteClient, params: Mapping[str, Any]) -> None:
    """One action rolled back; where none is named, all that failed."""
    instant = _instant(params, "instant", "target")
    if instant is not None:
        client.java.rollback(instant)
    elif client.is_old:
        client.java.rollbackFailedWrites()
    else:
        client.java.rollbackFailedWrites(hudi_views.meta_client(client.session, client.table))


def _savepoint(client: WriteClient, params: Mapping[str, Any]) -> None:
    instant, comment = _instant(params, "instant", "requested"), str(params.get("comment", ""))
    if instant is None:
        client.java.savepoint("conformance", comment)
    else:
        client.java.savepoint(instant, "conformance", comment)


def _delete_savepoint(client: WriteClient, params: Mapping[str, Any]) -> None:
    client.java.deleteSavepoint(_instant(params, "instant", "requested"))


def _restore(client: WriteClient, params: Mapping[str, Any]) -> None:
    """To a savepoint: a way back to any other instant is the release's own, and the protocol has none."""
    client.java.restoreToSavepoint(_instant(params, "to", "instant", "savepoint"))


def _version_settings(params: Mapping[str, Any]) -> dict[str, str]:
    """What a change of the table's version needs: without leave to, the release changes nothing and says nothing."""
    if params.get("name") not in _CHANGES_OF_VERSION:
        return {}
    return {"hoodie.write.auto.upgrade": "true", "hoodie.write.table.version": str(_wanted_version(params))}


def _wanted_version(params: Mapping[str, Any]) -> int:
    return int(str(params.get("to", params.get("table_version", params.get("version")))))


def _change_version(client: WriteClient, params: Mapping[str, Any]) -> None:
    wanted = _wanted_version(params)
    jvm = client.jvm.org.apache.hudi
    versions = jvm.common.table.HoodieTableVersion
    version = versions.versionFromCode(wanted) if client.is_old else versions.fromVersionCode(wanted)
    context = jvm.client.common.HoodieSparkEngineContext(client.session._jsc)  # noqa: SLF001
    helper = jvm.table.upgrade.SparkUpgradeDowngradeHelper.getInstance()
    view = hudi_views.meta_client(client.session, client.table)
    jvm.table.upgrade.UpgradeDowngrade(view, client.java.getConfig(), context, helper).run(version, None)


def _alter_schema(client: WriteClient, params: Mapping[str, Any]) -> None:
    """One change of one column: the client makes a commit of each."""
    changes = list(params.get("changes", ()))
    if len(changes) != 1:
        raise Unsupported("alter-schema-several-changes")
    change, java = changes[0], client.java
    kind, column = str(change["change"]), str(change["column"])
    match kind:
        case "add":
            java.addColumn(column, _nullable(client, change["type"]), "", *_position(client, change))
        case "drop":
            java.deleteColumns(_texts(client, [column]))
        case "rename":
            java.renameColumn(column, str(change["to"]))
        case "move":
            java.reOrderColPosition(column, *_position(client, change))
        case "type" if str(change["type"]) in _WORDS:
            word = _WORDS[str(change["type"])]
            java.updateColumnType(column, getattr(client.jvm.org.apache.hudi.internal.schema, f"Types${word}").get())
        case _:
            raise Unsupported(f"alter-schema-{kind}")


_WORDS = {"int": "IntType", "long": "LongType", "float": "FloatType", "double": "DoubleType", "string": "StringType"}


def _nullable(client: WriteClient, kind: Any) -> Any:
    """A schema of this type or null, in the class that the release takes."""
    text, apache = json.dumps(["null", kind]), client.jvm.org.apache
    if client.release.startswith("1.2"):
        return apache.hudi.common.schema.HoodieSchema.parse(text)
    return apache.avro.Schema.Parser().parse(text)


def _position(client: WriteClient, change: Mapping[str, Any]) -> tuple[str, Any]:
    """Beside which column, and on which side of it."""
    inner = "TableChange$ColumnPositionChange$ColumnPositionType"
    kinds = getattr(client.jvm.org.apache.hudi.internal.schema.action, inner)
    if change.get("first"):
        return "", kinds.FIRST
    name = next((one for one in ("after", "before") if change.get(one)), None)
    return ("", kinds.NO_OPERATION) if name is None else (str(change[name]), kinds.valueOf(name.upper()))


def _texts(client: WriteClient, values: Sequence[str]) -> Any:
    """An array of texts."""
    gateway = client.session.sparkContext._gateway  # noqa: SLF001
    found = gateway.new_array(client.jvm.java.lang.String, len(values))
    for place, value in enumerate(values):
        found[place] = value
    return found


_SERVICES: Mapping[str, Callable[[WriteClient, Mapping[str, Any]], None]] = {
    "archive": lambda client, _: client.java.archive(),
    "clean": lambda client, _: client.java.clean(),
    "rollback": _rollback,
    "savepoint": _savepoint,
    "delete_savepoint": _delete_savepoint,
    "restore": _restore,
    "upgrade": _change_version,
    "downgrade": _change_version,
    "alter_schema": _alter_schema,
}
