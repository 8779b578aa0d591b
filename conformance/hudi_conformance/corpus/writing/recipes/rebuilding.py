"""Tables without a timeline, rebuilt from the names of their files."""

from typing import Any

from hudi_conformance.corpus.golden.recipes.lost_timelines import PLANNED, SAVED
from hudi_conformance.corpus.golden.rides import rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_MORE = {6: " recovery-forgets-waiting-compactions"}
_KILLS = "recovery-of-foreign-instants rebuild-reports-nothing-unknown"


def _rebuilt(case: WritingCase) -> None:
    """What may be wrong with the table is said."""
    case.query("read_snapshot", reject="TIMELINE_FILE_CORRUPT")
    case.service("recover", warns="SR-011")


def _what_is_lost(case: WritingCase) -> None:
    """Rebuild a table, look at it, ask what its timeline held.

    Given a table whose timeline is lost: an insert that was saved, an update and a delete; in one that is merge-on-read
    a compaction had been planned, and an update came after that.
    When it is rebuilt from the names of its files, its savepoint and its plan are requested, and it is written to.
    Then the rebuild reports what it cannot know; the rows are those that were written, and of savepoint and plan
    nothing is left.
    """
    _rebuilt(case)
    case.snapshot(meta_columns=False)
    case.service("delete_savepoint", instant=SAVED, reject="INSTANT_NOT_FOUND")
    # Names of version 6 tell that a compaction waits, by the logs of the slice that it opened.
    if case.is_mor and case.shape.has_completion_times:
        case.execute(PLANNED, reject="INSTANT_NOT_FOUND")
    case.write("upsert", rides(30, ("r01", "r02"), rider="after"))
    case.snapshot(meta_columns=False)


def _of_failed_writes(case: WritingCase) -> None:
    """Of a write that had not completed a rebuilt table may show rows, and all other rows are what they were.

    Given a table whose timeline is lost; one of its writes had never completed.
    When it is rebuilt from the names of its files.
    Then rows that this write did not touch are those that were there, and none is there that nobody wrote.
    """
    _rebuilt(case)
    untouched: Any = ["not", ["id", "in", ["r01", "r11"]]]
    case.snapshot(meta_columns=False, filter=untouched)
    # Both versions of such a row were written; which of them counts, names do not tell.
    case.snapshot(meta_columns=False, columns=["id", "city"])


for _version, _type in ((6, MOR), (8, MOR), (9, MOR), (6, COW), (9, COW)):
    _short = "mor" if _type == MOR else "cow"
    writing(
        f"rebuilding/what_is_lost_{_short}_v{_version}",
        shapes((_version,), (_type,)),
        "SR-011 SR-010 TL-022",
        _KILLS + (_MORE.get(_version, "") if _type == MOR else ""),
        begins_with=f"v{_version}/{_short}_lost_timeline",
    )(_what_is_lost)

for _version, _type in ((6, MOR), (9, COW)):
    _short = "mor" if _type == MOR else "cow"
    writing(
        f"rebuilding/of_a_failed_write_{_short}_v{_version}",
        shapes((_version,), (_type,)),
        "SR-011 SR-010",
        f"recovery-takes-the-first-write-alone rebuild-reports-nothing-unknown{_MORE.get(_version, '')}",
        begins_with=f"v{_version}/{_short}_lost_timeline_of_a_failed_write",
    )(_of_failed_writes)
