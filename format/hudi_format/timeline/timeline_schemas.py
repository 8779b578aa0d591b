"""Avro schemas of the timeline's files, with the field names, orders and types that Apache Hudi writes."""

from typing import Any, Final

Schema = dict[str, Any]

NAMESPACE: Final = "org.apache.hudi.avro.model"


def _record(name: str, *fields: Schema) -> Schema:
    return {"type": "record", "name": name, "namespace": NAMESPACE, "fields": list(fields)}


def _array(items: Any) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Any) -> Schema:
    return {"type": "map", "values": values}


def _field(name: str, kind: Any, **default: Any) -> Schema:
    return {"name": name, "type": kind, **default}


def _optional(name: str, kind: Any) -> Schema:
    return {"name": name, "type": ["null", kind], "default": None}


def _version(default: int = 1) -> Schema:
    return {"name": "version", "type": ["int", "null"], "default": default}


def _extra() -> Schema:
    return _optional("extraMetadata", _map("string"))


def _optionals(kind: Any, *names: str) -> list[Schema]:
    return [_optional(name, kind) for name in names]


_RUNTIME_STATS = _record(
    "HoodieRuntimeStats", *_optionals("long", "totalScanTime", "totalCreateTime", "totalUpsertTime")
)

WRITE_STAT = _record(
    "HoodieWriteStat",
    *_optionals("string", "fileId", "path", "prevCommit"),
    *_optionals("long", "numWrites", "numDeletes", "numUpdateWrites", "totalWriteBytes", "totalWriteErrors"),
    _optional("partitionPath", "string"),
    *_optionals("long", "totalLogRecords", "totalLogFiles", "totalUpdatedRecordsCompacted", "numInserts"),
    *_optionals("long", "totalLogBlocks", "totalCorruptLogBlock", "totalRollbackBlocks", "fileSizeInBytes"),
    _optional("logVersion", "int"),
    _optional("logOffset", "long"),
    _optional("baseFile", "string"),
    _optional("logFiles", _array("string")),
    _optional("cdcStats", _map("long")),
    _optional("prevBaseFile", "string"),
    *_optionals("long", "minEventTime", "maxEventTime"),
    _optional("runtimeStats", _RUNTIME_STATS),
    *_optionals("long", "totalLogFilesCompacted", "totalLogReadTimeMs", "totalLogSizeCompacted"),
    _optional("tempPath", "string"),
    _optional("numUpdates", "long"),
)


def commit_metadata(*, replace: bool) -> Schema:
    """HoodieCommitMetadata, or HoodieReplaceCommitMetadata with the replaced file ids."""
    fields = [
        _optional("partitionToWriteStats", _map(_array(WRITE_STAT))),
        _optional("compacted", "boolean"),
        _extra(),
        _version(),
        _optional("operationType", "string"),
    ]
    if not replace:
        return _record("HoodieCommitMetadata", *fields)
    return _record(
        "HoodieReplaceCommitMetadata", *fields, _optional("partitionToReplaceFileIds", _map(_array("string")))
    )


COMPACTION_PLAN = _record(
    "HoodieCompactionPlan",
    _optional(
        "operations",
        _array(
            _record(
                "HoodieCompactionOperation",
                _field("baseInstantTime", ["null", "string"]),
                _optional("deltaFilePaths", _array("string")),
                _optional("dataFilePath", "string"),
                _field("fileId", ["null", "string"]),
                _optional("partitionPath", "string"),
                _optional("metrics", _map("double")),
                _optional("bootstrapFilePath", "string"),
            )
        ),
    ),
    _extra(),
    _version(),
    _optional(
        "strategy",
        _record(
            "HoodieCompactionStrategy",
            _optional("compactorClassName", "string"),
            _optional("strategyParams", _map("string")),
            _version(),
        ),
    ),
    _field("preserveHoodieMetadata", ["boolean", "null"], default=False),
    _optional("missingSchedulePartitions", _array("string")),
)

_SLICE_INFO = _record(
    "HoodieSliceInfo",
    _optional("dataFilePath", "string"),
    _optional("deltaFilePaths", _array("string")),
    _field("fileId", ["null", "string"]),
    _optional("partitionPath", "string"),
    _optional("bootstrapFilePath", "string"),
    _version(),
)

_CLUSTERING_PLAN = _record(
    "HoodieClusteringPlan",
    _optional(
        "inputGroups",
        _array(
            _record(
                "HoodieClusteringGroup",
                _optional("slices", _array(_SLICE_INFO)),
                _optional("metrics", _map("double")),
                _field("numOutputFileGroups", ["int", "null"], default=1),
                _extra(),
                _version(),
            )
        ),
    ),
    _optional(
        "strategy",
        _record(
            "HoodieClusteringStrategy",
            _optional("strategyClassName", "string"),
            _optional("strategyParams", _map("string")),
            _version(),
        ),
    ),
    _extra(),
    _version(),
    _field("preserveHoodieMetadata", ["null", "boolean"], default=None),
    _optional("missingSchedulePartitions", _array("string")),
)

REQUESTED_REPLACE = _record(
    "HoodieRequestedReplaceMetadata",
    _optional("operationType", "string"),
    _optional("clusteringPlan", _CLUSTERING_PLAN),
    _extra(),
    _version(),
)

CLEANER_PLAN = _record(
    "HoodieCleanerPlan",
    _optional(
        "earliestInstantToRetain",
        _record(
            "HoodieActionInstant",
            _field("timestamp", "string"),
            _field("action", "string"),
            _field("state", "string"),
        ),
    ),
    _field("lastCompletedCommitTimestamp", "string", default=""),
    _field("policy", "string"),
    _optional("filesToBeDeletedPerPartition", _map(_array("string"))),
    _version(),
    _optional(
        "filePathsToBeDeletedPerPartition",
        _map(
            _array(
                _record(
                    "HoodieCleanFileInfo", _optional("filePath", "string"), _optional("isBootstrapBaseFile", "boolean")
                )
            )
        ),
    ),
    _optional("partitionsToBeDeleted", _array("string")),
    _extra(),
)

_CLEAN_PARTITION = _record(
    "HoodieCleanPartitionMetadata",
    _field("partitionPath", "string"),
    _field("policy", "string"),
    _field("deletePathPatterns", _array("string")),
    _field("successDeleteFiles", _array("string")),
    _field("failedDeleteFiles", _array("string")),
    _optional("isPartitionDeleted", "boolean"),
)

CLEAN_METADATA = _record(
    "HoodieCleanMetadata",
    _field("startCleanTime", "string"),
    _field("timeTakenInMillis", "long"),
    _field("totalFilesDeleted", "int"),
    _field("earliestCommitToRetain", "string"),
    _field("lastCompletedCommitTimestamp", "string", default=""),
    _field("partitionMetadata", _map(_CLEAN_PARTITION)),
    _version(),
    _optional("bootstrapPartitionMetadata", _map("HoodieCleanPartitionMetadata")),
    _extra(),
)

_INSTANT_INFO = _record("HoodieInstantInfo", _field("commitTime", "string"), _field("action", "string"))

ROLLBACK_PLAN = _record(
    "HoodieRollbackPlan",
    _optional("instantToRollback", _INSTANT_INFO),
    _optional(
        "RollbackRequests",
        _array(
            _record(
                "HoodieRollbackRequest",
                _field("partitionPath", "string"),
                _optional("fileId", "string"),
                _optional("latestBaseInstant", "string"),
                _field("filesToBeDeleted", _array("string"), default=[]),
                _optional("logBlocksToBeDeleted", _map("long")),
            )
        ),
    ),
    _version(),
)

ROLLBACK_METADATA = _record(
    "HoodieRollbackMetadata",
    _field("startRollbackTime", "string"),
    _field("timeTakenInMillis", "long"),
    _field("totalFilesDeleted", "int"),
    _field("commitsRollback", _array("string")),
    _field(
        "partitionMetadata",
        _map(
            _record(
                "HoodieRollbackPartitionMetadata",
                _field("partitionPath", "string"),
                _field("successDeleteFiles", _array("string")),
                _field("failedDeleteFiles", _array("string")),
                _optional("rollbackLogFiles", _map("long")),
                _optional("logFilesFromFailedCommit", _map("long")),
            )
        ),
    ),
    _version(),
    _field("instantsRollback", _array(_INSTANT_INFO), default=[]),
)

SAVEPOINT_METADATA = _record(
    "HoodieSavepointMetadata",
    _field("savepointedBy", "string"),
    _field("savepointedAt", "long"),
    _field("comments", "string"),
    _field(
        "partitionMetadata",
        _map(
            _record(
                "HoodieSavepointPartitionMetadata",
                _field("partitionPath", "string"),
                _field("savepointDataFile", _array("string")),
            )
        ),
    ),
    _version(),
)

RESTORE_PLAN = _record(
    "HoodieRestorePlan",
    _field("instantsToRollback", _array(_INSTANT_INFO), default=[]),
    _version(2),
    _optional("savepointToRestoreTimestamp", "string"),
)

RESTORE_METADATA = _record(
    "HoodieRestoreMetadata",
    _field("startRestoreTime", "string"),
    _field("timeTakenInMillis", "long"),
    _field("instantsToRollback", _array("string")),
    _field("hoodieRestoreMetadata", _map(_array(["null", ROLLBACK_METADATA]))),
    _version(),
    _field("restoreInstantInfo", _array("HoodieInstantInfo"), default=[]),
)

_INDEX_PARTITION = _record(
    "HoodieIndexPartitionInfo",
    _version(),
    _optional("metadataPartitionPath", "string"),
    _optional("indexUptoInstant", "string"),
    _extra(),
)

INDEX_PLAN = _record("HoodieIndexPlan", _version(), _optional("indexPartitionInfos", _array(_INDEX_PARTITION)))

INDEX_COMMIT = _record(
    "HoodieIndexCommitMetadata",
    _version(),
    _optional("operationType", "string"),
    _optional("indexPartitionInfos", _array(_INDEX_PARTITION)),
)

HISTORY_INSTANT = _record(
    "HoodieLSMTimelineInstant",
    *_optionals("string", "instantTime", "completionTime", "action"),
    *_optionals("bytes", "metadata", "plan"),
    _field("version", "int", default=1),
)


def _named_once(kind: Any, known: set[str]) -> Any:
    """The same schema, each named type spelt out where it comes first and called by its name afterwards."""
    if isinstance(kind, list):
        return [_named_once(one, known) for one in kind]
    if not isinstance(kind, dict):
        return kind
    if kind.get("type") == "record":
        if kind["name"] in known:
            return f"{kind.get('namespace', NAMESPACE)}.{kind['name']}"
        known.add(kind["name"])
    return {key: _named_once(value, known) if key in _NESTING else value for key, value in kind.items()}


_NESTING = frozenset({"type", "fields", "items", "values"})


def archived_entry() -> Schema:
    """HoodieArchivedMetaEntry, the record of the archived log of version 6."""
    commit, index = commit_metadata(replace=False), INDEX_COMMIT
    entry = _record(
        "HoodieArchivedMetaEntry",
        _optional("hoodieCommitMetadata", commit),
        _optional("hoodieCleanMetadata", CLEAN_METADATA),
        _optional("hoodieRollbackMetadata", ROLLBACK_METADATA),
        _optional("hoodieSavePointMetadata", SAVEPOINT_METADATA),
        *_optionals("string", "commitTime", "actionType"),
        _version(),
        _optional("hoodieCompactionPlan", COMPACTION_PLAN),
        _optional("hoodieCleanerPlan", CLEANER_PLAN),
        _optional("actionState", "string"),
        _optional("hoodieReplaceCommitMetadata", commit_metadata(replace=True)),
        _optional("hoodieRequestedReplaceMetadata", REQUESTED_REPLACE),
        _optional("HoodieInflightReplaceMetadata", commit),
        _optional("hoodieIndexCommitMetadata", index),
        _optional("stateTransitionTime", "string"),
    )
    whole: Schema = _named_once(entry, set())
    return whole
