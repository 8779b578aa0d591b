"""Plans and other timeline files whose bytes are damaged."""

from hudi_model.actions import Action, CleanPlan, State

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import check


@golden("v9/bad_plan", "The plan of a pending compaction is damaged", merge_on_read(9), also=(6, 8))
def damaged_plan(table: GoldenTable) -> None:
    """A compaction was planned; the bytes of its plan are something else."""
    plan = f"{table.layout.timeline_folder}/*.compaction.requested"
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.schedule_compaction(second(3), [table.group("oslo", 0)], state=State.REQUESTED)
    table.damage(corruption.overwrite(plan, 0, b"not a plan, whatever its length may be"))
    check(table, "the plan that waits cannot be read", "TL-033", "violations-never")


@golden("v9/cow_foreign_clean", "The plan of a clean names the table's properties", copy_on_write(9), also=(6, 8))
def foreign_clean(table: GoldenTable) -> None:
    """A clean waits; its plan names an old base file, and beside it files and a folder that are none of the data."""
    table.insert(second(1), fleet(10))
    old = table.upsert(second(2), rides(20, ("r01", "r11"))).base_files[0]
    table.upsert(second(3), rides(30, ("r01", "r11")))
    files = frozenset({(old.partition, old.name), (".hoodie", "hoodie.properties"), ("oslo", "notes.txt")})
    table.begin(Action.CLEAN, second(4), CleanPlan(None, files, partitions=frozenset({".hoodie/.aux"})))
    table.snapshot("snapshot", "a plan that waits changes no answer", "RD-004", "oldest-base-file")
    check(table, "what is named beside data files is no data file", "SL-007", "plans-name-anything")
