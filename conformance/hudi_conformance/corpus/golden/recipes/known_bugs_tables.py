"""Tables on which documented defects of real implementations show; see specs/known-bugs.toml. Timeline to columns."""

from dataclasses import dataclass, replace
from typing import Any, Final

from hudi_model.actions import Action, CommitMetadata
from hudi_model.files import CdcBlock, CdcRecord, Field, LogFile, Schema
from hudi_model.tables import HashRing
from hudi_model.tagging import GREATEST_HASH, first_ring, group_of_hash, ring_hash
from hudi_model.time import InstantTime

from hudi_conformance.bridge.file_names import log_file_name
from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.layout import Layout, copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import KEYS, RIDES, Row, fleet, rides, second
from hudi_conformance.corpus.golden.usual import check
from hudi_conformance.corpus.golden.writer import data_path

_TOKEN = "0-1-0"  # noqa: S105 - a write token
_BROKEN = b"hoodie.table.name=other\nhoodie.table.checksum=1\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=9\n"


# Timeline


@golden("v9/mor_never_archived", "A table that has no history", merge_on_read(9), ("history",), also=(6,))
def never_archived(table: GoldenTable) -> None:
    """Two writes; the folder of the history was never made."""
    archived = ".hoodie/archived" if table.version <= 6 else ".hoodie/timeline/history"
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    table.damage(corruption.remove_folder(archived))
    table.full_timeline(
        "whole-timeline", "the whole timeline is the active one", "HS-001 HS-008", "absent-history-refused"
    )


@golden("v9/mor_empty_commit", "A commit that wrote nothing", merge_on_read(9))
def empty_commit(table: GoldenTable) -> None:
    """Writes without a single file, the last of them without a schema, or with an empty text in its place."""
    table.insert(second(1), fleet(10))
    nothing = CommitMetadata("UPSERT", False, (), frozenset(), None, {})
    for number, schema, extra in ((2, RIDES, {}), (3, None, {}), (4, None, {"schema": ""})):
        table.begin(Action.DELTA_COMMIT, second(number))
        table.complete(Action.DELTA_COMMIT, second(number), replace(nothing, schema=schema, extra=extra))
    table.snapshot("snapshot", "rows and columns are as before", "DM-003 TL-015", "newest-commit-has-the-schema")
    table.incremental(
        second(1.5), None, "incremental-of-nothing", "nothing came", "IN-001 DM-003", "range-begin-ignored"
    )


@golden("v6/mor_strange_commits", "Files named like commits below .hoodie", merge_on_read(6))
def strange_commits(table: GoldenTable) -> None:
    """Signs of hash rings and files of other folders are named like the commits of a timeline.

    The first city's ring was made by a resize that is archived; a later one was never completed. The other city's has
    its sign in the data partition, where 0.15.0 puts it, and ends before the greatest hash.
    """
    half = GREATEST_HASH // 2 + 1
    for city, (ends, resized, failed) in {
        "oslo": ((half, GREATEST_HASH), second(0.5), second(6)),
        "lima": ((half - half // 3, half + half // 4), second(0.7), None),
    }.items():
        nodes = tuple((end, table.group(city, place).file_id.removesuffix("-0")) for place, end in enumerate(ends))
        table.rings += [first_ring(city, 2), ring := HashRing(city, resized, nodes)]
        table.rings += [HashRing(city, failed, first_ring(f"{city} of old", 4).nodes)] if failed else []
        for key in KEYS[city]:
            table.homes.move(city, [key], Group(city, group_of_hash(ring, ring_hash((key,)))))
    table.damage(corruption.write(f"lima/{second(0.7)}.commit"))
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(5, ("r02",), rider="late"))
    index = ".hoodie/.bucket_index/consistent_hashing_metadata/oslo"
    for folder in (index, ".hoodie/.aux", ".hoodie/.temp"):
        table.damage(corruption.write(f"{folder}/{second(5)}.commit"))
    table.instants(
        "timeline", "only what lies in the timeline's folder is an instant", "TL-021 SL-022", "lowest-state-rules"
    )
    table.snapshot("snapshot", "no row is lost", "TL-021 TL-018", "event-time-ignores-ordering")
    check(
        table,
        "each key lies where the newest ring says that holds",
        "OW-034 OW-023",
        "archived-resizes-are-lost pending-rings-hold nothing-behind-the-last-node",
        deep=True,
    )


@golden(
    "v6/mor_ranges_archived", "A range that ends before later logs of the slice", merge_on_read(6), ("incremental",)
)
def ranges_archived(table: GoldenTable) -> None:
    """Three updates of one ride in one slice; the insert and the first update have left the timeline."""
    table.insert(second(1), fleet(10))
    for number in (2, 3, 4):
        table.upsert(second(number), rides(10 * number, ("r01",), rider=f"update {number}"))
    table.forget(second(1), second(2))
    table.incremental(
        "0",
        second(3),
        "archived",
        "later versions do not compete, and logs of the slice are read up to the end of the range",
        "IN-001 IN-003 IN-004",
        "range-cut-after-merging logs-end-with-the-slice-instant",
    )


@golden(
    "v9/bad_empty_commit_in_range",
    "A range that holds a completed file without content",
    merge_on_read(9),
    ("incremental",),
)
def empty_commit_in_range(table: GoldenTable) -> None:
    """Of three deltacommits the completed file of the second is empty."""
    table.insert(second(1), fleet(10))
    for number in (2, 3):
        table.upsert(second(number), rides(10 * number, ("r01",)))
    table.damage(corruption.empty(f".hoodie/timeline/{second(2)}_*.deltacommit"))
    table.incremental(
        "0", None, "incremental", "the range is refused, not answered in part", "TL-015 IN-001", "empty-commit-accepted"
    )


# Properties


@golden("v9/mor_broken_backup", "Sound properties beside a broken backup", merge_on_read(9))
def broken_backup(table: GoldenTable) -> None:
    """The backup holds a property more and another checksum, as an interrupted copy may leave it."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    table.damage(corruption.write(".hoodie/hoodie.properties.backup", _BROKEN))
    table.info("table-info", "the file itself is read", "PR-004 PR-008", "backup-is-preferred")


@golden("v9/bad_properties_and_backup", "Neither the properties nor their backup are sound", merge_on_read(9))
def both_broken(table: GoldenTable) -> None:
    """Both files fail their checksum."""
    table.insert(second(1), fleet(10))
    for name in ("hoodie.properties", "hoodie.properties.backup"):
        table.damage(corruption.write(f".hoodie/{name}", _BROKEN))
    table.info(
        "table-info", "the table is refused for what is wrong with the file", "PR-004 PR-003", "checksum-not-verified"
    )


_OF_OLD: Final = (
    *("hoodie.table.checksum", "hoodie.database.name", "hoodie.table.base.file.format", "hoodie.populate.meta.fields"),
    *("hoodie.table.cdc.enabled", "hoodie.partition.metafile.use.base.format"),
    *("hoodie.datasource.write.drop.partition.columns", "hoodie.datasource.write.hive_style_partitioning"),
    "hoodie.datasource.write.partitionpath.urlencode",
)
"""Properties that tables of old releases do not have, each with a meaning where it is absent."""


@golden(
    "v6/cow_without_checksum",
    "Properties from before there were checksums",
    copy_on_write(6, properties=dict.fromkeys(_OF_OLD)),
)
def without_checksum(table: GoldenTable) -> None:
    """Two commits of a table whose properties hold no checksum, and nothing that need not be said."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    table.info("table-info", "the table is described", "PR-003 PR-005", "checksum-demanded")
    table.snapshot("snapshot", "the rows are there, with their partition column", "PR-005 PR-003", "checksum-demanded")


# Partitions and columns


@dataclass(frozen=True, slots=True)
class _Dated(Layout):
    """Partition folders that a key generator by timestamp makes of dates as 2018-09-23."""

    def partition_path(self, value: str) -> str:
        return f"{self.partition_by}={value.replace('-', '/')}"


_DATED = Schema((Field("id", "string"), Field("day", "string"), Field("note", "string")))
_BY_DATE = {
    "hoodie.table.keygenerator.type": "TIMESTAMP",
    "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
    "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
}


def _dated(number: int, note: str) -> Row:
    return {"id": f"k{number}", "day": f"2018-09-{20 + number % 4}", "note": note}


_FOLDERS_DIFFER = "Partition folders that differ from the values of their column"
_DATED_TRAITS: dict[str, Any] = {"ordering": (), "partition_by": "day", "schema": _DATED, "hive_style": True}
_GENERATOR_OF_VERSION_6 = {
    "hoodie.table.keygenerator.type": None,
    "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
}


@golden(
    "v6/cow_dated_partitions",
    _FOLDERS_DIFFER,
    _Dated(6, merge_on_read=False, **_DATED_TRAITS, properties={**_BY_DATE, **_GENERATOR_OF_VERSION_6}),
)
@golden(
    "v9/cow_dated_partitions",
    _FOLDERS_DIFFER,
    _Dated(9, merge_on_read=False, **_DATED_TRAITS, properties=_BY_DATE),
    also=(8,),
)
def dated_partitions(table: GoldenTable) -> None:
    """A key generator by timestamp made folders as day=2018/09/23 of dates as 2018-09-23."""
    table.insert(second(1), [_dated(number, "first") for number in range(8)])
    table.upsert(second(2), [_dated(number, "second") for number in (3, 6)])
    table.snapshot(
        "filter-equal",
        "a filter on the partition column goes by the column's values",
        "DM-033 RD-012 SL-021",
        "partitions-filtered-by-folder",
        filter=["day", "=", "2018-09-23"],
    )
    table.snapshot(
        "filter-unequal",
        "so does one for all other values",
        "DM-033 RD-012",
        "filter-ignored",
        filter=["day", "!=", "2018-09-23"],
    )


@golden("v9/cow_partitions_with_marks", "Partition values with slashes, percent and equals signs", copy_on_write(9))
def partitions_with_marks(table: GoldenTable) -> None:
    """Folders are not encoded: a value with a slash makes two, and one of them lies within another partition."""
    values = ("a=", "a%", "a%2Fb", "a/b", "a=b/c", "a")
    table.insert(second(1), [row for city in values for row in rides(10, (f"k1@{city}", f"k2@{city}"))])
    table.upsert(second(2), rides(20, ("k1@a/b", "k1@a=")))
    table.snapshot("snapshot", "each row has its own value", "DM-031 SL-020 SL-021", "partition-column-from-folder")


_NARROW, _WIDE = (Schema((*_DATED.fields[:2], Field("count", kind))) for kind in ("int32", "int64"))


@golden(
    "v9/cow_widened_column",
    "An integer column became a long one",
    copy_on_write(9, ordering=(), partition_by="day", schema=_NARROW),
)
def widened_column(table: GoldenTable) -> None:
    """One base file of four was rewritten since, with a number that needs the wider type."""
    table.insert(second(1), [{**_counted(number), "count": number} for number in range(8)])
    table.schema = _WIDE
    table.upsert(second(2), [_counted(3)])
    table.snapshot(
        "snapshot", "numbers of older files are read as the wider type", "DM-004 DM-003", "narrow-columns-refused"
    )


def _counted(number: int) -> Row:
    return {"id": f"k{number}", "day": f"day {number % 4}", "count": 2**40 + number}


# Change feed

_FEED = Schema((Field("id", "string"), Field("city", "string"), Field("ts", "int64"), Field("rider", "string")))


def _feed_row(key: str, ts: int) -> Row:
    return {
        name: value
        for name, value in rides(ts, (key,), rider=f"at {ts}")[0].items()
        if name in {f.name for f in _FEED.fields}
    }


@golden(
    "v9/cow_changes_first_write",
    "The first write to a group brought deletes too",
    copy_on_write(9, schema=_FEED, properties={"hoodie.table.cdc.enabled": "true"}),
    ("cdc",),
)
def changes_first_write(table: GoldenTable) -> None:
    """One city's first write inserts two rides and deletes one that was never there: no change log is written."""
    table.insert(second(1), [_feed_row("r01", 10)])
    table.insert(second(2), [_feed_row(key, 20) for key in ("r11", "r12")])
    _amend(table, second(2), deletes=1)
    table.changes(
        second(1.5),
        None,
        "changes",
        "the rides are inserted, nothing else happened",
        "CD-005 CD-002",
        "deletes-need-a-change-log range-begin-ignored",
    )


@golden(
    "v9/cow_changes_two_logs",
    "A write that logged its changes in two files",
    copy_on_write(
        9,
        schema=_FEED,
        hive_style=True,
        groups_per_partition=1,
        properties={
            "hoodie.table.cdc.enabled": "true",
            "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER",
        },
    ),
    ("cdc", "log-cdc"),
)
def changes_two_logs(table: GoldenTable) -> None:
    """An update of two rides of one group; its change log was rolled over once, in a partition of hive style."""
    keys = ("r01", "r02", "r03")
    table.insert(second(1), [_feed_row(key, 10) for key in keys])
    group = table.group("oslo", 0)
    before = dict(table.rows[group])
    table.upsert(second(2), [_feed_row(key, 20) for key in keys[:2]])
    logs = []
    for version, key in enumerate(keys[:2], 1):
        name = log_file_name(group.file_id, second(2), version, _TOKEN, cdc=True)
        block = CdcBlock(second(2), (CdcRecord("u", key, before[key], table.rows[group][key]),))
        logs.append(
            LogFile(group.partition, group.file_id, second(2), version, _TOKEN, cdc=True, name=name, blocks=(block,))
        )
    table.log_files += logs
    _amend(table, second(2), change_logs=tuple(map(data_path, logs)), previous_instant=second(1))
    table.changes(
        second(1.5),
        None,
        "changes",
        "the changes of both files are answered",
        "CD-003 CD-010",
        "first-change-log-alone",
    )


def _amend(table: GoldenTable, at: InstantTime, **change: object) -> None:
    """Let the completed file of a write say something else of its files."""
    for index, entry in enumerate(table.timeline):
        if entry.requested == at and isinstance(entry.content, CommitMetadata):
            stats = tuple(replace(stat, **change) for stat in entry.content.write_stats)  # type: ignore[arg-type]
            table.timeline[index] = replace(entry, content=replace(entry.content, write_stats=stats))
