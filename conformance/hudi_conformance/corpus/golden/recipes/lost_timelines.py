"""Tables whose timeline is lost, of which the names of files are left."""

import json

from hudi_model.actions import State

from hudi_conformance.bridge.schemas import avro_schema
from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import RIDES, fleet, rides, second
from hudi_conformance.corpus.golden.usual import check

_COLUMNS = {"hoodie.table.create.schema": json.dumps(avro_schema(RIDES, "rides"))}
_TITLE = "The timeline is lost, a savepoint and a plan with it"
SAVED, PLANNED, DIED = second(1), second(4), second(5)
"""The write that was saved, the compaction that waited, and the write whose process died."""


@golden("v9/mor_lost_timeline", _TITLE, merge_on_read(9, properties=_COLUMNS), also=(6, 8))
def lost_with_a_plan(table: GoldenTable) -> None:
    """An insert that was saved, an update, a delete, a compaction that waits, an update. The timeline was deleted."""
    _written(table)
    _lost(table)


@golden(
    "v9/cow_lost_timeline",
    "The timeline is lost, a savepoint with it",
    copy_on_write(9, properties=_COLUMNS),
    also=(6,),
)
def lost_savepoint(table: GoldenTable) -> None:
    """An insert that was saved, an update, a delete. The timeline's files were deleted."""
    _written(table)
    _lost(table)


@golden(
    "v9/cow_lost_timeline_of_a_failed_write",
    "The timeline is lost, and one write had never completed",
    copy_on_write(9, properties=_COLUMNS),
)
@golden(
    "v6/mor_lost_timeline_of_a_failed_write",
    "The timeline is lost, and one write had never completed",
    merge_on_read(6, properties=_COLUMNS),
)
def of_a_failed_write(table: GoldenTable) -> None:
    """An insert, an update, and an update of two rides whose process died; it left no markers. All names are left."""
    _written(table)
    table.upsert(DIED, rides(50, ("r01", "r11"), rider="never completed"), state=State.INFLIGHT)
    _lost(table)


def _written(table: GoldenTable) -> None:
    table.insert(second(1), fleet(10))
    table.savepoint(SAVED, second(1.7))
    table.upsert(second(2), rides(20, ("r01", "r12"), rider="second"))
    table.delete(second(3), "lima", "r13")
    if table.layout.merge_on_read:
        table.schedule_compaction(PLANNED, [table.group("oslo"), table.group("lima")], State.REQUESTED)
        table.upsert(second(4.2), rides(40, ("r03", "año-15"), rider="after the plan"))


def _lost(table: GoldenTable) -> None:
    folder = table.layout.timeline_folder
    table.damage(corruption.remove(f"{folder}/2025*.*"))
    table.snapshot("snapshot", "it is not taken for a new table", "TL-022", "lost-timeline-is-a-new-table")
    check(table, "the loss of the timeline is reported", "TL-022", "violations-never")
