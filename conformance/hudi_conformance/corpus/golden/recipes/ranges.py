"""Incremental queries: chunks of a history, what competes in them, and ranges that are no longer whole."""

from hudi_model.actions import Action, ReplacePlan
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import counted_range

_FEATURES = ("incremental",)
_NUMBERS = "instants-as-numbers"


def _times(table: GoldenTable) -> dict[int, str]:
    """When each write stands on the axis of ranges: its completion, before version 8 its request."""
    return {number: second(number + (0 if table.version <= 6 else 0.5)) for number in range(12)}


@golden(
    "v9/mor_ranges",
    "Chunks of a history with late rows, a delete and two compactions",
    merge_on_read(9),
    _FEATURES,
    also=(6, 8),
    titles={6: "Chunks of a history, by requested time"},
)
def ranges(table: GoldenTable) -> None:
    """Upserts with late rows, a delete, a compaction, another that stays pending, and writes around both."""
    at, groups = _times(table), [table.group("oslo", 0), table.group("lima", 0)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11", "r12")))
    table.upsert(second(3), [*rides(30, ("r01", "r02")), *rides(15, ("r11",), rider="late among the logs")])
    table.delete(second(4), "lima", "r12")
    table.compact(second(5), groups)
    table.upsert(second(6), rides(5, ("r03",), rider="late, loses against the base file"))
    table.schedule_compaction(second(7), groups)
    table.upsert(second(8), rides(40, ("r01", "r13")))
    table.incremental(
        at[1],
        at[2],
        "one-write",
        "what one write brought, though later writes replaced it",
        "IN-001 IN-002 IN-003",
        "range-begin-inclusive range-end-exclusive range-begin-ignored",
    )
    table.incremental(
        at[1],
        at[3],
        "two-writes",
        "each key once, merged by the ordering value and not by its place in the log",
        "IN-001",
        "incremental-unmerged incremental-one-log event-time-ignores-ordering",
    )
    table.incremental(
        at[1], at[4], "delete-in-range", "a deleted row does not show", "IN-001", "range-begin-ignored deletes-ignored"
    )
    table.incremental(at[4], at[5], "compaction-only", "a compaction brings no rows", "IN-005", "range-begin-ignored")
    table.incremental(
        at[5],
        at[6],
        "late-row",
        "as released a row that lost against an older file is answered; by the text nothing changed",
        "IN-004",
        "range-begin-ignored",
    )
    table.incremental(
        at[7],
        None,
        "behind-the-plan",
        "logs after the plan of a compaction are read",
        "IN-005",
        "range-begin-ignored groups-under-compaction-dropped",
    )
    table.incremental(
        at[3],
        None,
        "across-the-plan",
        "what was logged before and after the plan is one slice",
        "IN-005 IN-004 RD-008",
        "range-begin-ignored",
        columns=["id", "rider"],
        filter=["city", "=", "oslo"],
    )
    table.incremental(
        "0", at[4], "from-the-beginning", "all rows as of the end", "IN-002 IN-003", "range-end-exclusive"
    )
    table.incremental("earliest", None, "all", "the whole table", "IN-002", "pending-slice-not-joined")
    counted_range(table, at[1], at[3], "incremental-unmerged projection-ignored")
    table.incremental(second(20), second(3), "end-before-begin", "nothing", "IN-002", "range-begin-ignored")
    table.incremental("tomorrow", None, "no-instant", "words are no instants", "IN-002 TM-001", "bounds-are-any-text")


def _came_back(table: GoldenTable) -> None:
    at = _times(table)
    groups = [table.group(city, number) for city in ("oslo", "lima") for number in (0, 1)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="before the delete"))
    table.delete(second(3), "oslo", "r01", "r02")
    table.delete(second(4), "lima", "r11")
    table.upsert(second(5), rides(5, ("r01",), rider="late"))
    table.upsert(second(6), rides(5, ("r11",), rider="late"))
    table.compact(second(7), groups)
    back = "a row that a delete hid is answered once it is back, though an older write brought it"
    for end, name, kills in (
        (7, "came-back", "ranges-by-commit-time-alone"),
        (6, "came-back-before-the-compaction", "range-cut-after-merging"),
    ):
        table.incremental(at[4], at[end], name, back, "IN-001 IN-005", kills, meta_columns=True)
    table.incremental(
        at[3],
        at[6],
        "changed-to-an-older-row",
        "a row that is replaced by an older one, since a delete came between, is answered as it is at the end",
        "IN-001 MG-013",
        "range-cut-after-merging",
        meta_columns=True,
    )


_BACK = "A row from before a delete comes back when an older one arrives"


@golden("v9/mor_ranges_came_back", _BACK, merge_on_read(9), _FEATURES, also=(6, 8))
def came_back(table: GoldenTable) -> None:
    """Updates, deletes without ordering value, rows with a lower value than the first ones, a compaction."""
    _came_back(table)


@golden("v6/cow_whole_seconds", "Writes and questions name whole seconds, in version 6", copy_on_write(6), _FEATURES)
def whole_seconds(table: GoldenTable) -> None:
    """Writes with instants of 14, 17, 14 and 20 digits: the second in the middle of a second, the last two in one."""
    seconds, longest = InstantTime(second(3)[:14]), InstantTime(f"{second(3.5)}001")
    table.insert(InstantTime(second(1)[:14]), fleet(10))
    table.upsert(second(2.5), rides(20, ("r01", "r11")))
    table.upsert(seconds, rides(30, ("r01", "r02")))
    table.upsert(longest, rides(40, ("r11", "r12")))
    table.incremental(
        "20250101000002",
        "20250101000003",
        "whole-seconds",
        "a bound of 14 digits is the last millisecond of its second",
        "IN-002 TM-002 TL-013",
        "seconds-begin",
    )
    table.incremental(
        second(2.5),
        second(4),
        "lengths-in-a-range",
        "instants of 14 and 20 digits compare with the bounds as texts",
        "TM-001 IN-003",
        _NUMBERS,
    )
    table.snapshot(
        "lengths",
        "the newest file is that of the greatest text, not of the greatest number",
        "TM-001 RD-004",
        "oldest-base-file",
    )
    for moment, name in ((second(2.9), "lengths-as-of-before"), (second(4), "lengths-as-of-the-end")):
        table.as_of(moment, name, "instants compare with the moment as texts", "TM-001 RD-010", _NUMBERS)


@golden(
    "v9/cow_ranges",
    "Overlapping writes, seconds as bounds, replaced and clustered groups",
    copy_on_write(9),
    _FEATURES,
    also=(8,),
)
def copy_on_write_ranges(table: GoldenTable) -> None:
    """One write outlasts the next; one city is overwritten, the other is clustered by a rewrite that keeps its rows."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r11",), rider="asked first, done last"), done=second(4.25))
    table.upsert(second(3), rides(30, ("r01",), rider="asked last, done first"), done=second(3.5))
    old = [table.group("oslo", number) for number in (0, 1)]
    table.replace_groups(second(5), rides(50, ("r01", "r02")), old)
    _cluster(table, second(6), "lima")
    table.upsert(second(7), rides(70, ("r02",)))
    table.incremental(
        second(3.5),
        second(4.5),
        "by-completion",
        "the write that completed in the range, though it was requested before it",
        "IN-003 TL-013",
        "range-by-requested-time",
    )
    table.incremental(
        "20250101000003",
        "20250101000004",
        "whole-seconds",
        "a bound of 14 digits is the last millisecond of its second",
        "IN-002 TM-002",
        "range-begin-ignored range-by-requested-time",
    )
    table.incremental(
        second(4.5),
        second(5.5),
        "overwritten",
        "the rows of the replacing write, none of the groups it replaced",
        "IN-005 RD-003",
        "range-end-exclusive range-begin-ignored",
    )
    table.incremental(
        second(5.5), second(6.5), "clustered", "clustering brings no rows", "IN-005", "range-begin-ignored"
    )
    table.incremental(
        second(1.5),
        None,
        "all-since",
        "rows written before the clustering are still of their own write",
        "IN-005 IN-003",
        "range-begin-ignored replaced-group-visible",
        meta_columns=True,
    )


def _cluster(table: GoldenTable, at: InstantTime, city: str) -> None:
    """Both groups of a city become one whose rows keep what they say of themselves."""
    old = [table.group(city, number) for number in (0, 1)]
    rows = [row for group in old for row in table.rows.pop(group).values()]
    group = table.group(city, 9)
    table.homes.move(group.partition, [str(row.values["_hoodie_record_key"]) for row in rows], group)
    table.rows[group] = {str(row.values["_hoodie_record_key"]): row for row in rows}
    written = table.base_file(group, at, rows)
    table.place(written)
    table.begin(Action.CLUSTERING, at, ReplacePlan("CLUSTER"))
    table.complete(Action.REPLACE_COMMIT, at, table.commit_metadata("CLUSTER", written, replaced=old))


@golden("v9/cow_ranges_cleaned", "Ranges after a clean", copy_on_write(9), _FEATURES, also=(6, 8))
def cleaned(table: GoldenTable) -> None:
    """Four commits; a clean removed the files that only the first two needed."""
    at = _times(table)
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r12")))
    table.upsert(second(4), rides(40, ("r02",)))
    table.clean(second(5), second(3))
    table.incremental(
        "0",
        at[2],
        "cleaned",
        "rows that were replaced since can no longer be derived",
        "IN-007",
        "range-answered-in-part",
    )
    table.incremental(at[2], None, "retained", "what is there is answered", "IN-007", "range-begin-ignored")
    if table.version > 8:
        then = "the newest rows tell when they were written"
        table.incremental("0", None, "since-cleaned-times", then, "IN-007", "oldest-base-file")


@golden("v9/mor_ranges_archived", "Ranges that begin before the active timeline", merge_on_read(9), _FEATURES)
def archived(table: GoldenTable) -> None:
    """The first two of four deltacommits have left the timeline, and their files are still there."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), [*rides(30, ("r01", "r12")), *rides(5, ("r03",), rider="late")])
    table.upsert(second(4), rides(40, ("r02",)))
    table.archive(2)
    table.incremental(
        "0", None, "all", "rows of archived writes are answered as well", "IN-003 HS-008", "incremental-one-log"
    )
    table.incremental(
        second(1.7),
        None,
        "since-archived-times",
        "a range may hold archived writes; as released the late row shows, which lost against one from before it",
        "IN-004 IN-007",
        "range-begin-ignored",
    )
    table.incremental(
        second(3),
        second(4.2),
        "active",
        "a range behind the archived part",
        "IN-007 IN-003 IN-004",
        "range-by-requested-time",
    )


@golden(
    "v9/cow_no_commit_times",
    "Without meta fields neither rows nor changes of a range can be derived",
    copy_on_write(9, properties={"hoodie.populate.meta.fields": "false"}),
    _FEATURES,
    also=(6, 8),
)
def no_commit_times(table: GoldenTable) -> None:
    """Two commits of a table whose meta columns are empty."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.without_meta_values()
    table.incremental(
        second(1.5), None, "incremental", "no row states when it was written", "IN-006", "commit-times-not-needed"
    )
