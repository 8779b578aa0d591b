"""Tables that are read as ever, or nearly so, and that a check finds broken."""

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import check
from hudi_conformance.corpus.golden.writer import data_path

_TIMELINE = ".hoodie/timeline"
_HISTORY = f"{_TIMELINE}/history"


@golden("v9/bad_saved_file_gone", "A file that a savepoint keeps is gone", copy_on_write(9))
def saved_file_gone(table: GoldenTable) -> None:
    """The first write is saved, the second replaced all files; one of the first was deleted by hand."""
    written = table.insert(second(1), fleet(10))
    table.savepoint(second(1), second(1.7))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.damage(corruption.remove(data_path(written.base_files[0])))
    table.snapshot("snapshot", "the newest rows are there", "RD-011 RD-004", "oldest-base-file")
    check(table, "what the savepoint can no longer bring back is reported", "SR-002 CN-008", "plans-unchecked")


@golden("v9/bad_planned_log_gone", "A log that a pending compaction is to read is gone", merge_on_read(9))
def planned_log_gone(table: GoldenTable) -> None:
    """A compaction waits; one of the logs in its plan was deleted by hand."""
    table.insert(second(1), fleet(10))
    written = table.upsert(second(2), rides(20, ("r01", "r11")))
    table.schedule_compaction(second(3), [table.group("oslo"), table.group("lima")])
    table.damage(corruption.remove(data_path(written.log_files[0])))
    check(table, "the log is missed by readers and by the plan", "CP-005 RD-018", "plans-unchecked")


@golden("v9/bad_completion_time_reused", "A write completed at the time of another's request", merge_on_read(9))
def completion_time_reused(table: GoldenTable) -> None:
    """The second write's completed file was renamed: its completion time is the third one's requested time."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r02", "r12")))
    table.damage(
        corruption.move(f"{_TIMELINE}/{second(2)}_{second(2.5)}.deltacommit", f"{second(2)}_{second(3)}.deltacommit")
    )
    check(table, "no time is given twice", "TL-024", "given-times-unchecked")


@golden("v9/bad_completed_before_request", "A write completed before it was requested", merge_on_read(9), also=(8,))
def completed_before_request(table: GoldenTable) -> None:
    """The second write's completed file was renamed: its completion time is a tenth of a second before its request."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r02", "r12")))
    table.damage(
        corruption.move(f"{_TIMELINE}/{second(2)}_{second(2.5)}.deltacommit", f"{second(2)}_{second(1.9)}.deltacommit")
    )
    check(table, "nothing completes before it begins", "TL-011", "completed-before-its-request")


@golden(
    "v9/bad_history_name",
    "A file of the history has bounds that exclude its action",
    merge_on_read(9),
    ("history",),
    also=(8,),
)
def history_name(table: GoldenTable) -> None:
    """The oldest file of the history, and its name in the manifest, begin after the action in it."""
    table.insert(second(1), fleet(10))
    for number in range(2, 5):
        table.upsert(second(number), rides(10 + number, ("r01", "r11")))
        table.archive(2, 10)
    old, new = (f"{second(one)}_{second(one)}_0.parquet" for one in (1, 1.2))
    table.damage(corruption.move(f"{_HISTORY}/{old}", new))
    table.damage(corruption.substitute(f"{_HISTORY}/manifest_*", old.encode(), new.encode()))
    check(
        table,
        "the name is reported: readers that look for the action miss it",
        "HS-005",
        "names-in-history-unchecked",
    )


@golden("v8/bad_two_ways_of_merging", "The merge mode is not the payload class's", merge_on_read(8))
def two_ways_of_merging(table: GoldenTable) -> None:
    """The properties say commit time; payload class and strategy id still say event time."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.damage(
        corruption.substitute(
            ".hoodie/hoodie.properties",
            b"hoodie.record.merge.mode=EVENT_TIME_ORDERING",
            b"hoodie.record.merge.mode=COMMIT_TIME_ORDERING",
        )
    )
    check(table, "the contradiction is reported", "MG-016", "contradictions-unchecked")
