"""Tables of versions 4 and 5, which are read by the rules of version 6."""

from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second


@golden("v5/mor_compacted", "Version 5, compacted", merge_on_read(5), also=(4,), titles={4: "Version 4, compacted"})
def compacted(table: GoldenTable) -> None:
    """Updates, a compaction of a group a city, then late updates; logs are named after their slices."""
    named, kills = ("logs belong to the slices they name", "VR-003 RD-006"), "old-versions-refused"
    groups = [table.group("oslo", 0), table.group("lima", 0)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r02", "r11", "r12")))
    table.compact(second(3), groups)
    table.upsert(second(4), rides(15, ("r01", "r03"), rider="late after the compaction"))
    table.snapshot("snapshot", *named, kills)
    if table.version == 4:
        table.slices("slices", *named, kills)
        table.info("table-info", "the version is reported", "VR-003 VR-001", kills)
    else:
        table.optimized("read-optimized", "compacted groups are as compacted", "VR-003 RD-009", kills)


@golden("v5/cow_upserts", "Version 5, copy-on-write", copy_on_write(5))
def upserts(table: GoldenTable) -> None:
    """Inserts and two updates."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r12",)))
    table.snapshot("snapshot", "the newest base files are read", "VR-003 RD-004", "old-versions-refused")
    table.as_of(second(2.4), "as-of", "instants are requested times", "VR-003 RD-010", "old-versions-refused")
    table.instants("timeline", "names hold no completion times", "VR-003 TL-007", "old-versions-refused")
