"""The questions a table answers, shaped as the adapter protocol has them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hudi_model.actions import Action
from hudi_model.blocks import blocks_of
from hudi_model.files import META_FIELDS, CorruptBlock, Field, FileSlice, GroupId, Record, Schema, Value
from hudi_model.filters import check_filter, matches
from hudi_model.history import full_timeline, unarchived
from hudi_model.merge_modes import merge_mode
from hudi_model.reading import read_slice, unmerged_rows
from hudi_model.rejection import Reason, Rejection
from hudi_model.retention import refuse_lost_timeline, refuse_missing, refuse_missing_logs, refuse_unretained
from hudi_model.schemas import table_schema
from hudi_model.slicing import group_of, path_of, present_groups, snapshot_slices
from hudi_model.tables import RELEASED, OpenTable, Reading, Readings, Table, View, is_within, open_table, view_at
from hudi_model.time import BOOTSTRAPS, MILLISECONDS_DIGITS, SECONDS_DIGITS, InstantTime, is_instant, moment_of, widen
from hudi_model.timeline import Timeline, completed_actions

META_SCHEMA = tuple(Field(name, "string") for name in META_FIELDS)

CHOICE_OF_CLAUSE = {
    "RD-007": "log_order",
    "RD-010": "time_travel",
    "MG-010": "mode_override",
    "MG-013": "delete_without_ordering",
    "IN-004": "incremental_merge",
    "PL-002": "overwriting_precombine",
    "SR-008": "saved_travel",
    "OW-035": "concurrent_overwrites",
}
"""Which choice each clause with two readings governs."""


def with_reading(readings: Readings, clause: str, reading: Reading) -> Readings:
    """The same readings with one clause read as given; clauses with one reading change nothing."""
    choice = CHOICE_OF_CLAUSE.get(clause)
    return replace(readings, **{choice: Reading(reading)}) if choice else readings


def query_instant(text: str) -> InstantTime:
    """The instant that a question names, in 17 digits; 14 digits name the last millisecond of their second.

    Raises: INSTANT_MALFORMED where it is neither, or no moment of the calendar, and not that of a bootstrap.

    Clauses: TM-001, TM-002, BF-012.
    """
    if text in BOOTSTRAPS:
        return widen(InstantTime(text))
    if is_instant(text) and len(text) in (SECONDS_DIGITS, MILLISECONDS_DIGITS):
        moment_of(InstantTime(text))
        return widen(InstantTime(text))
    raise Rejection(Reason.INSTANT_MALFORMED, "TM-001", "as_of", f"{text!r} is not 14 or 17 digits")


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the protocol's word
    """Something a reader skipped as the format says, and must tell of."""

    clause: str
    file: str
    offset: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, the columns they have, and what was skipped on the way."""

    schema: Schema
    rows: tuple[Mapping[str, Value], ...]
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """Which columns and which rows a question wants; `unmerged`: every version of a row that files hold."""

    columns: Sequence[str] | None = None
    filter: Any = None
    meta_columns: bool = False
    unmerged: bool = False


ALL = Selection()


def read_snapshot(table: Table, readings: Readings = RELEASED, selection: Selection = ALL) -> Answer:
    """The rows of a table in its latest state.

    Raises: every reason of a table that cannot be opened or read.

    Clauses: TT-003, RD-001.
    """
    view = view_at(open_table(table), None, readings)
    return answer(view, validated_snapshot(view), selection)


def read_as_of(table: Table, instant: InstantTime, readings: Readings = RELEASED, selection: Selection = ALL) -> Answer:
    """The rows of a table as of an instant: by requested time as released, by completion time in the text.

    Raises: INSTANT_MALFORMED, RANGE_NOT_RETAINED, and every reason of a snapshot.

    Clauses: TT-003, RD-010, RD-014.
    """
    view = view_as_of(open_table(table), instant, readings)
    return answer(view, validated_snapshot(view), selection)


def read_optimized(
    table: Table, as_of: InstantTime | None = None, readings: Readings = RELEASED, selection: Selection = ALL
) -> Answer:
    """The rows of a table's base files, without what its logs change.

    Raises: as for a snapshot.

    Clauses: TT-003, RD-009, RD-015.
    """
    view = view_as_of(open_table(table), as_of, readings)
    return answer(view, valid_slices(view, optimized_slices(view)), selection)


def view_as_of(opened: OpenTable, as_of: InstantTime | None, readings: Readings) -> View:
    """The state that a question means; the latest where it names no instant.

    Raises: INSTANT_MALFORMED, RANGE_NOT_RETAINED, TIMELINE_FILE_CORRUPT.

    Clauses: RD-010, RD-014, AR-001.
    """
    if as_of is None:
        return view_at(opened, None, readings)
    read_time, opened = query_instant(as_of), unarchived(opened)
    if readings.saved_travel is Reading.RELEASED or not is_saved(opened.timeline, read_time):
        refuse_unretained(opened.timeline, read_time)
    return view_at(opened, read_time, readings)


def is_saved(timeline: Timeline, instant: InstantTime) -> bool:
    """Whether a savepoint keeps the write of an instant.

    Clauses: SR-002, SR-008.
    """
    return any(widen(one.requested) == widen(instant) for one in completed_actions(timeline, Action.SAVEPOINT))


def validated_snapshot(view: View, only: Collection[GroupId] | None = None) -> tuple[FileSlice, ...]:
    """The slices that a snapshot reads, of all file groups or of some, all of whose files are there.

    Raises: as `valid_slices`, and LOG_FILE_MISSING.

    Clauses: RD-018.
    """
    found = snapshot_slices(view)
    slices = valid_slices(view, tuple(one for one in found if only is None or group_of(one) in only), only)
    refuse_missing_logs(view, slices, only)
    return slices


def valid_slices(
    view: View, slices: tuple[FileSlice, ...], only: Collection[GroupId] | None = None
) -> tuple[FileSlice, ...]:
    """The slices to read, of all file groups or of some, all of whose base files are there.

    Raises: BASE_FILE_MISSING, RANGE_NOT_RETAINED; TIMELINE_FILE_CORRUPT where the whole timeline is gone.

    Clauses: RD-011, TL-022.
    """
    refuse_lost_timeline(view)
    refuse_missing(view, slices, only)
    return slices


def optimized_slices(view: View) -> tuple[FileSlice, ...]:
    """The newest committed base file of each file group that is not replaced, and no logs.

    Clauses: RD-009, RD-015.
    """
    found = (one for group in present_groups(view) for one in group.slices if one.base_file)
    newest = {group_of(one): one for one in found if is_within(view, one.base_instant)}
    return tuple(replace(one, log_files=()) for one in newest.values())


def answer(view: View, slices: tuple[FileSlice, ...], selection: Selection) -> Answer:
    """The rows of slices, chosen and cut after the winners are known, and a warning for each corrupt block.

    Raises: CONFIG_INVALID for a column that does not exist, and every reason of the files read.

    Clauses: RD-012, RD-013, RD-019, MF-002.
    """
    schema, read = table_schema(view), unmerged_rows if selection.unmerged else read_slice
    rows = (row for found in slices for row in read(view, found, schema))
    return select(schema, rows, selection, tuple(warning for found in slices for warning in warnings_of(found)))


def select(schema: Schema, records: Iterable[Record], selection: Selection, warnings: tuple[Warning, ...]) -> Answer:
    """The answer that has the wanted columns of the wanted rows, of a table whose own columns are those of the schema.

    Raises: CONFIG_INVALID for a column that does not exist.

    Clauses: RD-012, MF-002.
    """
    stored = Schema((*META_SCHEMA, *schema.fields))
    chosen = chosen_schema(stored, schema, selection)
    if selection.filter is not None:
        check_filter(selection.filter, stored)
    rows = []
    for record in records:
        row = {field.name: record.values.get(field.name) for field in stored.fields}
        if selection.filter is None or matches(selection.filter, row, stored):
            rows.append({field.name: row[field.name] for field in chosen.fields})
    return Answer(chosen, tuple(rows), warnings)


def chosen_schema(stored: Schema, schema: Schema, selection: Selection) -> Schema:
    """The columns of an answer: all of the table's, or those requested; meta fields only when requested.

    Raises: CONFIG_INVALID for a column that does not exist, or is requested twice.

    Clauses: MF-002.
    """
    known = {field.name: field for field in stored.fields}
    usual = [field.name for field in schema.fields if selection.meta_columns or not is_own_column(field.name)]
    selected = usual if selection.columns is None else list(selection.columns)
    for name in selected:
        if name not in known or selected.count(name) > 1:
            detail = f"column {name!r} is " + ("requested twice" if name in known else "not in the table")
            raise Rejection(Reason.CONFIG_INVALID, "RD-012", "columns", detail)
    meta = [name for name in META_FIELDS if selection.meta_columns and name not in selected]
    return Schema(tuple(known[name] for name in (*meta, *selected)))


def is_own_column(name: str) -> bool:
    """Whether a column is Hudi's own by its name: the meta fields, and the flag of a soft delete.

    Clauses: MF-002.
    """
    return name.startswith("_hoodie_")


def warnings_of(found: FileSlice) -> tuple[Warning, ...]:
    """What a reader of this slice skips: bytes of its logs that are no block.

    Raises: what the damage of a log says.

    Clauses: RD-013.
    """
    skipped = ((log, one) for log in found.log_files for one in blocks_of(log) if isinstance(one, CorruptBlock))
    return tuple(
        Warning("LF-010", path_of(log), one.offset, f"{one.length} bytes are no block") for log, one in skipped
    )


def list_timeline(table: Table, *, include_history: bool = False) -> list[dict[str, str | None]]:
    """Each action in its current state, by requested time; the archived ones too where requested.

    Raises: every reason of a table that cannot be opened.

    Clauses: TL-004, TL-006, HS-008.
    """
    listed = full_timeline(table) if include_history else open_table(table).timeline.instants
    return [
        {"requested": one.requested, "completed": one.completed, "action": one.action.value, "state": one.state.name}
        for one in listed
    ]


def list_file_slices(
    table: Table, as_of: InstantTime | None = None, readings: Readings = RELEASED
) -> list[dict[str, Any]]:
    """The slices that a snapshot reads, with their logs in merge order.

    Raises: as for a snapshot, what the files hold left aside.

    Clauses: RD-004, RD-007, RD-008.
    """
    view = view_as_of(open_table(table), as_of, readings)
    return [
        {
            "partition": one.partition,
            "file_id": one.file_id,
            "base_instant": one.base_instant,
            "base_file": one.base_file.name if one.base_file else None,
            "log_files": [log.name for log in one.log_files],
        }
        for one in validated_snapshot(view)
    ]


def table_info(table: Table) -> dict[str, Any]:
    """What a table is: version, type, merge mode, its key, partition and ordering fields, its columns.

    Raises: every reason of a table that cannot be opened.

    Clauses: PR-002, PR-006, MG-001, DM-003.
    """
    opened = open_table(table)
    configuration = opened.configuration
    schema = table_schema(view_at(opened, None, RELEASED))
    return {
        "name": configuration.name,
        "table_version": configuration.rules.version,
        "table_type": configuration.table_type,
        "merge_mode": merge_mode(configuration).value,
        "record_key": list(configuration.record_key),
        "partition_by": list(configuration.partition_by),
        "ordering": list(configuration.ordering),
        "schema": [{"name": field.name, "type": field.type} for field in schema.fields],
    }
