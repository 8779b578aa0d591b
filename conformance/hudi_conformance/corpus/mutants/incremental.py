"""Rules of incremental queries, broken."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hudi_model.files import BaseFile, FileSlice, Record, Schema, Value
from hudi_model.incremental import TimeRange, slice_within
from hudi_model.reading import read_slice
from hudi_model.rejection import Rejection
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import OpenTable, Reading, Readings, Table, View
from hudi_model.time import InstantTime

from hudi_conformance.corpus.mutants.registry import Function, mutant

Slices = tuple[FileSlice, ...]


@mutant("range-begin-inclusive", "IN-002", "The begin of a range belongs to it.", "incremental.is_within_range")
def _begin_inclusive(original: Function) -> Function:
    return lambda time_range, time: time == time_range.begin or original(time_range, time)


@mutant("range-end-exclusive", "IN-002", "The end of a range does not belong to it.", "incremental.is_within_range")
def _end_exclusive(original: Function) -> Function:
    return lambda time_range, time: time != time_range.end and original(time_range, time)


@mutant("range-begin-ignored", "IN-002", "A range begins before everything.", "incremental.is_within_range")
def _begin_ignored(original: Function) -> Function:
    return lambda time_range, time: original(replace(time_range, begin=None), time)


@mutant("range-by-requested-time", "IN-003 TL-013", "Completion times are not looked at.", "timeline.completion")
def _by_requested_time(_: Function) -> Function:
    return lambda instant: instant.requested


@mutant(
    "later-rows-compete",
    "IN-003 IN-004",
    "What is written after the end of a range takes part in its merges.",
    "incremental.view_at_end",
)
def _later_rows_compete(original: Function) -> Function:
    def unlimited(opened: OpenTable, _end: InstantTime | None, readings: Readings) -> View:
        found: View = original(opened, None, readings)
        return found

    return unlimited


@mutant("incremental-unmerged", "IN-001", "Every version of the range is answered.", "incremental.slices_of_range")
def _unmerged(original: Function) -> Function:
    def apart(*question: Any) -> Slices:
        found: Slices = original(*question)
        bases = tuple(replace(one, log_files=()) for one in found if one.base_file)
        return (*bases, *(replace(one, base_file=None, log_files=(log,)) for one in found for log in one.log_files))

    return apart


@mutant("incremental-one-log", "IN-001", "Of the logs of a group one is read.", "incremental.slices_of_range")
def _one_log(original: Function) -> Function:
    def shortened(*question: Any) -> Slices:
        return tuple(replace(one, log_files=one.log_files[:1]) for one in original(*question))

    return shortened


@mutant(
    "ranges-by-commit-time-alone",
    "IN-001",
    "A row changed at its commit time, and at no other time.",
    "incremental.earlier_rows",
)
def _ranges_by_commit_time_alone(original: Function) -> Function:
    def unknown(*question: Any) -> None:
        original(*question)

    return unknown


@mutant(
    "one-row-a-key-before",
    "IN-001",
    "Of several rows that a key had before the range one is known.",
    "incremental.earlier_rows",
)
def _one_row_a_key_before(original: Function) -> Function:
    def one_each(*question: Any) -> frozenset[Any] | None:
        rows: frozenset[Any] | None = original(*question)
        return rows and frozenset({row[0]: row for row in sorted(rows, key=repr)}.values())

    return one_each


@mutant(
    "released-rows-alone",
    "IN-001 IN-004",
    "What the range brought competes alone, whatever became of the rows.",
    "incremental.rows_of_range",
)
def _released_rows_alone(original: Function) -> Function:
    def alone(
        view: View, found: FileSlice, time_range: TimeRange, counts: Callable[[Value], bool], schema: Schema
    ) -> tuple[Record, ...]:
        if view.readings.incremental_merge is Reading.TEXT:
            whole: tuple[Record, ...] = original(view, found, time_range, counts, schema)
            return whole
        rows = read_slice(view, slice_within(found, counts), schema)
        return tuple(row for row in rows if counts(row.values.get("_hoodie_commit_time")))

    return alone


@mutant(
    "range-has-columns-of-its-end",
    "IN-009",
    "A range has the columns as of its end, whatever is requested.",
    "incremental.read_incremental",
)
def _range_has_columns_of_its_end(original: Function) -> Function:
    return lambda *args, **kwargs: original(*args, **{**kwargs, "columns_of_end": True})


@mutant(
    "range-has-the-newest-columns",
    "IN-009",
    "A range has the columns of the newest commit, whatever is requested.",
    "incremental.read_incremental",
)
def _range_has_the_newest_columns(original: Function) -> Function:
    return lambda *args, **kwargs: original(*args, **{**kwargs, "columns_of_end": False})


@mutant(
    "clustered-rows-are-new",
    "IN-001 IN-005",
    "A group is compared with itself alone, not with those that were clustered into it.",
    "incremental.origins_within",
)
def _clustered_rows_are_new(_: Function) -> Function:
    return lambda _view, group, _range: frozenset({group})


@mutant(
    "rewritten-rows-are-new",
    "IN-005",
    "A row belongs to the write of the file that holds it.",
    "tables.open_table",
)
def _rewritten_rows_are_new(original: Function) -> Function:
    def renamed(file: BaseFile) -> BaseFile:
        rows = file.records if isinstance(file.records, tuple) else ()
        return replace(file, records=tuple(Record({**row.values, "_hoodie_commit_time": file.instant}) for row in rows))

    def opened(table: Table) -> OpenTable:
        found: OpenTable = original(replace(table, base_files=tuple(map(renamed, table.base_files))))
        return found

    return opened


@mutant("commit-times-not-needed", "IN-006", "Rows without commit time are no obstacle.", "incremental.open_range")
def _commit_times_not_needed(original: Function) -> Function:
    def trusting(table: Table, *bounds: Any) -> Any:
        properties: Any = table.properties
        return original(replace(table, properties={**properties, "hoodie.populate.meta.fields": "true"}), *bounds)

    return trusting


@mutant(
    "range-answered-in-part",
    "IN-007 CD-006",
    "Where files of the range are gone, those that are left are read.",
    "queries.validated_snapshot",
)
def _answered_in_part(original: Function) -> Function:
    def partly(view: View, *only: Any) -> Slices:
        try:
            found: Slices = original(view, *only)
        except Rejection:
            return snapshot_slices(view)
        return found

    return partly


@mutant(
    "archived-range-answered",
    "CD-006",
    "That writes of a range have left the active timeline is not noticed.",
    "incremental.refuse_archived",
)
def _archived_range_answered(_: Function) -> Function:
    return lambda _opened, _range: None


@mutant(
    "bounds-are-any-text", "IN-002 TM-001", "A bound that is no instant is compared as text.", "queries.query_instant"
)
def _bounds_are_any_text(original: Function) -> Function:
    def lenient(text: str) -> InstantTime:
        try:
            found: InstantTime = original(text)
        except Rejection:
            return InstantTime(text)
        return found

    return lenient
