"""Apache Hudi's own timeline, file system view and table config, through the Java classes of the bundle."""

from pathlib import Path
from typing import Any

from hudi_adapter.arrow_types import logical_type

META_FIELDS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
    "_hoodie_operation",
)
_FIRST_COMPLETION_VERSION = 8
_CHANGE_FEED = ".cdc"


def meta_client(session: Any, table: Path) -> Any:
    """The entry point to a table's metadata."""
    jvm = session._jvm  # noqa: SLF001  py4j's door has no public name
    configuration = jvm.org.apache.hudi.storage.hadoop.HadoopStorageConfiguration(
        session._jsc.hadoopConfiguration()  # noqa: SLF001
    )
    builder = jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
    return builder.setConf(configuration).setBasePath(str(table)).build()


def columns_as_ddl(session: Any, table: Path) -> str:
    """The table's columns in Spark's words, Hudi's own left out."""
    schema = session.read.format("hudi").load(str(table)).schema
    own = (field for field in schema if not field.name.startswith("_hoodie_"))
    return ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in own)


def timeline(session: Any, table: Path, *, include_history: bool = False) -> list[dict[str, Any]]:
    """The active timeline: the highest state of each action, by requested time; archived actions too if requested."""
    client = meta_client(session, table)
    says_completion = int(client.getTableConfig().getTableVersion().versionCode()) >= _FIRST_COMPLETION_VERSION
    timelines = [client.getArchivedTimeline()] if include_history else []
    listed = [one.getInstants() for one in (*timelines, client.getActiveTimeline())]
    found = [_instant(instants.get(index), says_completion) for instants in listed for index in range(instants.size())]
    # An archived action may have a row for each of its states.
    order = ("REQUESTED", "INFLIGHT", "COMPLETED")
    by_state = sorted(found, key=lambda entry: order.index(entry["state"]))
    own = ("savepoint", "clean")  # These may have the instant of a write (TL-005).
    highest = {(entry["requested"], entry["action"] in own and entry["action"]): entry for entry in by_state}
    return sorted(highest.values(), key=lambda entry: (entry["requested"], entry["action"]))


def _instant(instant: Any, says_completion: bool) -> dict[str, Any]:
    completed = instant.getCompletionTime() if says_completion and instant.isCompleted() else None
    return {
        "requested": requested_time(instant),
        "completed": None if completed is None else str(completed),
        "action": str(instant.getAction()),
        "state": str(instant.getState().toString()),
    }


def requested_time(instant: Any) -> str:
    """The instant's time; a Java object shows its methods only by being asked."""
    from py4j.protocol import Py4JError  # noqa: PLC0415  only with a session

    try:
        return str(instant.requestedTime())
    except Py4JError:  # before 1.0 an instant has one time only
        return str(instant.getTimestamp())


def file_slices(session: Any, table: Path, as_of: str | None, release: str) -> list[dict[str, Any]]:
    """The slices a snapshot reads, a slice opened by a pending compaction joined with the one before."""
    client = meta_client(session, table)
    commits = client.getCommitsTimeline().filterCompletedInstants()
    last = commits.lastInstant()
    if not last.isPresent():
        return []
    view, folders = _view(session, client, release), _folders(session, client, release)
    until = as_of or requested_time(last.get())
    found = [one for index in range(folders.size()) for one in _slices_of(view, folders.get(index), until)]
    return sorted(found, key=lambda entry: (entry["partition"], entry["file_id"]))


def _view(session: Any, client: Any, release: str) -> Any:
    views = session._jvm.org.apache.hudi.common.table.view.HoodieTableFileSystemView  # noqa: SLF001
    # As the release's own index of files: what pends, but for compactions, is not there.
    timeline = client.getCommitsAndCompactionTimeline().filterCompletedAndCompactionInstants()
    if release.startswith("0."):
        return views(client, timeline)
    return views.fileListingBasedFileSystemView(_engine(session), client, timeline)


def _folders(session: Any, client: Any, release: str) -> Any:
    """The partitions, listed; each line of releases has a signature of its own."""
    listed = session._jvm.org.apache.hudi.common.fs.FSUtils.getAllPartitionPaths  # noqa: SLF001
    if release.startswith("0."):
        return listed(_engine(session), client.getStorage(), client.getBasePath(), False, False)
    if release.startswith("1.0."):
        return listed(_engine(session), client.getStorage(), client.getBasePath(), False)
    return listed(_engine(session), client, False)


def _engine(session: Any) -> Any:
    return session._jvm.org.apache.hudi.client.common.HoodieSparkEngineContext(session._jsc)  # noqa: SLF001


def _slices_of(view: Any, partition: str, until: str) -> list[dict[str, Any]]:
    slices = view.getLatestMergedFileSlicesBeforeOrOn(partition, until).toArray()
    return [_slice(partition, one) for one in slices]


def _slice(partition: str, one: Any) -> dict[str, Any]:
    base = one.getBaseFile()
    logs = [str(log.getFileName()) for log in one.getLogFiles().toArray()]
    # The view lists the logs of the change feed too; the file group reader drops them by this ending.
    logs = [name for name in logs if not name.endswith(_CHANGE_FEED)]
    return {
        "partition": str(partition),
        "file_id": str(one.getFileId()),
        "base_instant": str(one.getBaseInstantTime()),
        "base_file": str(base.get().getFileName()) if base.isPresent() else None,
        "log_files": logs[::-1],  # the view holds the newest first
    }


def table_info(session: Any, table: Path, release: str) -> dict[str, Any]:
    """Version, type, merge mode, keys and schema, as Apache Hudi reads them (from 1.0 on: before, no mode is named)."""
    client = meta_client(session, table)
    config = client.getTableConfig()
    frame = session.read.format("hudi").load(str(table))
    return {
        "name": str(config.getTableName()),
        "table_version": int(config.getTableVersion().versionCode()),
        "table_type": str(config.getTableType().name()),
        "merge_mode": _merge_mode(session, config, release),
        "record_key": _array(config.getRecordKeyFields()),
        "partition_by": _array(config.getPartitionFields()),
        "ordering": _ordering(config, release),
        "schema": _schema(frame),
    }


def _merge_mode(session: Any, config: Any, release: str) -> str | None:
    mode, version = config.getRecordMergeMode(), config.getTableVersion()
    output = (
        mode,
        config.getPayloadClass(),
        config.getRecordMergeStrategyId(),
        ",".join(_ordering(config, release)) or None,
    )
    if int(version.versionCode()) <= _FIRST_COMPLETION_VERSION:
        configs = session._jvm.org.apache.hudi.common.table.HoodieTableConfig  # noqa: SLF001
        old = release.startswith("1.0.")
        infer = configs.inferCorrectMergingBehavior if old else configs.inferMergingConfigsForPreV9Table
        mode = infer(*output, version).getLeft()
    return None if mode is None else str(mode.toString())


def _ordering(config: Any, release: str) -> list[str]:
    if release.startswith("1.0."):
        field = config.getPreCombineField()
        return [] if field is None else str(field).split(",")
    return [str(each) for each in config.getOrderingFields()]


def _schema(frame: Any) -> list[dict[str, str]]:
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415  only with a session

    arrow = to_arrow_schema(frame.drop(*META_FIELDS).schema)
    return [{"name": field.name, "type": logical_type(field.type)} for field in arrow]


def _array(value: Any) -> list[str]:
    return [str(each) for each in value.get()] if value.isPresent() else []
