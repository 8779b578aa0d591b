"""Tables on which documented defects of real implementations show; see specs/known-bugs.toml. Logs, merging, slices."""

from hudi_model.actions import State
from hudi_model.files import CorruptBlock

from hudi_conformance.corpus.golden import block_types, corruption
from hudi_conformance.corpus.golden.layout import merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, ride, rides, second
from hudi_conformance.corpus.golden.writer import data_path

_COMMIT_TIME = {"merge_mode": "COMMIT_TIME_ORDERING"}
_GARBAGE = CorruptBlock(0, 61)


# Log files


def _fails_and_is_undone(table: GoldenTable, *, torn: bool) -> None:
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r03"), rider="failed"), state=State.INFLIGHT)
    group = table.home(ride("r01", 0))
    if torn:
        table.place(table.log_file(group, second(3), _GARBAGE))
    table.upsert(second(5), rides(30, ("r02",)))
    table.roll_back(second(6), second(2))
    table.forget(second(1), second(6))


@golden(
    "v6/mor_rolled_back_later", "What lies behind blocks that are younger than the time requested", merge_on_read(6)
)
def rolled_back_later(table: GoldenTable) -> None:
    """A write failed; another began, the first was rolled back, the other completed; archival passed the rollback.

    Two writes share a last log: the block of the one that was requested first lies behind that of the other.
    """
    _fails_and_is_undone(table, torn=False)
    group, early, late = table.home(ride("r01", 0)), second(7), second(8)
    blocks = [table.data_block(group, at, [ride(key, 40)]) for at, key in ((late, "r03"), (early, "r01"))]
    written = table.log_file(group, late, *blocks)
    table.finish(late, written, "UPSERT")
    table.begin(table.data_action, early)
    table.complete(table.data_action, early, table.commit_metadata("UPSERT", written))
    table.as_of(
        second(5.7),
        "as-of-before-the-rollback",
        "a command counts whatever its own instant is: the failed write is not read",
        "LF-015 LF-016",
        "late-rollback-block-ignored rollback-ignored",
    )
    table.as_of(
        early,
        "as-of-behind-a-later-block",
        "a block counts whatever stands before it",
        "LF-016 RD-010",
        "reading-stops-at-a-later-block",
    )


@golden("v6/mor_rolled_back_twice", "A torn command before the one that counts", merge_on_read(6))
def rolled_back_twice(table: GoldenTable) -> None:
    """The first attempt to roll a write back left bytes that are no block; another log and the command follow."""
    _fails_and_is_undone(table, torn=True)
    table.snapshot(
        "snapshot",
        "the command takes back the write's block, not what stands before it",
        "LF-015 LF-010",
        "rollback-drops-any-previous-block corrupt-block-refused",
    )


@golden("v6/mor_written_after_rollback", "An instant that is written again after its rollback", merge_on_read(6))
def written_after_rollback(table: GoldenTable) -> None:
    """A write failed, another followed, a command took the first back, then it was done again under its instant."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r03"), rider="first attempt"), state=State.INFLIGHT)
    table.upsert(second(3), rides(30, ("fähre-05",)))
    table.roll_back(second(4), second(2))
    table.upsert(second(2), rides(20, ("r01",), rider="second attempt"))
    table.snapshot(
        "snapshot",
        "the first attempt is gone, the second is there",
        "LF-015",
        "rollback-drops-previous-block-only rollback-drops-later-blocks rollback-ignored",
    )


@golden("v8/mor_torn_by_a_block", "A torn block that ends where the next one does", merge_on_read(8), also=(6,))
def torn_by_a_block(table: GoldenTable) -> None:
    """A block lacks exactly the length of the block behind it, and a record in it holds the magic."""
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    torn = table.data_block(group, second(2), rides(20, ("r01", "r03"), rider="#HUDI# " + "is the magic " * 200))
    written = table.append(second(2), {group: [torn, table.delete_block(group, second(2), ["fähre-05"])]})
    table.damage(corruption.shorten_first_block(data_path(written.log_files[0])))
    table.snapshot(
        "snapshot",
        "the torn block holds nothing, the whole one is read",
        "LF-010 LF-011 LF-003",
        "corrupt-block-stops-file corrupt-block-refused corrupt-block-without-warning",
    )


def _several(table: GoldenTable) -> None:
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    # The magic of the second block lies across byte 8,192, where buffers of readers end.
    rows = [ride("r01", 20, rider="one" * 2212), ride("r09@oslo", 20)], rides(20, ("r01",), rider="second")
    blocks = [table.data_block(group, second(2), each) for each in rows]
    more = table.data_block(group, second(2), rides(20, ("r03", "fähre-05")))
    written = table.log_file(group, second(2), *blocks)
    table.finish(second(2), written + table.log_file(group, second(2), more, token="3-4-1"), "UPSERT")  # noqa: S106


@golden("v9/mor_several_blocks", "One write, several blocks and logs of one group", merge_on_read(9), also=(6,))
def several_blocks(table: GoldenTable) -> None:
    """Two blocks of one log hold the same ride; a second log of the same write stems from another task."""
    _several(table)
    table.snapshot(
        "snapshot",
        "no block is taken for a repetition, and of equal rides the last written stands",
        "MG-004 RD-007 LF-016",
        "repeated-blocks-dropped tie-to-older",
    )


@golden("v9/mor_log_compacted_parquet", "A log compaction of Parquet blocks", merge_on_read(9, **_COMMIT_TIME))
def log_compacted_parquet(table: GoldenTable) -> None:
    """Two updates of one group and their log compaction, all in Parquet blocks."""
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    for number in (2, 3):
        table.append(second(number), {group: [table.data_block(group, second(number), [ride("r01", 30 - number)])]})
    table.append(second(4), {group: [table.data_block(group, second(4), [ride("r03", 5), ride("r01", 30)])]})
    table.log_compact(second(5), group, (second(3), second(2)))
    for log in table.log_files:
        table.damage(block_types.as_parquet_blocks(data_path(log)))
    table.snapshot(
        "snapshot",
        "the merged block stands where its newest source stood",
        "LF-019 LF-027",
        "log-compaction-read-twice",
    )


# Merging


@golden("v9/mor_mixed_deletes", "Deletes with and without ordering value in one block", merge_on_read(9))
def mixed_deletes(table: GoldenTable) -> None:
    """One block of deletes: without a value, with a lesser one, with a greater one."""
    table.insert(second(1), fleet(9))
    group = table.group("oslo", 0)
    orderings = {"r01": None, "r03": 5, "fähre-05": 10}
    table.append(second(2), {group: [table.delete_block(group, second(2), orderings)]})
    table.snapshot(
        "snapshot",
        "each delete competes by its own value or without one",
        "LF-008 MG-005 MG-006",
        "typed-delete-ignores-ordering deletes-ignored",
    )


@golden("v9/mor_written_after_delete", "Rides written again after a delete without ordering value", merge_on_read(9))
def written_after_delete(table: GoldenTable) -> None:
    """One ride is deleted and written with its old value, another, updated before, with a lesser one."""
    table.insert(second(1), rides(5, ("r01", "r03", "r11")))
    table.upsert(second(2), rides(7, ("r03",)))
    table.delete(second(3), "oslo", "r01", "r03")
    table.upsert(second(4), [*rides(5, ("r01",), rider="again"), *rides(6, ("r03",), rider="again")])
    table.snapshot(
        "snapshot",
        "what is written after the delete stands",
        "MG-005 MG-004",
        "delete-without-ordering-is-final",
    )


@golden("v9/mor_null_ordering", "Rides without ordering value", merge_on_read(9))
def null_ordering(table: GoldenTable) -> None:
    """Versions without value alone, before greater, lesser and negative ones, in base files and logs, and last."""
    table.insert(second(1), [row if row["id"] != "r13" else {**row, "ts": None} for row in fleet(10)])
    table.upsert(second(2), rides(None, ("r01", "r02", "r11", "r12"), rider="no value"))
    below = rides(-5, ("r12", "r13"), rider="below zero")
    table.upsert(second(3), [*rides(20, ("r02", "r03"), rider="newer"), *below])
    table.upsert(second(4), [*rides(None, ("r03",), rider="no value"), *rides(12, ("r11",), rider="after it")])
    table.snapshot(
        "snapshot",
        "a version without value wins over what precedes it and loses to what follows",
        "MG-011",
        "null-ordering-is-least null-ordering-is-zero",
    )


@golden("v9/mor_key_twice_in_a_file", "A base file that holds a key twice", merge_on_read(9))
def key_twice(table: GoldenTable) -> None:
    """An insert brought two rows of one key; one update follows."""
    rows = [*rides(10, ("r01", "r03"), rider="one"), *rides(10, ("r01",), rider="other")]
    group = table.home(rows[0])
    table.finish(second(1), table.base_file(group, second(1), rows), "BULK_INSERT")
    table.upsert(second(2), rides(20, ("r01",), rider="updated"))
    table.snapshot("snapshot", "each of the two rows meets the update", "DM-001", "second-row-of-a-key-dropped")


# Slices


@golden("v9/mor_failed_first_log", "The first write to a group failed", merge_on_read(9))
def failed_first_log(table: GoldenTable) -> None:
    """One city's group began with a log of a write that never completed; a write that completed followed."""
    table.insert(second(1), rides(10, ("r01",)))
    table.upsert(second(2), rides(90, ("r11", "r13"), rider="failed"), state=State.INFLIGHT, operation="INSERT")
    table.upsert(second(3), rides(20, ("r11", "r13")), operation="INSERT")
    table.snapshot(
        "snapshot", "the later write of the group is read", "RD-002 RD-017", "slice-of-failed-first-log-hidden"
    )


@golden("v9/mor_positions_of_another_base", "Positions in a base file that has been replaced", merge_on_read(9))
def positions_of_another_base(table: GoldenTable) -> None:
    """A write outlasts a compaction: its positions count in the base file before, which had one row more.

    A later write has positions in the base file that is there.
    """
    group = table.group("oslo", 0)
    table.insert(second(1), fleet(10))
    table.delete(second(2), "oslo", "r01")
    table.compact(second(4), [group], done=second(4.5))
    written = table.upsert(second(3), rides(30, ("r03",), rider="second row of the old file"), done=second(5))
    table.damage(block_types.with_positions(data_path(written.log_files[0]), second(1), (1,)))
    later = table.upsert(second(6), rides(40, ("fähre-05",), rider="second row of the new file"))
    table.damage(block_types.with_positions(data_path(later.log_files[0]), second(4), (1,)))
    table.snapshot("snapshot", "the ride is found by its key", "LF-023 RD-005", "v8-log-by-name")
    table.query(
        "read_snapshot",
        "by-positions",
        "where one block has no position in the base file, all rows are found by their keys",
        "LF-023 RD-005",
        "v8-log-by-name",
        configs={"hoodie.merge.use.record.positions": "true"},
    )
