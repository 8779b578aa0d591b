"""Change data capture: the three logging modes, what is derived, and what can no longer be derived."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hudi_model.actions import CommitMetadata, State, WriteStat
from hudi_model.configuration import DRAFT
from hudi_model.files import CdcBlock, CdcRecord, Field, LogFile, Record, Schema
from hudi_model.time import InstantTime

from hudi_conformance.bridge.file_names import log_file_name, native_log_name
from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.layout import Layout, copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import KEYS, Row, rides, second
from hudi_conformance.corpus.golden.writer import Written, data_path

_SCHEMA = Schema((Field("id", "string"), Field("city", "string"), Field("ts", "int64"), Field("rider", "string")))
_FEATURES = ("cdc", "log-cdc")
_TOKEN = "0-1-0"  # noqa: S105 - a write token
Rows = dict[Group, dict[str, Record]]


def _feed(
    mode: str, layout: Callable[..., Layout] = copy_on_write, version: int = 9, *, filling: bool = False
) -> Layout:
    properties = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    if filling:
        properties["hoodie.table.partial.update.mode"] = "IGNORE_DEFAULTS"
    return layout(version, schema=_SCHEMA, properties=properties)


def _short(ts: int, keys: Sequence[str], **changes: str | None) -> list[Row]:
    """Rides without the columns that the change query of Apache Hudi does not render."""
    return [{field.name: row[field.name] for field in _SCHEMA.fields} for row in rides(ts, keys, **changes)]


def _copied(table: GoldenTable) -> Rows:
    return {group: dict(rows) for group, rows in table.rows.items()}


def _log(table: GoldenTable, at: InstantTime, before: Rows, written: Written) -> None:
    """Beside each base file that replaces another a log of its changes, named by the file's write stat."""
    logs: dict[str, str] = {}
    for file in written.base_files:
        group = Group(file.partition, file.file_id)
        changes = tuple(_changes(at, before[group], table.rows[group])) if group in before else ()
        if changes:
            name, kind = log_file_name(file.file_id, at, 1, _TOKEN, cdc=True), ""
            if table.version >= DRAFT:
                name, kind = native_log_name(file.file_id, at, 1, _TOKEN, "cdc"), "cdc"
            block, place = CdcBlock(at, changes), (file.partition, file.file_id, at, 1, _TOKEN)
            log = LogFile(*place, cdc=True, name=name, blocks=(block,), native=kind)
            table.log_files.append(log)
            logs[data_path(file)] = data_path(log)
    _amend(table, at, lambda stat: replace(stat, change_logs=(logs[stat.path],)) if stat.path in logs else stat)


def _amend(table: GoldenTable, at: InstantTime, change: Callable[[WriteStat], WriteStat]) -> None:
    """Let the completed file of a write say something else of its files."""
    for index, entry in enumerate(table.timeline):
        if entry.requested == at and entry.state is State.COMPLETED and isinstance(entry.content, CommitMetadata):
            stats = tuple(map(change, entry.content.write_stats))
            table.timeline[index] = replace(entry, content=replace(entry.content, write_stats=stats))


def _add_slices(table: GoldenTable) -> None:
    """As tables with a change feed do: a base file's stat names the one before it, a log's stat the slice it joined."""
    for at in {entry.requested for entry in table.timeline}:
        _amend(table, at, lambda stat, at=at: _in_its_slice(table, stat, at))  # type: ignore[misc]


def _in_its_slice(table: GoldenTable, stat: WriteStat, at: InstantTime) -> WriteStat:
    group = (stat.partition, stat.file_id)
    bases = [one for one in table.base_files if (one.partition, one.file_id) == group and one.instant < at]
    newest = max(bases, key=lambda one: one.instant, default=None)
    if newest is None:
        return stat
    logs = [one for one in table.log_files if (one.partition, one.file_id) == group and not one.cdc]
    joined = tuple(one.name for one in logs if newest.instant < one.instant < at)
    is_log = ".log." in (stat.path or "")
    return replace(stat, previous_instant=newest.instant, slice_files=(newest.name, *joined) if is_log else ())


def _changes(at: InstantTime, before: dict[str, Record], after: dict[str, Record]) -> Iterator[CdcRecord]:
    for key, row in after.items():
        if key not in before or row.values["_hoodie_commit_time"] == at:
            yield CdcRecord("u" if key in before else "i", key, before.get(key), row)
    yield from (CdcRecord("d", key, row, None) for key, row in before.items() if key not in after)


def _upsert(table: GoldenTable, at: InstantTime, rows: Sequence[Row], *deleted: tuple[str, str]) -> None:
    before = _copied(table)
    _log(table, at, before, table.upsert(at, rows, deletes=dict.fromkeys(deleted, 0)))


def _history(table: GoldenTable) -> None:
    table.insert(second(1), _short(10, (*KEYS["oslo"], *KEYS["lima"])))
    _upsert(table, second(2), _short(20, ("r01", "r11", "fähre-05")))
    _upsert(table, second(3), _short(30, ("r01",)), ("lima", "r12"), ("oslo", "r03"))
    _add_slices(table)


def _add_queries(table: GoldenTable, kills: str) -> None:
    at = {number: second(number + (0 if table.version <= 6 else 0.5)) for number in range(5)}
    table.changes("0", None, "all", "a key that two writes changed stands there twice", "CD-002 CD-003 CD-008", kills)
    table.changes(
        at[2],
        None,
        "last-write",
        "an update and two deletes with the rows before them",
        "CD-002 CD-003 CD-009",
        f"range-begin-ignored {kills}",
    )
    table.changes("0", at[1], "inserts", "new files are inserts", "CD-005", "range-end-exclusive later-rows-compete")
    table.snapshot("snapshot", "change logs change no row", "LF-018 CD-010", "oldest-base-file")


@golden(
    "v9/cow_changes_key_only",
    "A change feed that logs operations and keys",
    _feed("OP_KEY_ONLY"),
    _FEATURES,
    also=(8, 10),
    titles={8: "A change feed of version 8"},
)
def key_only(table: GoldenTable) -> None:
    """Inserts, updates and deletes; logs hold no rows, both images are looked up."""
    _history(table)
    _add_queries(table, "logged-images-only before-is-after one-change-log")


@golden("v9/cow_changes_before", "A change feed that logs the rows before", _feed("DATA_BEFORE"), _FEATURES)
def data_before(table: GoldenTable) -> None:
    """Inserts, updates and deletes; logs hold the rows before, those after are looked up."""
    _history(table)
    _add_queries(table, "logged-images-only one-change-log")


@golden(
    "v9/cow_changes_both",
    "A change feed that logs both rows",
    _feed("DATA_BEFORE_AFTER"),
    _FEATURES,
    also=(6, 10),
    titles={6: "A change feed of version 6"},
    given={6: "Inserts, updates and deletes; logs hold the rows before and after, and are named after their write."},
)
def both(table: GoldenTable) -> None:
    """Inserts, updates and deletes; logs hold the rows before and after."""
    _history(table)
    _add_queries(table, "one-change-log")
    if table.version >= DRAFT:
        table.changes("0", None, "native", "change logs are files of their own", "NL-011", "native-changes-lose-images")


@golden("v9/cow_changes_replaced", "Changes of whole file groups", _feed("DATA_BEFORE_AFTER"), _FEATURES)
def replaced(table: GoldenTable) -> None:
    """One city is overwritten, a group of the other loses all its keys, then that city is dropped."""
    table.insert(second(1), _short(10, (*KEYS["oslo"], *KEYS["lima"])))
    old = [table.group("oslo", number) for number in (0, 1)]
    table.replace_groups(second(2), _short(20, ("r01", "r02")), old)
    gone = [key for number, key in enumerate(KEYS["lima"]) if number % 2 == 0]
    _upsert(table, second(3), [], *(("lima", key) for key in gone))
    left = [table.group("lima", number) for number in (0, 1)]
    table.replace_groups(second(4), [], left, operation="DELETE_PARTITION")
    _add_slices(table)
    table.changes(
        second(1.5),
        second(2.5),
        "overwritten",
        "rows of the replaced groups are deleted, those of the new one inserted",
        "CD-005",
        "deleted-rows-unreported range-begin-ignored",
    )
    table.changes(
        second(2.5),
        second(3.5),
        "emptied",
        "every row of the group is deleted",
        "CD-003",
        "one-change-log",
    )
    table.changes(
        second(3.5),
        None,
        "dropped",
        "what the emptied group and the other one still held",
        "CD-005",
        "deleted-rows-unreported",
    )


@golden(
    "v9/mor_changes",
    "Changes in logs, and a compaction that logs them again",
    _feed("DATA_BEFORE", merge_on_read),
    _FEATURES,
    also=(6, 8),
)
def in_logs(table: GoldenTable) -> None:
    """Updates, late rows and deletes in logs, a compaction with change logs, then updates, one of equal values."""
    groups = [table.group(city, number) for city in ("oslo", "lima") for number in (0, 1)]
    table.insert(second(1), _short(10, (*KEYS["oslo"], *KEYS["lima"])))
    table.upsert(second(2), [*_short(20, ("r01", "r11")), *_short(5, ("r02",), rider="late")])
    table.upsert(second(3), _short(30, ("r01",)), deletes={("lima", "r13"): 0, ("lima", "nobody"): 0})
    before = _copied(table)
    _log(table, second(4), before, table.compact(second(4), groups))
    table.upsert(second(5), [*_short(40, ("r01", "r14")), *_short(10, ("r04",))])
    _add_slices(table)
    table.changes(
        second(1.5),
        second(2.5),
        "late-row",
        "a row that lost is no change, nor are the rows beside it",
        "CD-004 CD-005",
        "copied-rows-are-changes every-change-inserts range-begin-ignored",
    )
    table.changes(
        second(2.5),
        second(3.5),
        "delete",
        "a key that was not there is not deleted",
        "CD-004 CD-005",
        "deleted-rows-unreported",
    )
    table.changes(
        second(3.5), second(4.5), "compaction", "a compaction changes nothing", "CD-007", "services-change-rows"
    )
    table.changes(
        "0",
        None,
        "all",
        "the changes of all writes, none of them twice",
        "CD-007 CD-002 CD-004",
        "services-change-rows last-write-only",
    )


@golden(
    "v9/cow_changes_archived", "Changes of writes that have left the timeline", _feed("DATA_BEFORE_AFTER"), _FEATURES
)
def archived(table: GoldenTable) -> None:
    """Of three commits the first is archived."""
    _history(table)
    table.forget(second(1))
    table.changes("0", None, "all", "part of the changes is no answer", "CD-006", "archived-range-answered")
    table.changes(second(2.5), None, "active", "the changes of the last write", "CD-006", "range-begin-ignored")


@golden("v9/cow_changes_cleaned", "Changes whose rows were cleaned", _feed("OP_KEY_ONLY"), _FEATURES, also=(6, 8))
def cleaned(table: GoldenTable) -> None:
    """The base files before the last write are gone."""
    _history(table)
    table.clean(second(4), second(3))
    table.changes(
        second(1.5), None, "cleaned", "the rows before the second write are gone", "CD-006", "range-answered-in-part"
    )


@golden(
    "v9/bad_change_log_missing", "A change log that the timeline names is gone", _feed("DATA_BEFORE_AFTER"), _FEATURES
)
def missing(table: GoldenTable) -> None:
    """One change log was deleted."""
    _history(table)
    table.damage(corruption.remove(data_path(next(log for log in table.log_files if log.cdc))))
    table.changes("0", None, "changes", "a feed with a gap is refused", "CD-003", "change-logs-ignored")
    table.snapshot("snapshot", "the rows are all there", "LF-018", "oldest-base-file")


@golden(
    "v9/cow_no_change_feed",
    "A table that keeps no change feed",
    copy_on_write(9, schema=_SCHEMA),
    ("cdc",),
    also=(6, 8),
)
def no_feed(table: GoldenTable) -> None:
    """Two commits of a table that does not enable the feed."""
    table.insert(second(1), _short(10, KEYS["oslo"]))
    table.upsert(second(2), _short(20, ("r01",)))
    table.changes("0", None, "changes", "changes are not derived for it", "CD-001", "changes-without-feed")


@golden("v9/bad_change_log_content", "A change log whose block does not decode", _feed("DATA_BEFORE"), _FEATURES)
def undecodable(table: GoldenTable) -> None:
    """The block of one change log declares another number of changes."""
    _history(table)
    log = next(log for log in table.log_files if log.cdc)
    table.damage(corruption.overwrite_content(data_path(log), 4, b"\x00\x00\x00\x09"))
    table.changes(
        "0", None, "changes", "a block that does not decode is refused", "CD-009 LF-013", "change-logs-ignored"
    )


def _filled(table: GoldenTable) -> None:
    groups = [table.group(city, number) for city in ("oslo", "lima") for number in (0, 1)]
    unset = {"rider": None}
    table.insert(second(1), _short(10, (*KEYS["oslo"], *KEYS["lima"]), rider="first"))
    table.upsert(
        second(2), [*_short(20, ("r01", "r11", "fähre-05"), **unset), *_short(20, ("r21", "r22@lima"), **unset)]
    )
    table.compact(second(3), groups)
    table.upsert(second(4), [*_short(15, ("r21", "r01"), rider="late"), *_short(30, ("r02",), **unset)])
    table.compact(second(5), groups)
    table.upsert(second(6), _short(15, ("r22@lima", "r11"), rider="late"))
    _add_slices(table)


@golden(
    "v9/mor_ranges_filled",
    "Rows that come late fill columns of those that win",
    _feed("DATA_BEFORE_AFTER", merge_on_read, filling=True),
    ("cdc", "incremental", "partial-update"),
)
def ranges_filled(table: GoldenTable) -> None:
    """New rows without rider; after a compaction late rows with one, before a second compaction and after it."""
    _filled(table)
    at = {number: second(number + 0.5) for number in range(8)}
    table.incremental(
        at[3],
        at[4],
        "filled",
        "a row that a late one filled is answered whole, under the commit time that it has; a late row alone is not",
        "IN-001 MG-023 MG-025",
        "ranges-by-commit-time-alone range-begin-ignored range-end-exclusive",
        meta_columns=True,
    )
    table.incremental(
        at[3],
        at[5],
        "filled-and-compacted",
        "a compaction within the range makes no difference",
        "IN-001 IN-005",
        "ranges-by-commit-time-alone range-begin-ignored rewritten-rows-are-new",
        meta_columns=True,
    )
    table.incremental(at[4], at[5], "compacted", "a compaction brings no rows", "IN-005 IN-001", "range-begin-ignored")
    table.incremental(
        at[5],
        None,
        "filled-in-lima",
        "what is filled shows where it is requested by the column that it has now",
        "IN-001 RD-012",
        "ranges-by-commit-time-alone",
        columns=["id", "rider"],
        filter=["rider", "=", "late"],
    )
    table.changes(
        at[3],
        at[5],
        "changes",
        "a row whose columns a late one filled is updated",
        "CD-004 CD-005",
        "changes-by-commit-time range-begin-ignored",
    )
    table.changes(
        at[5], None, "changes-in-lima", "so it is in the other city", "CD-004 CD-005", "changes-by-commit-time"
    )
