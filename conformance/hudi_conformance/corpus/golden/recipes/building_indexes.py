"""Tables with an index that is being built, and with writes that completed meanwhile."""

from typing import Final

from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import FEATURES, RECORDS, STATISTICS, spread
from hudi_conformance.corpus.golden.rides import ride, rides, second
from hudi_conformance.corpus.golden.usual import deep_check, skipping

INDEXING: Final = second(2)
"""The indexing that waits for its end."""
_LOGGED, _PASSED = "An index is being built, and a write logged to it", "A write passed by an index that is being built"


def _built_meanwhile(table: GoldenTable) -> None:
    table.insert(second(1), spread(10))
    table.keep_indexes()
    table.build_indexes(INDEXING, STATISTICS, RECORDS)
    table.upsert(second(3), [*rides(20, ("r01", "r11"), rider="meanwhile"), ride("new", 20, city="oslo")])


def _unused(table: GoldenTable) -> None:
    skipping(
        table,
        "rider",
        ["rider", "=", "meanwhile"],
        "what is being built is not read: the rows of the write are all there",
        "IG-005 IX-051",
        "filter-ignored",
    )


@golden("v9/mor_index_being_built", _LOGGED, merge_on_read(9), FEATURES, also=(6,))
@golden("v8/cow_index_being_built", _LOGGED, copy_on_write(8), FEATURES)
def logged(table: GoldenTable) -> None:
    """Statistics and places are being built; an upsert that changed two rides and brought one has completed since."""
    _built_meanwhile(table)
    if table.version > 6:
        deep_check(table, "nothing is wrong", "IG-003 MT-005", "logs-to-new-indexes-unseen")
    _unused(table)


@golden("v9/bad_index_passed_by", _PASSED, copy_on_write(9, ordering=()), FEATURES)
@golden("v8/bad_index_passed_by", _PASSED, merge_on_read(8), FEATURES)
def passed(table: GoldenTable) -> None:
    """Statistics and places are being built; of an upsert that has completed since they have nothing."""
    _built_meanwhile(table)
    for index in (STATISTICS, RECORDS):
        table.without_logs_of(index.name, second(3))
    deep_check(table, "what the indexes lack of the write is named", "IG-003", "indexes-being-built-unchecked")
    _unused(table)
    meaning = "what is being built is not read: the place of a new key is not there yet"
    skipping(table, "id", ["id", "=", "new"], meaning, "IG-005 IX-020", "filter-ignored")
