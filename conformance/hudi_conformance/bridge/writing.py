"""The protocol's writing ops, done by the model on a table's bytes."""

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows, RowsError, read_rows
from hudi_format.avro.schemas import record_schema
from hudi_model import creation, effects, writers
from hudi_model.actions import Action, CommitMetadata, State, TimelineEntry
from hudi_model.effects import timeline_folder
from hudi_model.evolution import written_schema
from hudi_model.files import Record, Schema
from hudi_model.filters import check_filter, matches
from hudi_model.origins import refuse_to_write
from hudi_model.partitions import own_path, record_key
from hudi_model.queries import Selection, read_snapshot
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.requests import Operation, Request, Write, switch
from hudi_model.schemas import table_schema
from hudi_model.tables import RELEASED, Readings, Table, open_table, view_at
from hudi_model.tagging import index_kind, known_rows, place_of
from hudi_model.time import InstantTime, instant_of
from hudi_model_tools import recovery

from hudi_conformance.bridge.clock import Clock
from hudi_conformance.bridge.loading import load
from hudi_conformance.bridge.performing import Site, perform
from hudi_conformance.bridge.schemas import column_of, model_schema
from hudi_conformance.bridge.services import AFTER_WRITES, SERVICES, Call, execute_plan, schedule_plan, waiting_plans
from hudi_conformance.bridge.storing import store

Params = Mapping[str, Any]
Value = dict[str, Any]
_KEEPS_METADATA = "hoodie.metadata.enable"
_LISTS = {"record_key": "recordkey", "partition_by": "partition", "ordering": "ordering"}


@dataclass(slots=True)
class Session:
    """The writes of one adapter process: those that have begun and wait for their next phase.

    `makes_metadata_tables`: writes make those that their settings request; else they keep what an indexing has made.
    """

    open_writes: dict[tuple[Path, str], Write] = field(default_factory=dict)
    readings: Readings = RELEASED
    makes_metadata_tables: bool = False
    warnings: tuple[tuple[str, str], ...] = ()
    """What the last op says beside its value: clause and message."""

    def run(self, op: str, path: Path, params: Params) -> Any:
        """The value that a writing op answers.

        Raises:
            Rejection: the request or the table breaks a rule, or the write conflicts.
            Unsupported: the model does not write this.

        """
        self.warnings = ()
        if op != "create_table":
            refuse_to_write(load(path))
        value = OPERATIONS[op](self, path, params)
        if op == "service" and params.get("name") == "recover":
            self.warnings = tuple(("SR-011", message) for message in recovery.unknown())
        return value

    def opened(self, path: Path, params: Params) -> Write:
        """The write that a name stands for.

        Raises:
            Rejection: CONFIG_INVALID where nothing of that name has begun.

        """
        key = (path, str(params.get("txn")))
        if key not in self.open_writes:
            raise Rejection(Reason.CONFIG_INVALID, "OW-001", "txn", f"no write {key[1]!r} has begun")
        return self.open_writes[key]


def create_table(_session: Session, path: Path, params: Params) -> Value:
    """A new table below a folder that holds none."""
    if load(path).properties is not None:
        raise Rejection(Reason.CONFIG_INVALID, "OW-032", str(path.name), "there is a table already")
    avro = params["schema"]
    text = avro if isinstance(avro, str) else json.dumps(avro)
    stated = {str(key): str(value) for key, value in (params.get("properties") or {}).items()}
    lists = {f"hoodie.table.{name}.fields": ",".join(params.get(key) or ()) for key, name in _LISTS.items()}
    named = {
        "hoodie.table.name": str(params["name"]),
        "hoodie.table.type": str(params["table_type"]),
        "hoodie.table.version": str(params["table_version"]),
        "hoodie.table.create.schema": text,
        **({"hoodie.record.merge.mode": str(params["merge_mode"])} if params.get("merge_mode") else {}),
        **{key: value for key, value in lists.items() if value},
    }
    store(creation.create_table({**stated, **named}, model_schema(record_schema(text, "schema"))), path)
    return {}


def write(session: Session, path: Path, params: Params) -> Value:
    """A write from beginning to end."""
    whole = {**params, "txn": "write"}
    refuse_both(settings_of(params))
    table = load(path)
    request = request_of(table, params, makes_metadata_table=session.makes_metadata_tables)
    missing = writers.missing_partitions(table, request)
    session.warnings = tuple(("OW-018", f"there is no partition {name!r}") for name in missing)
    if writers.has_nothing_to_do(table, request):
        return dict.fromkeys(("requested", "completed", "action"))
    begin_write(session, path, whole)
    stage_write(session, path, whole)
    written = commit_write(session, path, whole)
    serve(session, path, params)
    return written


def refuse_both(settings: Mapping[str, str]) -> None:
    """Nothing, unless a writer is to carry a service out and only to plan it (CP-015)."""
    for both in AFTER_WRITES.values():
        if all(switched_on(settings, name) for name in both):
            raise Rejection(Reason.CONFIG_INVALID, "CP-015", both[0], f"{both[1]} is true as well")


def serve(session: Session, path: Path, params: Params) -> None:
    """The services that a write's settings request, after it: plans that wait first, then what is due.

    Clauses: AR-001, CL-008, CN-012, CP-008, CP-015.
    """
    settings = settings_of(params)
    for name, (runs, plans) in AFTER_WRITES.items():
        carries_out = switched_on(settings, runs)
        if carries_out and name == "archive":
            service(session, path, {**params, "name": name})
        elif carries_out or switched_on(settings, plans):
            serve_planned(session, path, {**params, "service": name}, carries_out=carries_out)


def serve_planned(session: Session, path: Path, params: Params, *, carries_out: bool) -> None:
    """A service that plans first, after a write; only its plan, unless one waits, where it is not carried out."""
    name, table = str(params["service"]), load(path)
    if name == "compaction" and not open_table(table).configuration.merge_on_read:
        return
    waiting = waiting_plans(name, table)
    if not carries_out:
        if not waiting:
            schedule(session, path, params)
        return
    for requested in waiting:
        execute(session, path, {**params, "requested": requested})
    planned = schedule(session, path, params)["requested"]
    if planned:
        execute(session, path, {**params, "requested": planned})


def switched_on(settings: Mapping[str, str], name: str) -> bool:
    """Whether a setting requests something; what is absent requests nothing here."""
    return settings.get(name, "").lower() == "true"


def begin_write(session: Session, path: Path, params: Params) -> Value:
    """The first phase: a time, and the requested file."""
    clock, table = Clock(params), without_metadata_table(path, load(path), params)
    request = request_of(table, params, makes_metadata_table=session.makes_metadata_tables)
    started, started_write = writers.begin(table, request, clock.next(table))
    perform(table, started_write, Site(path, request.schema or Schema(()), started.requested))
    session.open_writes[path, str(params.get("txn"))] = started
    return {"requested": started.requested}


def stage_write(session: Session, path: Path, params: Params) -> Value:
    """The second phase: the inflight file, markers and data files. A write that is refused is given up."""
    started, table = session.opened(path, params), load(path)
    with given_up_if_refused(session, path, params):
        staged, files = writers.stage(table, started)
    schema = staged.metadata.schema if staged.metadata else None
    perform(table, files, Site(path, schema or Schema(()), started.requested))
    session.open_writes[path, str(params.get("txn"))] = staged
    return {"requested": staged.requested}


def commit_write(session: Session, path: Path, params: Params) -> Value:
    """The third phase: conflict checks, then the completed file. A write that is refused is given up."""
    staged, table = session.opened(path, params), load(path)
    completed = Clock(params).next(table)
    site = Site(path, Schema(()), staged.requested)
    with given_up_if_refused(session, path, params):
        perform(table, writers.commit(table, staged, completed, session.readings), site)
    del session.open_writes[path, str(params.get("txn"))]
    return answered(load(path), staged.requested)


@contextmanager
def given_up_if_refused(session: Session, path: Path, params: Params) -> Iterator[None]:
    """Nothing stays of a write that a phase refuses (OW-009)."""
    try:
        yield
    except (Rejection, Unsupported):
        abort_write(session, path, params)
        raise


def abort_write(session: Session, path: Path, params: Params) -> Value:
    """The write is given up: its files go."""
    started, table = session.opened(path, params), load(path)
    perform(table, writers.abort(table, started), Site(path, Schema(()), started.requested))
    del session.open_writes[path, str(params.get("txn"))]
    return {"requested": started.requested}


def schedule(_session: Session, path: Path, params: Params) -> Value:
    """A plan of a table service; no instant where there is nothing to do."""
    table = without_metadata_table(path, load(path), params)
    requested = Clock(params).next(table)
    planned = schedule_plan(str(params["service"]), table, requested, settings_of(params))
    perform(table, planned, Site(path, latest_schema(table), requested))
    return {"requested": requested if planned else None}


def execute(_session: Session, path: Path, params: Params) -> Value:
    """A plan, carried out."""
    table = without_metadata_table(path, load(path), params)
    requested = InstantTime(str(params["requested"]))
    done = execute_plan(table, requested, Clock(params).next(table))
    perform(table, done, Site(path, columns_of(done) or latest_schema(table), requested))
    return answered(load(path), requested)


def columns_of(done: effects.Effects) -> Schema | None:
    """The columns that a service states: those it was planned with, whatever an alteration made of them since."""
    contents = (one.entry.content for one in done if isinstance(one, effects.CreateInstant))
    return next((one.schema for one in contents if isinstance(one, CommitMetadata) and one.schema), None)


def service(_session: Session, path: Path, params: Params) -> Value:
    """A service that plans and runs in one."""
    name = str(params["name"])
    if name not in SERVICES:
        raise Unsupported(f"service-{name}")
    table = without_metadata_table(path, load(path), params)
    clock = Clock(params)
    requested = clock.next(table)
    call = Call(table, params, settings_of(params), requested, clock.after(requested), put_at(path, table))
    done = SERVICES[name](call)
    perform(table, done, Site(path, latest_schema(table), requested))
    ended = last_ended(done)
    if ended is None:
        return answered(load(path), requested)
    return {"requested": ended.requested, "completed": ended.completed, "action": ended.action.value}


def last_ended(done: effects.Effects) -> TimelineEntry | None:
    """The last of several rollbacks or restores, also one that another process began; or a savepoint of a write."""
    entries = [one.entry for one in done if isinstance(one, effects.CreateInstant)]
    kinds = (Action.ROLLBACK, Action.RESTORE, Action.SAVEPOINT)
    ends = [one for one in entries if one.action in kinds and one.state is State.COMPLETED]
    return ends[-1] if ends else None


def put_at(path: Path, table: Table) -> dict[str, InstantTime]:
    """When each file of the timeline was put: its modification time."""
    folder = path / timeline_folder(open_table(table).configuration.properties)
    moments = {one.name: (folder / one.name).stat().st_mtime for one in table.timeline}
    return {name: instant_of(dt.datetime.fromtimestamp(moment, dt.timezone.utc)) for name, moment in moments.items()}


def answered(table: Table, requested: InstantTime) -> Value:
    """What became of an action, as the protocol shows it; no action where none was needed."""
    timeline = open_table(table).timeline
    for one in timeline.instants:
        if one.requested == requested and one.state is State.COMPLETED:
            return {"requested": requested, "completed": one.completed, "action": one.action.value}
    return {"requested": None, "completed": None, "action": None}


def latest_schema(table: Table) -> Schema:
    """The table's own columns."""
    return table_schema(view_at(open_table(table), None, RELEASED))


def without_metadata_table(path: Path, table: Table, params: Params) -> Table:
    """The table without its metadata table, which a writer that does not keep it must drop.

    Clauses: MT-001.
    """
    if is_kept(params):
        return table
    if not isinstance(table.properties, Mapping) or not (path / ".hoodie/metadata").exists():
        return table
    kept = {
        key: value for key, value in table.properties.items() if not key.startswith("hoodie.table.metadata.partitions")
    }
    dropped = (effects.PutProperties(kept), effects.CommitMetadataTable(None))
    return perform(table, dropped, Site(path, Schema(()), Clock(params).next(table)))


def is_kept(params: Params) -> bool:
    """Whether who asks keeps a metadata table."""
    return str((params.get("configs") or {}).get(_KEEPS_METADATA)).lower() == "true"


def settings_of(params: Params) -> dict[str, str]:
    """The keys of a request."""
    given = {**(params.get("options") or {}), **(params.get("configs") or {})}
    return {str(key): str(value).lower() if isinstance(value, bool) else str(value) for key, value in given.items()}


def request_of(table: Table, params: Params, *, makes_metadata_table: bool = False) -> Request:
    """What a write requests.

    Raises:
        Rejection: CONFIG_INVALID for an unknown operation or an input that cannot be read.

    """
    name = params.get("operation")
    if name not in {one.value for one in Operation}:
        raise Rejection(Reason.CONFIG_INVALID, "OW-001", "operation", f"{name!r} is no operation")
    operation = Operation(str(name))
    rows = input_rows(table, params)
    own = latest_schema(table)
    keeps = operation in (Operation.DELETE, Operation.DELETE_PARTITION)
    # What rows leave out is null in them (DM-005), which a merger sees; of a partial update, it is nothing.
    is_whole = not keeps and operation is not Operation.PARTIAL_UPDATE
    nulls = dict.fromkeys(one.name for one in own.fields) if is_whole else {}
    partitions, settings = tuple(map(str, params.get("partitions") or ())), settings_of(params)
    records = tuple(Record({**nulls, **row}) for row in rows.mappings())
    records = of_new_keys(table, records, settings) if operation is Operation.INSERT else records
    if not makes_metadata_table:
        settings.pop(_KEEPS_METADATA, None)
    given = Schema(tuple(column_of(name, kind) for name, kind in rows.schema))
    schema = own if keeps or not rows.schema else grown(table, own, given, settings, operation)
    return Request(operation, records, partitions, schema, settings)


_DROPS, _POLICY = "hoodie.datasource.write.insert.drop.duplicates", "hoodie.datasource.insert.dup.policy"


def of_new_keys(table: Table, rows: tuple[Record, ...], settings: Mapping[str, str]) -> tuple[Record, ...]:
    """The rows that an insert is to write: all, or those whose keys no row of the table has.

    Raises:
        Rejection: CONFIG_INVALID where the others are to be refused.

    """
    policy = "drop" if settings.get(_DROPS, "").lower() == "true" else settings.get(_POLICY, "none").lower()
    if policy == "none":
        return rows
    view, kind = view_at(open_table(table), None, RELEASED), index_kind(settings)
    made = view.configuration
    if not made.record_key:
        return rows
    held = {place for place, found in known_rows(view, kind).items() if any(row is not None for _, row in found)}
    new = tuple(row for row in rows if place_of(own_path(row, made), record_key(row, made), kind) not in held)
    if policy == "fail" and len(new) < len(rows):
        raise Rejection(Reason.CONFIG_INVALID, "DM-001", "a row to write", "the table has a row of its key")
    return new


_FILLING = "hoodie.write.set.null.for.missing.columns"


def grown(table: Table, own: Schema, given: Schema, settings: Mapping[str, str], operation: Operation) -> Schema:
    """The columns after a write of rows with the given ones; only partial updates leave some out without a request."""
    evolves = switch(settings, "hoodie.schema.on.read.enable")
    fills = operation is Operation.PARTIAL_UPDATE or settings.get(_FILLING) == "true"
    return written_schema(open_table(table).configuration, own, given, evolves=evolves, fills=fills)


def input_rows(table: Table, params: Params) -> Rows:
    """The rows of a request: those of its file, or those of the table that its filter picks."""
    if params.get("input"):
        try:
            return read_rows(Path(str(params["input"])))
        except (RowsError, OSError) as error:
            raise Rejection(Reason.CONFIG_INVALID, "OW-001", "input", str(error)) from error
    if params.get("filter") is None:
        return Rows((), ())
    # Where no column says what a row's key is, the row brings the key that it has.
    found = read_snapshot(table, selection=Selection(meta_columns=not open_table(table).configuration.record_key))
    check_filter(params["filter"], found.schema)
    schema = tuple((one.name, one.type) for one in found.schema.fields)
    picked = [row for row in found.rows if matches(params["filter"], row, found.schema)]
    return Rows(schema, tuple(tuple(row[name] for name, _ in schema) for row in picked))


OPERATIONS: Mapping[str, Callable[[Session, Path, Params], Value]] = {
    "create_table": create_table,
    "write": write,
    "begin_write": begin_write,
    "stage_write": stage_write,
    "commit_write": commit_write,
    "abort_write": abort_write,
    "schedule": schedule,
    "execute": execute,
    "service": service,
}
