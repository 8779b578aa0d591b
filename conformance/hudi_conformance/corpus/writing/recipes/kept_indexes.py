"""Indexes that a table keeps through every change: filters that use them answer as if they did not."""

import datetime as dt
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.recipes.indexes import spread
from hudi_conformance.corpus.golden.rides import RIDES, Row, ride, rides, second
from hudi_conformance.corpus.writing.recipes.cleanings import VERSIONS
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.recipes.single_writes import GLOBAL_BLOOM
from hudi_conformance.corpus.writing.recipes.typed_tables import EVERY_INDEX, KEPT, WITH_STATISTICS
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

_LATEST: Final = {"ordering": (), "merge_mode": "COMMIT_TIME_ORDERING", "label": "latest"}
"""Indexes of records have every row of such a table: a reader may follow them."""
SPREAD: Final = (
    *shapes((6, 9), (MOR,), configs=WITH_STATISTICS),
    *shapes((8, 9), (COW,), configs=WITH_STATISTICS),
    *shapes((9,), (MOR,), configs=WITH_STATISTICS, **_LATEST),
    *shapes((8,), (COW,), configs=WITH_STATISTICS, **_LATEST),
)
SHARED: Final = {
    **OPTIMISTIC,
    **SHARED_LOCK,
    **{key: WITH_STATISTICS[key] for key in WITH_STATISTICS if "metadata" in key},
}
MOVING: Final = {"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"}
_BY_METADATA: Final = {"hoodie.index.type": "BLOOM", "hoodie.bloom.index.use.metadata": "true"}
_COMPACTED: Final = {"hoodie.metadata.compact.max.delta.commits": "1"}
_CLAUSES: Final = "MT-003 MT-005 IX-051"


def indexed(case: WritingCase, rows: Iterable[Row] | None = None) -> Done:
    """A table with every kind of index that its version has, built after the first write."""
    case.create()
    first = case.write("insert", spread(10) if rows is None else rows)
    case.run("indexing", EVERY_INDEX)
    if case.shape.has_completion_times:
        case.service("create_index", index="rider", kind="secondary_index", columns=["rider"])
        case.service("create_index", index="low", kind="column_stats", columns=["rider"], function="lower")
    return first


def query_filters(case: WritingCase, *forms: Any) -> None:
    """Filters of the case's own, then by key, value, bounds and function; the indexes hold what is so."""
    keys: Any = ["id", "in", ["r01", "r02", "r03", "r11", "駅-06", "new"]]
    usual = (keys, ["rider", "=", "moved"], ["rider", "in", ["Zoe 1", "Ann$2\\"]], ["fare", "<", "0.03"])
    bounds = (["day", ">=", "2025-01-02"], [["fn", "lower", "rider"], "=", "moved"])
    for form in (*forms, *usual, *bounds):
        case.filtered(form)
    case.sound()


@writing("indexes/row_moves", SPREAD, f"OW-021 OW-024 IX-021 {_CLAUSES}", "moved-row-stays-too delete-wins-over-put")
def row_moves(case: WritingCase) -> None:
    """A row that moves is in its new partition alone, for rows, indexes and the next write.

    Given an indexed table whose file groups several writes made.
    When upserts by the record index bring rides in another city, one of them late, and bring one of them again.
    Then each ride is there once, and filters find it by key and by the value that it has kept.
    """
    indexed(case)
    case.write("upsert", [ride("r02", 15, rider="before"), ride("new", 15, rider="moved")])
    moved = [ride("r01", 20, city="lima", rider="moved"), ride("r12", 5, city="oslo", rider="moved")]
    case.write("upsert", moved, configs=MOVING)
    query_filters(case)
    case.write("upsert", [ride("r01", 30, city="lima", rider="moved", paid=None)], configs=MOVING)
    query_filters(case)
    case.state()
    if case.shape.has_completion_times:
        case.shows("IX-031")


def _crashed_writer(case: WritingCase) -> None:
    """What a writer that died has committed to the metadata table alone is taken back there.

    Given an indexed table, and a delete whose metadata is committed and which never completed.
    When an upsert comes that may compact the metadata table, the delete is rolled back, another upsert comes, and the
    deleted rides are updated.
    Then filters find the rides that it would have deleted, before and after.
    """
    case.filtered(["id", "in", ["r02", "r12", "r03"]])
    case.write("upsert", [ride("r01", 30)], configs=_COMPACTED)
    case.filtered(["id", "in", ["r02", "r12", "r01"]])
    case.service("rollback", instant=second(3))
    query_filters(case, ["id", "in", ["r02", "r12"]])
    case.write("upsert", [ride("r01", 40, rider="moved"), ride("new", 40)])
    query_filters(case, ["id", "in", ["r02", "r12"]])
    case.write("upsert", rides(50, ("r02", "r12"), rider="moved"))
    query_filters(case, ["id", "in", ["r02", "r12"]])
    case.state()


@writing(
    "indexes/late_row",
    shapes((6, 8, 9), (MOR,), configs=WITH_STATISTICS),
    f"IX-021 MG-003 {_CLAUSES}",
    "metadata-never-updated",
)
def late_row(case: WritingCase) -> None:
    """A row that loses its merge changes no index but the statistics of its file.

    Given an indexed table.
    When an upsert brings a late version with another value, and another one two versions of a ride, the earlier first.
    Then the value leads nowhere, the old one to the ride, both keys are found, and logs are bounded by all their rows.
    """
    indexed(case)
    case.write("upsert", [ride("r02", 5, rider="moved"), ride("r12", 5, rider="moved")])
    query_filters(case, ["rider", "=", "Zoe 1"])
    case.write("upsert", rides(20, ("r12", "new")))
    query_filters(case)
    twice = [ride("r01", 30, rider="Zoe 1", fare=None), ride("r01", 31, rider="moved")]
    case.write("upsert", twice, configs={"hoodie.combine.before.upsert": "false"})
    query_filters(case)
    case.state()
    if case.shape.has_completion_times:
        case.shows("IX-031", "index-of-incoming-rows")


@writing(
    "indexes/overwritten", SPREAD, f"IX-021 OW-018 {_CLAUSES}", "stale-entries-kept metadata-misses-replaced-groups"
)
def overwritten(case: WritingCase) -> None:
    """Rows that are replaced leave the indexes, and only they do.

    Given an indexed table of two cities.
    When one city is overwritten, the other deleted as a partition, and rides of it come again.
    Then filters find the rides of the overwrite and those that came again, by key and by value.
    """
    first = indexed(case)
    case.write("insert_overwrite", [ride("r03", 20, rider="moved"), ride("new", 20, rider="Zoe 1")])
    query_filters(case)
    case.write("delete_partition", partitions=["lima"])
    query_filters(case, ["city", "=", "lima"])
    last = case.write("insert", rides(30, ("r11", "r12"), rider="moved"))
    query_filters(case, ["city", "=", "lima"])
    case.state()
    case.past(first, last)


for _version in (6, 8, 9):
    writing(
        f"indexes/crashed_writer_v{_version}",
        shapes((_version,), (MOR,), configs=SHARED),
        f"MT-006 MT-015 RB-001 RB-011 {_CLAUSES}",
        "metadata-never-updated",
        begins_with=f"v{_version}/mor_metadata_uncommitted",
    )(_crashed_writer)


@writing("indexes/deleted", SPREAD, f"IX-021 OW-013 {_CLAUSES}", "stale-entries-kept")
def deleted(case: WritingCase) -> None:
    """What is deleted is found by no index, and is found when it comes back.

    Given an indexed table.
    When rides are deleted by key, all rides of a file are, and one of each comes back.
    Then filters find those that are there.
    """
    indexed(case)
    case.write("delete", rides(None, ("r01", "r11", "駅-06")))
    query_filters(case)
    case.write("delete", rides(None, ("r02", "r03", "r04", "fähre-05")))
    query_filters(case, ["city", "=", "oslo"])
    case.write("upsert", rides(30, ("r01", "r11"), rider="moved"))
    query_filters(case)
    case.state()


@writing(
    "indexes/written_since",
    SPREAD,
    f"MT-009 IG-003 IX-055 {_CLAUSES}",
    "metadata-never-updated new-keys-unindexed",
)
def written_since(case: WritingCase) -> None:
    """Rows that were just written are found, whichever writer wrote them.

    Given an indexed table.
    When writers that request no index insert, bulk insert and upsert rides, by a bloom index of the whole table too,
    and one upserts rides of several files by the filters and bounds of the metadata table.
    Then filters find them by key and by value at once, and each ride is there once.
    """
    indexed(case)
    case.write("insert", [ride("new", 20, rider="moved")])
    query_filters(case)
    case.write("bulk_insert", [ride("newer@lima", 20, rider="Zoe 1")], process=2)
    query_filters(case, ["id", "=", "newer@lima"])
    case.write("upsert", [ride("r01", 30, rider="moved"), ride("newest@bergen", 30)], configs=GLOBAL_BLOOM)
    query_filters(case, ["city", "=", "bergen"], ["id", "=", "newest@bergen"], ["id", "in", ["r01", "newer@lima"]])
    everywhere = rides(40, ("r01", "r02", "駅-06", "new", "r11", "r12", "🚲-16", "newer@lima", "newest@bergen"))
    case.write("upsert", everywhere, configs=_BY_METADATA)
    case.state()


@writing(
    "indexes/other_columns",
    (*shapes((6,), (COW,), configs=KEPT), *shapes((8, 9), (MOR,), configs=KEPT)),
    "IX-051 IX-052 IX-053 IX-055",
    "record-index-for-any-column unknown-part-is-false",
)
def other_columns(case: WritingCase) -> None:
    """What no index knows rules nothing out.

    Given a table with statistics of two columns and a record index, and riders that are named like keys.
    When filters ask for an indexed and another column together, either of them, and other columns alone.
    Then every row is found that the filter wants.
    """
    case.create()
    case.write("insert", [ride("r01", 10, rider="r11"), ride("r11", 20, rider="r02"), ride("x@bergen", 30, rider="a")])
    case.service("create_index", index="column_stats", columns=["ts", "paid"])
    case.service("create_index", index="record_index")
    case.write("upsert", [ride("r01", 11, rider="r02"), ride("r12", 21, rider="r01")])
    known, other = ["ts", "=", 20], ["rider", "=", "a"]
    for form in (
        ["rider", "in", ["r02", "r11"]],
        ["and", known, ["rider", "=", "r02"]],
        ["or", known, other],
        ["and", ["or", known, other], ["city", "!=", "oslo"]],
        ["not", ["or", known, ["rider", "is_null"]]],
        ["or", ["id", "=", "r01"], other],
        ["and", ["id", "in", ["r01", "r12"]], ["rider", "!=", "r02"]],
    ):
        case.filtered(form)
    case.sound()


@writing(
    "indexes/unknown_statistics",
    SPREAD,
    "MT-013 IX-053",
    "unknown-is-all-null",
)
def unknown_statistics(case: WritingCase) -> None:
    """A file whose values have no bounds is not one of nulls.

    Given an indexed table, of which one file has a ratio that is not a number and another one nothing but nulls.
    When filters ask for ratios, for nulls and for none, also after an update.
    Then rows are found wherever they lie.
    """
    numbers = {"r01": 1.5, "r02": math.nan, "r11": None, "r12": None, "x@bergen": -0.0}
    indexed(case, [ride(key, 10, ratio=number) for key, number in numbers.items()])
    forms: tuple[Any, ...] = (
        ["ratio", "=", 1.5],
        ["ratio", "is_null"],
        ["ratio", "is_not_null"],
        ["ratio", ">", 1.0],
        ["ratio", "=", 0.0],
        ["not", ["ratio", "<", 2.0]],
        ["ratio", "!=", 1.5],
    )
    query_filters(case, *forms)
    case.write("upsert", [ride("r11", 20, ratio=2.5), ride("r01", 20, ratio=None)])
    query_filters(case, *forms)


_MOMENTS: Final[tuple[tuple[str, str, dict[str, Any], tuple[Any, ...]], ...]] = (
    ("year", "seen", {}, (1969, 2024)),
    ("month", "day", {}, (2, 12)),
    ("day", "seen", {}, (29, 31)),
    ("hour", "at", {}, (0, 23)),
    ("date_format", "seen", {"format": "yyyy/MM 'h'HH"}, ("2024/02 h23", "1969/12 h23")),
    ("from_unixtime", "ts", {"format": "HH:mm:ss"}, ("00:00:10", "00:01:40")),
    ("unix_timestamp", "seen", {}, ("-1", "0")),
    ("to_date", "stamp", {"format": "dd.MM.yyyy"}, ("2024-02-29", "1970-01-01")),
    ("to_timestamp", "day", {}, ("2024-02-29T00:00:00.000000Z", "1969-12-31T00:00:00.000000Z")),
    ("date_add", "day", {"days": 1}, ("2024-03-01", "1970-01-01")),
    ("date_sub", "seen", {"days": 60}, ("2023-12-31", "1969-11-01")),
)
_TEXTS: Final[tuple[tuple[str, str, dict[str, Any], tuple[Any, ...]], ...]] = (
    ("lower", "rider", {}, ("ann lee", "ärger")),
    ("upper", "rider", {}, ("ANN LEE", " STRASSE 7 ")),
    ("substring", "rider", {"pos": 2, "len": 3}, ("nn ", "str")),
    ("substring", "id", {"pos": -2}, ("01", "駅6")),
    ("trim", "rider", {}, ("straße 7", "x")),
    ("ltrim", "rider", {"trimString": " A"}, ("nn Lee", "straße 7 ")),
    ("rtrim", "rider", {"trimString": "e7 "}, ("Ann L", " straß")),
    ("length", "rider", {}, (7, 0)),
    ("regexp_replace", "rider", {"pattern": "([a-z]+) ", "replacement": "$1--"}, ("Ann--Lee", " straße 7 ")),
    ("regexp_extract", "stamp", {"pattern": "([0-9]+)[.]([0-9]+)", "idx": 2}, ("02", "")),
)
_OTHER_MOMENTS: Final[tuple[tuple[str, str, dict[str, Any], tuple[Any, ...]], ...]] = (
    ("year", "day", {}, (1969, 2024)),
    ("month", "at", {}, (2, 12)),
    ("day", "day", {}, (29, 31)),
    ("hour", "seen", {}, (0, 23)),
    ("date_format", "day", {"format": "dd-MM-yyyy"}, ("29-02-2024", "01-01-1970")),
    ("from_unixtime", "ts", {}, ("1970-01-01 00:00:10", "1970-01-01 00:01:40")),
    ("unix_timestamp", "stamp", {"format": "dd.MM.yyyy"}, ("1709164800", "-86400")),
    ("to_date", "seen", {}, ("2024-02-29", "1970-01-01")),
    ("to_timestamp", "stamp", {"format": "dd.MM.yyyy"}, ("2024-02-29T00:00:00.000000Z", "1969-12-31T00:00:00.000000Z")),
    ("date_add", "seen", {"days": -1}, ("2024-02-28", "1969-12-30")),
    ("date_sub", "day", {"days": 0}, ("2024-02-29", "1969-12-31")),
)
_OTHER_TEXTS: Final[tuple[tuple[str, str, dict[str, Any], tuple[Any, ...]], ...]] = (
    ("lower", "id", {}, ("r01", "駅6@bergen")),
    ("upper", "stamp", {}, ("X", "29.02.2024")),
    ("substring", "rider", {"pos": 1, "len": 1}, ("A", "")),
    ("substring", "rider", {"pos": -3, "len": 2}, ("Le", "e ")),
    ("trim", "rider", {"trimString": "An 7"}, ("Lee", "straße")),
    ("ltrim", "rider", {}, ("Ann Lee", "straße 7 ")),
    ("rtrim", "rider", {}, ("Ann Lee", " straße 7")),
    ("length", "id", {}, (3, 9)),
    ("regexp_replace", "stamp", {"pattern": "[0-9]", "replacement": ""}, ("..", "x")),
    ("regexp_extract", "rider", {"pattern": "([A-Za-z]+) ([A-Z])"}, ("Ann", "")),
)
_OF_FUNCTIONS: Final = {
    "moments": _MOMENTS,
    "texts": _TEXTS,
    "other_moments": _OTHER_MOMENTS,
    "other_texts": _OTHER_TEXTS,
}
_WITH_TEXTS: Final = Schema((*RIDES.fields, Field("at", "local-timestamp-micros"), Field("stamp", "string")))


def _at(key: str, ts: int, seen: dt.datetime | None, rider: str | None, stamp: str | None) -> Row:
    at, day = seen and seen.replace(tzinfo=None), seen and seen.date()
    return ride(key, ts, seen=seen, at=at, day=day, rider=rider, stamp=stamp)


@writing(
    "indexes/functions",
    (
        *shapes((9,), (COW,), configs=KEPT, label="moments"),
        *shapes((8,), (MOR,), configs=KEPT, label="other_moments"),
        *shapes((9,), (MOR,), configs=KEPT, label="texts"),
        *shapes((8,), (COW,), configs=KEPT, label="other_texts"),
    ),
    f"IX-040 IX-041 IX-051 MT-013 {_CLAUSES}",
    "arguments-of-functions-ignored",
)
def functions(case: WritingCase) -> None:
    """Every function of a column may be compared and indexed, with what it takes beside the column.

    Given rides before and after 1970, at the ends of a day and of a leap year's February, and texts of many kinds.
    When an index is made of each function, filters ask for its results, and rides change, are deleted and come again.
    Then each filter finds the rides whose values give its results, a null gives none, and the indexes hold no other.
    """
    leap = dt.datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=dt.timezone.utc)
    before = dt.datetime(1969, 12, 31, 23, 59, 58, 500_000, tzinfo=dt.timezone.utc)
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
    case.schema = _WITH_TEXTS
    case.create()
    rows = [_at("r01", 10, leap, "Ann Lee", "29.02.2024"), _at("r02", 100, None, None, None)]
    rows += [_at("r11", 10, before, " straße 7 ", "31.12.1969"), _at("駅6@bergen", 100, epoch, "", "x")]
    case.write("insert", rows)
    tried = _OF_FUNCTIONS[case.shape.label]
    forms: list[Any] = []
    for number, (name, column, options, values) in enumerate(tried):
        kind = "bloom_filters" if number % 4 == 3 else "column_stats"
        parts: dict[str, Any] = {"index": f"of_{number}", "kind": kind, "columns": [column], "function": name}
        case.service("create_index", **(parts | ({"index_options": options} if options else {})))
        result: Any = ["fn", name, column, *options.values()]
        forms += [[result, "=", values[0]], ["or", [result, ">", values[1]], [result, "is_null"]]]
    for form in forms[::2]:
        case.filtered(form)
    case.write("upsert", [_at("r02", 110, before, "ÄRGER", "28.02.2024"), _at("r01", 20, epoch, "Bob", None)])
    case.write("delete", [_at("r11", 20, None, None, None)])
    for form in forms[1::2]:
        case.filtered(form)
    case.sound()
    case.state()
    if tried is _MOMENTS:
        case.shows(kills="days-are-numbered-by-month")


def _failed(case: WritingCase) -> Done:
    """A write that has made its files, and dies."""
    started = case.begin("failed", "upsert", [*rides(50, ("r01", "r11"), rider="moved"), ride("new", 50)], process=2)
    case.stage("failed")
    case.end_process(2)
    return started


@writing(
    "indexes/rolled_back",
    (*shapes((6, 9), (MOR,), configs=SHARED), *shapes((8,), (COW,), configs=SHARED)),
    f"MT-010 RB-011 {_CLAUSES}",
    "",
)
def rolled_back(case: WritingCase) -> None:
    """What a failed write left is in no index, and what undid it is listed.

    Given an indexed table, and a write that made its files and died.
    When it is rolled back, and rides of its keys come.
    Then filters find what there was, and then what came.
    """
    indexed(case)
    failed = _failed(case)
    case.filtered(["id", "in", ["r01", "r11", "new"]])
    case.service("rollback", instant=failed.requested)
    query_filters(case)
    case.write("upsert", rides(60, ("r11", "r03"), rider="moved"))
    query_filters(case)
    case.state()
    case.shows(kills="rollback-logs-unlisted" if case.shape.version == 6 else "metadata-never-updated")


@writing("indexes/restored", SPREAD, f"SR-005 SR-012 {_CLAUSES}", "restore-undoes-nothing")
def restored(case: WritingCase) -> None:
    """After a restore filters find what was saved.

    Given an indexed table, updates whose last is saved, a clean of the versions before, and four writes since, after
    which its metadata table compacts.
    When it is restored, a write comes, and the indexes are built where they are gone.
    Then filters find the saved rides and those of the write, and the indexes hold nothing of files that are gone.
    """
    indexed(case)
    case.write("upsert", rides(15, ("r01", "r11")))
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    saved = case.write("upsert", rides(18, ("r02", "r12")))
    case.service("savepoint", instant=saved.requested)
    case.run("clean", VERSIONS)
    for ts in (20, 30, 40):
        case.write("upsert", [ride("r01", ts, rider="moved"), ride(f"new{ts}", ts)], configs=_COMPACTED)
    case.write("delete", rides(None, ("r02", "r12")), configs=_COMPACTED)
    case.service("restore", instant=saved.requested)
    case.filtered(["id", "in", ["r01", "new20", "r02"]])
    case.filtered(["rider", "=", "moved"])
    case.write("upsert", [ride("r03", 50, rider="moved"), ride("new", 50)])
    query_filters(case, ["id", "in", ["new20", "new", "r02"]])
    case.state()


@writing("indexes/cleaned", SPREAD, f"MT-010 CN-009 IX-010 {_CLAUSES}", "stale-entries-kept")
def cleaned(case: WritingCase) -> None:
    """Files that a clean removed leave the indexes, and those that stay do not.

    Given an indexed table with updates, in one that is merge-on-read after a compaction, and an overwritten city.
    When a clean keeps one version of each file, and an update follows.
    Then filters find the rides of the files that are left.
    """
    indexed(case)
    case.write("upsert", rides(20, ("r01", "r11"), rider="moved"))
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    case.write("insert_overwrite", rides(30, ("r11", "r12")))
    case.run("clean", VERSIONS)
    query_filters(case)
    case.write("upsert", rides(40, ("r02", "r12"), rider="moved"))
    query_filters(case)
    case.state()


_LOGS_COMPACTED: Final = {
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
    "hoodie.metadata.compact.max.delta.commits": "100",
    "hoodie.metadata.log.compaction.enable": "true",
    "hoodie.metadata.log.compaction.blocks.threshold": "2",
}


@writing(
    "indexes/clustered",
    (
        *SPREAD,
        *shapes((6, 8, 9), (COW, MOR), configs={**WITH_STATISTICS, **_LOGS_COMPACTED}, label="beside_writes"),
    ),
    f"CL-006 IX-021 {_CLAUSES}",
    "metadata-never-updated",
)
def clustered(case: WritingCase) -> None:
    """A clustering takes its rows along in every index.

    Given an indexed table with several file groups a city, updates, late rows and a delete; or one whose metadata table
    compacts its logs often, and whose clustering waits while new rides come.
    When it is clustered, and an update and a delete follow.
    Then filters find each ride in the group where it is now: what a clustering that waited says is newer than what was
    there when it was planned.
    """
    first = indexed(case)
    case.write("insert", [ride("new", 10), ride("r22@lima", 10, rider="moved")])
    if case.shape.label == "beside_writes":
        case.shows("LC-003 MT-015")
        plan = case.schedule("clustering", CLUSTERING_DUE)
        for number in range(4):
            case.write("upsert", [ride(f"more{number}", 20 + number, rider="moved")])
        case.execute(plan, CLUSTERING_DUE)
        query_filters(case)
        case.write("upsert", rides(40, ("new", "r22@lima", "r11"), rider="moved"))
        query_filters(case)
        case.snapshot()
        return
    case.write("upsert", [ride("r01", 20, rider="moved"), ride("r11", 5, rider="late")])
    case.write("delete", rides(None, ("r12",)))
    case.run("clustering", CLUSTERING_DUE)
    query_filters(case)
    last = case.write("upsert", rides(30, ("r02", "r22@lima"), rider="moved"))
    case.write("delete", rides(None, ("r03",)))
    query_filters(case)
    case.state()
    case.past(first, last)


@writing(
    "indexes/compacted",
    shapes((6, 8, 9), (MOR,), configs=WITH_STATISTICS),
    f"CP-004 MT-011 {_CLAUSES}",
    "metadata-never-updated",
)
def compacted(case: WritingCase) -> None:
    """Logs beside a planned compaction, and its base files, are in the indexes when they count.

    Given an indexed table with updates, a delete, and a compaction that waits.
    When an update comes beside it, the compaction is carried out, and another update follows.
    Then filters find the same rides before and after.
    """
    first = indexed(case)
    case.write("upsert", [ride("r01", 20, rider="moved"), ride("r02", 5, rider="late")])
    case.write("delete", rides(None, ("r12",)))
    plan = case.schedule("compaction", COMPACTION_DUE)
    case.write("upsert", rides(30, ("r11", "new"), rider="moved"))
    query_filters(case)
    case.execute(plan, COMPACTION_DUE)
    query_filters(case)
    last = case.write("upsert", rides(40, ("r03", "r12"), rider="moved"))
    query_filters(case)
    case.state()
    case.past(first, last)


@writing(
    "indexes/without_partitions",
    (
        *shapes((6, 9), (COW,), partition_by=(), configs=WITH_STATISTICS),
        *shapes((8,), (MOR,), partition_by=(), configs=WITH_STATISTICS),
    ),
    f"MT-010 MT-012 IX-010 {_CLAUSES}",
    "unpartitioned-without-name",
)
def without_partitions(case: WritingCase) -> None:
    """A table without partitions is listed, and its files are known by their whole names.

    Given an indexed table without partitions.
    When rides are updated, deleted and inserted.
    Then filters find them.
    """
    indexed(case)
    case.write("upsert", [ride("r01", 20, rider="moved"), ride("new", 20)])
    case.write("delete", rides(None, ("r02",)))
    query_filters(case)
    case.state()


_LONG: Final = f"-{300 * '0'}"
"""Stands before all other keys, where the index of a block has the whole of it."""


@writing("indexes/digits", SPREAD, "MT-011 IX-053", "keys-have-the-order-of-numbers")
def digits(case: WritingCase) -> None:
    """Texts of digits are bounded as texts.

    Given an indexed table whose keys and riders are digits of several lengths, one of them of 301 letters.
    When filters ask for values between, as text, also after an update.
    Then each is found.
    """
    texts = {"9": "oslo", "10": "oslo", "100": "oslo", "099": "oslo", "-1": "lima", "1e3": "lima", _LONG: "lima"}
    indexed(case, [ride(text, 10, city=city, rider=text) for text, city in texts.items()])
    forms = [[name, word, text] for name in ("id", "rider") for word in ("=", ">") for text in ("10", "100", "9")]
    forms.append(["id", "=", _LONG])
    query_filters(case, *forms, ["id", "<", "10"])
    case.write("upsert", [ride("10", 20, rider="8"), ride("11", 20, rider="90"), ride(_LONG, 20, city="lima")])
    query_filters(case, *forms, ["rider", "<=", "8"])


@writing(
    "indexes/wide_decimals",
    shapes((9,), configs=WITH_STATISTICS),
    "MT-011 MT-023 IX-053",
    "negative-decimals-above-all-others",
)
def wide_decimals(case: WritingCase) -> None:
    """Decimals of more digits than a long has are bounded as numbers, those below zero too, or not at all.

    Given an indexed table with decimals of 38 and of 24 digits, files of which hold numbers below zero, above, both and
    none.
    When filters ask for numbers below, above and between, also after an update.
    Then each is found.
    """
    case.schema = Schema((*RIDES.fields, Field("debt", "decimal(38,10)"), Field("share", "decimal(24,10)")))
    debts = {"r01": "-98765432109876543210.5", "r02": "0.0000000001", "r11": "-1", "r12": "-2.5", "x@bergen": None}
    shares = {"r01": "-12345678901234.5", "r11": "12345678901234.5"}
    first = {key: (debt and Decimal(debt), Decimal(shares.get(key, 0))) for key, debt in debts.items()}
    indexed(case, [ride(key, 10, debt=debt, share=share) for key, (debt, share) in first.items()])
    forms: list[Any] = [["debt", word, number] for word in ("<", ">=") for number in ("-2", "0", "1e19")]
    forms += [["share", "<", "-12000000000000"], ["share", ">", "12000000000000"]]
    query_filters(case, *forms, ["debt", "=", "-1"], ["debt", "is_null"])
    later = ride("r02", 20, debt=Decimal("98765432109876543210.25"), share=Decimal("99999999999999.75"))
    case.write("upsert", [later, ride("x@bergen", 20, debt=None, share=None)])
    query_filters(case, *forms)


writing(
    "indexes/wide_decimals",
    shapes((6, 8), (MOR,), configs=WITH_STATISTICS),
    "MT-011 IX-053",
    "metadata-never-updated",
)(wide_decimals)


@writing("indexes/later_columns", SPREAD, "MT-013 MT-011 IX-053 DM-004 DM-021", "unknown-statistics-have-no-nulls")
def later_columns(case: WritingCase) -> None:
    """Files from before a column was added have no statistics of it, and nulls for it.

    Given an indexed table.
    When writes bring a new column for some rides, and leave it null for others; then the column is dropped, and a clean
    removes the files that have it.
    Then filters for nulls of the column find the rides of older files too, and those for its values the others; of the
    files that are gone the index has nothing, the dropped column included.
    """
    indexed(case)
    case.schema = Schema((*RIDES.fields, Field("seats", "int32")))
    case.write("insert", [ride("new", 20, seats=4), ride("newer@lima", 20, seats=None)])
    forms = [["seats", "is_null"], ["seats", "=", 4], ["seats", "is_not_null"], ["not", ["seats", "=", 4]]]
    query_filters(case, *forms, ["or", ["seats", "is_null"], ["rider", "=", "nobody"]])
    case.write("upsert", [ride("r01", 30, seats=2), ride("new", 30, seats=None)])
    query_filters(case, *forms)
    case.state()
    case.service("alter_schema", changes=[{"change": "drop", "column": "seats"}])
    case.schema = RIDES
    case.write("upsert", [ride("r01", 40), ride("new", 40)])
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    case.run("clean", VERSIONS)
    case.sound()


@writing(
    "indexes/two_secondary_indexes",
    (*shapes((8,), (MOR,), configs=WITH_STATISTICS), *shapes((9,), configs=WITH_STATISTICS)),
    f"IX-030 IX-031 {_CLAUSES}",
    "all-secondary-indexes-are-of-one-column",
)
def two_secondary_indexes(case: WritingCase) -> None:
    """Each of several secondary indexes follows its own column.

    Given an indexed table with secondary indexes of riders, of days and of moments.
    When updates change a rider, a day and both, a moment by a microsecond, and rides are deleted and come back.
    Then filters on each column find what is there.
    """
    indexed(case)
    case.service("create_index", index="day", kind="secondary_index", columns=["day"])
    case.service("create_index", index="seen", kind="secondary_index", columns=["seen"])
    first, second = dt.date(2025, 1, 2), dt.date(2031, 3, 4)
    seen = dt.datetime(2025, 1, 2, 3, 4, 5, 678_901, tzinfo=dt.timezone.utc)
    forms = [["day", "=", "2025-01-02"], ["day", "=", "2031-03-04"], ["day", "is_null"]]
    forms += [["seen", "=", "2025-01-02T03:04:05.678901Z"], ["seen", "=", "2025-01-02T03:04:05.678902Z"]]
    moved = ride("r02", 20, rider="moved", day=first, seen=seen)
    later = ride("r11", 20, seen=seen + dt.timedelta(microseconds=1))
    case.write("upsert", [ride("r01", 20, day=second), moved, later])
    query_filters(case, *forms)
    case.write("delete", rides(None, ("r01", "r12")))
    case.write("upsert", [ride("r12", 30, rider="moved", day=second), ride("r02", 30, rider="Zoe 1", day=None)])
    query_filters(case, *forms)
    case.state()


@writing(
    "indexes/dropped",
    (*shapes((8,), (MOR,), configs=KEPT), *shapes((9,), configs=KEPT)),
    f"IX-002 MT-007 IG-001 {_CLAUSES}",
    "any-index-of-the-folder-is-used metadata-never-updated",
)
def dropped(case: WritingCase) -> None:
    """An index that was dropped is used no more, and made again it knows what came between.

    Given an indexed table.
    When two indexes are dropped, a write comes, one is made again, and another write comes.
    Then filters find the rides of both; an index that is there is not made again.
    """
    indexed(case)
    case.service("drop_index", index="rider")
    case.service("drop_index", index="column_stats")
    case.write("upsert", [ride("r01", 20, rider="moved", fare=None), ride("new", 20)])
    query_filters(case)
    case.service("create_index", index="rider", kind="secondary_index", columns=["rider"])
    case.service("create_index", index="record_index", reject="CONFIG_INVALID")
    case.service("drop_index", index="column_stats", reject="CONFIG_INVALID")
    case.write("upsert", rides(30, ("r11",), rider="moved"))
    query_filters(case)
    case.state()


@writing(
    "indexes/made_beside_a_writer",
    shapes(configs=SHARED),
    f"MT-009 {_CLAUSES}",
    "filter-ignored files-count-when-staged",
)
def made_beside_a_writer(case: WritingCase) -> None:
    """A metadata table that begins beside a write lists what has completed, and of that write what it commits.

    Given a table without a metadata table, and two upserts that have staged their files.
    When another writer begins the metadata table, one of the upserts commits, and the other crashes and is rolled back.
    Then each time nothing is wrong with what the metadata table lists, and filters find the rides that count.
    """
    case.create()
    case.write("insert", spread(10), configs={"hoodie.metadata.enable": "false"})
    case.begin("one", "upsert", [ride("r01", 20, rider="moved")])
    case.stage("one")
    failed = case.begin("failed", "upsert", [ride("r03", 25, rider="moved", fare=Decimal("0.01"))], process=2)
    case.stage("failed")
    case.write("upsert", [ride("r12", 30, rider="moved")], process=3)
    query_filters(case)
    case.commit("one")
    query_filters(case)
    case.end_process(2)
    case.service("rollback", instant=failed.requested)
    query_filters(case)
    case.slices()


@writing("indexes/made_anew", SPREAD, f"MT-009 {_CLAUSES}", "bootstrap-lists-last-write")
def made_anew(case: WritingCase) -> None:
    """A metadata table that is made anew knows all that the table holds.

    Given an indexed table, to which a writer without a metadata table writes.
    When the next writer has one, and indexes are built again.
    Then filters find the rides of every write.
    """
    indexed(case)
    case.write("upsert", [ride("r01", 20, rider="moved"), ride("new", 20)], configs={"hoodie.metadata.enable": "false"})
    case.filtered(["id", "in", ["r01", "new", "r12"]])
    case.write("upsert", rides(30, ("r11",), rider="moved"))
    case.filtered(["rider", "=", "moved"])
    case.run("indexing", EVERY_INDEX)
    query_filters(case)
    case.state()


@writing(
    "indexes/older_version",
    shapes((9,), (COW,), configs=WITH_STATISTICS),
    f"VR-004 VR-006 VR-011 IX-004 {_CLAUSES}",
    "version-stays indexing-is-unknown-before-version-8",
)
def older_version(case: WritingCase) -> None:
    """A table that was indexed goes to older versions.

    Given a table with every index that an indexing builds, and an update since.
    When it is downgraded to version 8, written to, brought back to version 9, downgraded to version 6, and written to.
    Then filters find the rides of every write, no index is left that its version cannot keep, those that version 8 made
    are nothing wrong in version 9, and the timeline has its indexing still.
    """
    case.create()
    case.write("insert", spread(10))
    case.run("indexing", EVERY_INDEX)
    case.write("upsert", rides(20, ("r01", "new"), rider="moved"))
    case.service("downgrade", to=8)
    query_filters(case)
    case.write("upsert", rides(25, ("r02", "r12"), rider="moved"))
    query_filters(case)
    case.service("upgrade", to=9)
    case.sound()
    case.service("downgrade", to=6)
    case.timeline()
    case.write("upsert", rides(30, ("r11",), rider="moved"))
    case.filtered(["id", "in", ["r01", "new", "r11"]])
    case.snapshot()


_SERVED: Final = {
    "hoodie.metadata.compact.max.delta.commits": "4",
    "hoodie.metadata.log.compaction.enable": "true",
    "hoodie.metadata.log.compaction.blocks.threshold": "2",
    "hoodie.clean.commits.retained": "2",
    "hoodie.keep.min.commits": "3",
    "hoodie.keep.max.commits": "4",
}


@writing(
    "indexes/served",
    (
        *shapes((6, 9), (MOR,), configs={**WITH_STATISTICS, **_SERVED}),
        *shapes((8,), (COW,), configs={**WITH_STATISTICS, **_SERVED}),
    ),
    f"MT-015 MT-016 AR-004 {_CLAUSES}",
    "metadata-never-updated",
)
def served(case: WritingCase) -> None:
    """Services of the metadata table, its compactions, log compactions, cleans and archivals, lose no entry.

    Given an indexed table whose metadata table compacts often, its logs more often still.
    When sixteen small writes come, among them deletes, with cleans and archivals of the table in between.
    Then filters find what there is at each time, and the indexes hold what files and rows give.
    """
    indexed(case)
    for number in range(16):
        key = ("r01", "r11", "r02", f"new{number}")[number % 4]
        case.write("upsert", [ride(key, 20 + number, rider="moved" if number % 3 else "Zoe 1")])
        if number % 8 == 5:
            case.write("delete", rides(None, (key, "r12")))
            if case.is_mor:
                case.run("compaction", COMPACTION_DUE)
            case.run("clean", VERSIONS)
        if number % 8 == 7:
            case.service("archive")
            query_filters(case, ["id", "=", key])
    query_filters(case)
    case.snapshot()
    case.timeline(include_history=True)
