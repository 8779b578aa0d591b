"""The protocol's writing ops."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hudi_adapter.instants import normal_instant
from hudi_adapter.protocol import AnswerWarning, Operation, Request, Unsupported, ValueAnswer
from hudi_adapter.reasons import Reason
from hudi_adapter.rows import arrow_of_rows, read_rows
from hudi_format.storage import Storage
from hudi_spark.concurrency import Clock, Effects, SetClock, SystemClock, hooks_of_environment
from hudi_spark.errors import HudiError
from hudi_spark.read import Executor
from hudi_spark.readings import Readings
from hudi_spark.services.inline import InlineServices
from hudi_spark.services.recovered_files import RecoveryHints
from hudi_spark.services.table_services import TableServices
from hudi_spark.write import (
    IndexRequest,
    Outcome,
    StartedWrite,
    TableActions,
    TableDefinition,
    TableWriter,
    WriteRequest,
    changes_of,
    create_table,
)

_NOTHING = ValueAnswer({"requested": None, "completed": None, "action": None})
_ROLLBACK_SERVICES = ("rollback", "savepoint", "delete_savepoint", "restore")
_COMMON = ("service", "configs", "options", "now")

OpenStorage = Callable[[Request], Storage]


class WritingOperations:
    """One method for each op; a write in phases lives between them under the name of its transaction."""

    def __init__(self, executor: Callable[[], Executor], open_storage: OpenStorage, readings: Readings) -> None:
        self._executor = executor
        self._open_storage = open_storage
        self._readings = readings
        self._clock: Clock = SystemClock()
        # One for all requests: a number of effects counts from the start of the process.
        self._hook = hooks_of_environment()
        self._started: dict[tuple[str, str], StartedWrite] = {}

    def by_name(self) -> Mapping[str, Operation]:
        """The ops by the protocol's names."""
        return {
            "create_table": self.create_table,
            "write": self.write,
            "begin_write": self.begin_write,
            "stage_write": self.stage_write,
            "commit_write": self.commit_write,
            "abort_write": self.abort_write,
            "schedule": self.schedule,
            "execute": self.execute,
            "service": self.service,
        }

    def create_table(self, request: Request) -> ValueAnswer:
        """A new table."""
        params = request.params
        definition = _definition(params, _texts({**(params.get("properties") or {}), **_configs(params)}))
        create_table(Effects(self._open_storage(request), self._hook), definition)
        return ValueAnswer({})

    def write(self, request: Request) -> ValueAnswer:
        """A whole write."""
        return _answer(self._writer(request).write(_write_request(request)))

    def begin_write(self, request: Request) -> ValueAnswer:
        """The first phase."""
        started = self._writer(request).begin(_write_request(request))
        self._started[_name(request)] = started
        return _pending(started)

    def stage_write(self, request: Request) -> ValueAnswer:
        """The second phase."""
        started = self._of(request)
        try:
            started.stage(_write_request(request))
        except BaseException:
            del self._started[_name(request)]
            raise
        return _pending(started)

    def commit_write(self, request: Request) -> ValueAnswer:
        """The third phase."""
        started = self._of(request)
        del self._started[_name(request)]
        return _answer(started.commit())

    def abort_write(self, request: Request) -> ValueAnswer:
        """The end of a write that is not wanted any more."""
        started = self._of(request)
        del self._started[_name(request)]
        started.abort()
        return _pending(started)

    def schedule(self, request: Request) -> ValueAnswer:
        """A plan of a table service."""
        params = request.params
        rest = {key: value for key, value in params.items() if key not in _COMMON}
        requested = TableServices(self._writer(request)).schedule(
            str(params.get("service")), _hoodie_keys(params), **rest
        )
        return ValueAnswer({"requested": requested})

    def execute(self, request: Request) -> ValueAnswer:
        """A plan carried out."""
        params = request.params
        services = TableServices(self._writer(request))
        return _answer(services.execute(str(params.get("requested")), _hoodie_keys(params)))

    def service(self, request: Request) -> ValueAnswer:
        """An action that brings no rows, by name.

        `create_index`: `index`, `kind`, `columns`, `function`, `options`. `drop_index`: `index`.
        `alter_schema`: `changes`, see `evolution.altering.changes_of`. `upgrade`, `downgrade`: `to` a table version.
        `time_to_live`: old partitions go, by the options.
        `recover`: as `create_table`, the name as `table_name`, and the fields of `RecoveryHints`.
        `rollback`: `instant` or `target`, `unschedule`; without one all failed writes. `savepoint`: `instant` or none,
        `comment`. `delete_savepoint`: `instant`. `restore`: `to`, `instant` or `savepoint`, which has to be one.
        """
        params, actions = request.params, TableActions(self._writer(request))
        name, configs = str(params.get("name")), _hoodie_keys(params)
        if name == "create_index":
            return _answer(actions.create_index(_index(params), configs))
        if name == "drop_index":
            actions.drop_index(str(params.get("index") or params.get("index_name")), configs)
            return _NOTHING
        if name == "alter_schema":
            return _answer(actions.alter_schema(changes_of(params.get("changes") or ()), configs))
        if name in {"archive", "time_to_live"}:
            return _tidied(TableServices(self._writer(request)), name, configs)
        if name in {"upgrade", "downgrade", "recover"}:
            return _of_whole_table(TableServices(self._writer(request)), name, params, configs)
        if name in _ROLLBACK_SERVICES:
            return _answer(_undone(TableServices(self._writer(request)), name, params, configs))
        raise Unsupported(f"service-{name}")

    def _writer(self, request: Request) -> TableWriter:
        now = request.params.get("now")
        # One request's moment is not that of the next: heartbeats would stop.
        clock = self._clock if now is None else SetClock(normal_instant(str(now)))
        context = (self._readings, clock, self._hook)
        return TableWriter(self._open_storage(request), self._executor(), {}, *context, lifecycle=InlineServices())

    def _of(self, request: Request) -> StartedWrite:
        found = self._started.get(_name(request))
        if found is None:
            message = f"no write {request.params.get('txn')!r} is under way here"
            raise HudiError(Reason.INSTANT_NOT_FOUND, "OW-001", message, hint="begin it first")
        return found


def _undone(services: TableServices, name: str, params: Mapping[str, Any], configs: dict[str, str]) -> Outcome | None:
    """A rollback, a savepoint, the end of one, or a restore; None where there was nothing to do."""
    given = (params.get(key) for key in ("instant", "target", "requested", "to", "savepoint"))
    instant = next((str(one) for one in given if one is not None), None)
    if name == "savepoint":
        return services.savepoint(instant, str(params.get("comment") or ""), configs)
    if instant is None and name == "rollback":
        return next(reversed(services.roll_back_failed_writes(configs)), None)
    if instant is None:
        message = f"{name} needs the instant that it is of"
        raise HudiError(Reason.CONFIG_INVALID, "SR-004", message, hint="name it")
    if name == "rollback":
        return services.rollback(instant, configs, unschedule=bool(params.get("unschedule")))
    if name == "delete_savepoint":
        return services.delete_savepoint(instant, configs)
    return services.restore(instant, configs, saved=True)


def _name(request: Request) -> tuple[str, str]:
    return request.location or str(request.table), str(request.params.get("txn"))


def _write_request(request: Request) -> WriteRequest:
    params = request.params
    given = params.get("input")
    rows = None if given is None else arrow_of_rows(read_rows(Path(str(given))))
    return WriteRequest(
        operation=str(params.get("operation", "")),
        rows=rows,
        filter=params.get("filter"),
        partitions=tuple(str(one) for one in params.get("partitions") or ()),
        configs=_hoodie_keys(params),
    )


def _tidied(services: TableServices, name: str, configs: dict[str, str]) -> ValueAnswer:
    """Old actions or old partitions gone."""
    if name == "archive":
        services.archive(configs)
        return _NOTHING
    dropped = services.drop_old_partitions(None, configs)
    return _NOTHING if dropped is None else _answer(dropped)


def _of_whole_table(
    services: TableServices, name: str, params: Mapping[str, Any], configs: Mapping[str, str]
) -> ValueAnswer:
    """No action of the timeline stands for a change of the table's version."""
    if name == "recover":
        return _recovered(services, params, configs)
    version = next((params[key] for key in ("to", "table_version", "version") if params.get(key) is not None), 9)
    (services.upgrade if name == "upgrade" else services.downgrade)(int(version), configs)
    return _NOTHING


def _recovered(services: TableServices, params: Mapping[str, Any], configs: Mapping[str, str]) -> ValueAnswer:
    """The action that stands for the table; what could not be known as warnings."""
    done = services.recover(_known(params), configs)
    unknown = tuple(AnswerWarning(one.clause, one.message, one.file or None) for one in done.unknown)
    value = {"requested": done.requested, "completed": done.completed, "action": done.action, "writes": done.writes}
    return ValueAnswer(value, unknown)


def _known(params: Mapping[str, Any]) -> RecoveryHints:
    """What a request states about a lost table: as `create_table`, and what only its owner knows."""
    return RecoveryHints(
        _definition(params, _texts(params.get("properties") or {})),
        _texts(params.get("completion_times") or {}),
        tuple(params.get("committed") or ()),
        tuple(params.get("uncommitted") or ()),
        {str(name): tuple(ids) for name, ids in (params.get("replaced") or {}).items()},
        keep_duplicates=bool(params.get("keep_duplicates")),
        guess=bool(params.get("guess")),
    )


def _definition(params: Mapping[str, Any], configs: Mapping[str, str]) -> TableDefinition:
    """A table as `create_table` and `recover` are informed of it; a table to recover goes by `table_name`, too."""
    schema = params.get("schema")
    return TableDefinition(
        name=str(params.get("table_name") or ("" if params.get("name") == "recover" else params.get("name")) or ""),
        schema=json.loads(schema) if isinstance(schema, str) else schema,
        table_type=params.get("table_type"),
        table_version=params.get("table_version"),
        record_key=tuple(params.get("record_key") or ()),
        partition_by=tuple(params.get("partition_by") or ()),
        ordering=tuple(params.get("ordering") or ()),
        merge_mode=params.get("merge_mode"),
        configs=configs,
    )


def _index(params: Mapping[str, Any]) -> IndexRequest:
    return IndexRequest(
        name=str(params.get("index") or params.get("index_name") or ""),
        kind=str(params.get("kind") or params.get("index_type") or "secondary_index"),
        columns=tuple(params.get("columns") or ()),
        function=str(params.get("function") or "identity"),
        options=_texts(params.get("index_options") or {}),
    )


def _hoodie_keys(params: Mapping[str, Any]) -> dict[str, str]:
    return _texts({key: value for key, value in _configs(params).items() if not key.startswith("fs.")})


def _configs(params: Mapping[str, Any]) -> dict[str, Any]:
    return {**(params.get("options") or {}), **(params.get("configs") or {})}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(value).lower() if isinstance(value, bool) else str(value) for key, value in values.items()}


def _answer(outcome: Outcome | None) -> ValueAnswer:
    """An action, nulls where there was nothing to do; absent partitions and what failed later are warnings."""
    if outcome is None:
        return ValueAnswer(dict(_NOTHING.value))
    missing = (AnswerWarning("OW-018", f"there is no partition {name!r}") for name in outcome.missing_partitions)
    failures = (AnswerWarning("OW-010", f"{one.reason}: {one}") for one in outcome.failures)
    return ValueAnswer({name: getattr(outcome, name) or None for name in _NOTHING.value}, (*missing, *failures))


def _pending(started: StartedWrite) -> ValueAnswer:
    return ValueAnswer({"requested": started.requested, "completed": None, "action": started.action})
