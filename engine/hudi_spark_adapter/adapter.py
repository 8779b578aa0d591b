"""The engine behind the adapter protocol: `python -m hudi_spark_adapter [--in-process] [--reading text]`."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from hudi_adapter import (
    Adapter,
    AnswerWarning,
    Implementation,
    Rejected,
    Request,
    RowsAnswer,
    Unsupported,
    ValueAnswer,
    serve,
)
from hudi_adapter.arrow_types import logical_type
from hudi_adapter.protocol import Answer, Operation
from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_spark.errors import HudiError, SkippedBytes, UnsupportedFeature, boundary
from hudi_spark.fsck import check_table
from hudi_spark.read import AnyQuery, ChangesQuery, IncrementalQuery, Query, TableInfo, table_info, table_storage
from hudi_spark.read import Executor as Flows
from hudi_spark.readings import Readings, readings_named
from hudi_spark.table_state import FileSlice, Instant, full_timeline, load_snapshot, load_table

from hudi_spark_adapter.executors import InProcess, OnSpark
from hudi_spark_adapter.mergers import register_reference_mergers
from hudi_spark_adapter.writing import WritingOperations

FEATURES = (
    "table-version-4",
    "table-version-5",
    "table-version-6",
    "table-version-8",
    "table-version-9",
    "cow",
    "mor",
    "log-avro",
    "log-delete",
    "log-rollback",
    "log-corrupt",
    "log-parquet",
    "log-hfile",
    "log-compaction",
    "base-parquet",
    "base-orc",
    "base-hfile",
    "bootstrap",
    "schema-evolution",
    "schema-on-read",
    "drop-partition-columns",
    "merge-commit-time",
    "merge-event-time",
    "payload",
    "payload-DefaultHoodieRecordPayload",
    "payload-EventTimeAvroPayload",
    "payload-OverwriteWithLatestAvroPayload",
    "payload-OverwriteNonDefaultsWithLatestAvroPayload",
    "payload-PartialUpdateAvroPayload",
    "payload-AWSDmsAvroPayload",
    "payload-PostgresDebeziumAvroPayload",
    "payload-MySqlDebeziumAvroPayload",
    "merge-custom",
    "partial-update",
    "time-travel",
    "read-optimized",
    "filter",
    "projection",
    "meta-columns",
    "virtual-keys",
    "incremental",
    "cdc",
    "log-cdc",
    "history",
    "clock",
)

_STORAGE_KEYS = "fs."


class Executor(Protocol):
    """Answers queries and leaves their rows in a folder."""

    name: str

    def open(self) -> None:
        """Get ready."""

    def close(self) -> None:
        """End what `open` began."""

    def answer(self, storage: Storage, query: AnyQuery, request: Request) -> tuple[str, tuple[SkippedBytes, ...]]:
        """Name of the rows file below the request's folder, and what was skipped."""

    def flows(self) -> Flows:
        """Who runs the tasks of writes."""


class _Refusals(AbstractContextManager["_Refusals"]):
    """Turns this package's errors into the protocol's."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HudiError):
            raise Rejected(error.reason, str(error), type(error).__name__) from error
        if isinstance(error, UnsupportedFeature):
            raise Unsupported(error.feature) from error


def adapter_of(executor: Executor, readings: Readings) -> Adapter:
    """The adapter that answers with an executor and follows readings."""
    reading = _Operations(executor, readings)
    writing = WritingOperations(executor.flows, _storage, readings)
    return Adapter(
        implementation=Implementation(executor.name, version("hudi-spark")),
        features=FEATURES,
        operations={**reading.by_name(), **{op: _refusing(run) for op, run in writing.by_name().items()}},
        on_start=executor.open,
        on_stop=executor.close,
    )


def _refusing(operation: Operation) -> Operation:
    def answer(request: Request) -> Answer:
        with _Refusals(), boundary(request.location):
            return operation(request)

    return answer


class _Operations:
    """One method for each op of the protocol."""

    def __init__(self, executor: Executor, readings: Readings) -> None:
        self._executor = executor
        self._readings = readings

    def by_name(self) -> Mapping[str, Operation]:
        return {
            "read_snapshot": self.read_snapshot,
            "read_as_of": self.read_as_of,
            "read_optimized": self.read_optimized,
            "read_unmerged": self.read_unmerged,
            "read_incremental": self.read_incremental,
            "read_changes": self.read_changes,
            "list_timeline": self.list_timeline,
            "list_file_slices": self.list_file_slices,
            "table_info": self.table_info,
            "check_table": self.check_table,
        }

    def read_snapshot(self, request: Request) -> RowsAnswer:
        return self._rows(request, Query())

    def read_as_of(self, request: Request) -> RowsAnswer:
        with _Refusals():
            instant = request.params.get("instant")
            if not isinstance(instant, str):
                raise HudiError(Reason.INSTANT_MALFORMED, "TM-001", f"{instant!r} is no instant")
            return self._rows(request, Query(as_of=instant))

    def read_optimized(self, request: Request) -> RowsAnswer:
        return self._rows(request, Query(as_of=request.params.get("as_of"), read_optimized=True))

    def read_unmerged(self, request: Request) -> RowsAnswer:
        configs = {"hoodie.datasource.merge.type": "skip_merge"}
        return self._rows(request, Query(as_of=request.params.get("as_of"), configs=configs))

    def read_incremental(self, request: Request) -> RowsAnswer:
        return self._rows(
            request, IncrementalQuery(begin=request.params.get("begin", ""), end=request.params.get("end"))
        )

    def read_changes(self, request: Request) -> RowsAnswer:
        begin, end = request.params.get("begin", ""), request.params.get("end")
        commit_time = bool(request.params.get("meta_columns", False))
        return self._answer(request, ChangesQuery(begin, end, commit_time, self._readings, _read_configs(request)))

    def list_timeline(self, request: Request) -> ValueAnswer:
        with _Refusals(), boundary(request.location):
            storage = _storage(request)
            configuration, timeline = load_table(storage)
            if request.params.get("include_history"):
                timeline = full_timeline(storage, configuration, timeline)
            return ValueAnswer([_instant_value(instant) for instant in timeline.instants])

    def list_file_slices(self, request: Request) -> ValueAnswer:
        with _Refusals(), boundary(request.location):
            snapshot = load_snapshot(_storage(request), self._readings, request.params.get("as_of"))
            return ValueAnswer([_slice_value(one) for one in snapshot.slices])

    def table_info(self, request: Request) -> ValueAnswer:
        with _Refusals(), boundary(request.location):
            return ValueAnswer(_info_value(table_info(_storage(request))))

    def check_table(self, request: Request) -> ValueAnswer:
        with _Refusals(), boundary(request.location):
            deep = bool(request.params.get("deep", False))
            found = check_table(_any_storage(request), self._executor.flows(), deep=deep)
            return ValueAnswer([asdict(one) for one in found])

    def _rows(self, request: Request, query: Query) -> RowsAnswer:
        params = request.params
        read_query = replace(
            query,
            columns=params.get("columns"),
            filter=params.get("filter"),
            meta_columns=bool(params.get("meta_columns", False)),
            readings=self._readings,
            configs={**_read_configs(request), **query.configs},
        )
        return self._answer(request, read_query)

    def _answer(self, request: Request, query: AnyQuery) -> RowsAnswer:
        with _Refusals(), boundary(request.location):
            file, skipped = self._executor.answer(_storage(request), query, request)
        return RowsAnswer(file, tuple(_warning(one) for one in skipped))


def _read_configs(request: Request) -> dict[str, str]:
    return {key: value for key, value in _configs(request).items() if not key.startswith(_STORAGE_KEYS)}


def _configs(request: Request) -> Mapping[str, str]:
    return request.params.get("configs") or request.params.get("options") or {}


def _storage(request: Request) -> Storage:
    """The storage of the table, which may be the URI of an object store; `fs.` keys say how to reach it."""
    options = {key: value for key, value in _configs(request).items() if key.startswith(_STORAGE_KEYS)}
    return table_storage(_place(request), options)


def _any_storage(request: Request) -> Storage:
    """The same for an op that takes no options but those of a storage, which may have the store's own names."""
    options = {key: value for key, value in _configs(request).items() if not key.startswith("hoodie.")}
    return table_storage(_place(request), options)


def _place(request: Request) -> str | Path:
    return request.location if "://" in request.location else request.table


def _warning(skipped: SkippedBytes) -> AnswerWarning:
    return AnswerWarning(skipped.clause, skipped.message, skipped.file, skipped.offset)


def _instant_value(instant: Instant) -> dict[str, Any]:
    return {
        "requested": instant.requested,
        "completed": instant.completed,
        "action": instant.action,
        "state": instant.state,
    }


def _slice_value(one: FileSlice) -> dict[str, Any]:
    return {
        "partition": one.partition,
        "file_id": one.file_id,
        "base_instant": one.base_instant,
        "base_file": one.base_file and one.base_file.rpartition("/")[2],
        "log_files": [path.rpartition("/")[2] for path in one.log_files],
    }


def _info_value(info: TableInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "table_version": info.version,
        "table_type": info.table_type,
        "merge_mode": info.merge_mode,
        "record_key": list(info.record_key),
        "partition_by": list(info.partition_by),
        "ordering": list(info.ordering),
        "schema": [{"name": field.name, "type": logical_type(field.type)} for field in info.schema],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until `stop`."""
    parser = argparse.ArgumentParser(prog="python -m hudi_spark_adapter", description=__doc__)
    parser.add_argument("--in-process", action="store_true", help="run the tasks in this process, without Spark")
    parser.add_argument("--reading", choices=("released", "text"), default="released")
    options = parser.parse_args(arguments)
    register_reference_mergers()
    executor: Executor = InProcess() if options.in_process else OnSpark()
    serve(adapter_of(executor, readings_named(options.reading)))
