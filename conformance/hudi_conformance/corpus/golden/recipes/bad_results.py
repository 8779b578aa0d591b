"""Tables in which a service made what it was not to make, or that say of themselves what is not so."""

from dataclasses import replace

from hudi_model.files import BaseFile, Record

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import FEATURES, LOWER, STATISTICS, spread
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import check, deep_check
from hudi_conformance.corpus.golden.writer import Written

_PROPERTIES = ".hoodie/hoodie.properties"


def _without_a_row(written: Written) -> Written:
    """The first file without its last row."""
    first, *rest = written.base_files
    return replace(written, base_files=(replace(first, records=_rows(first)[:-1]), *rest))


def _rows(file: BaseFile) -> tuple[Record, ...]:
    return file.records if isinstance(file.records, tuple) else ()


@golden("v9/bad_compaction_lost_row", "A compaction lost a row", merge_on_read(9), also=(6,))
def compaction(table: GoldenTable) -> None:
    """Two groups were compacted; the new file of one has a row less than base file and log had."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    groups = [table.group("oslo"), table.group("lima")]
    table.schedule_compaction(second(3), groups)
    table.complete_compaction(second(3), _without_a_row(table.compacted_files(second(3), groups)))
    deep_check(table, "the file that lacks a row is named", "CP-004", "results-unchecked")


@golden("v9/bad_log_compaction_gap", "A log compaction left out a block between others", merge_on_read(9), also=(6,))
def gap(table: GoldenTable) -> None:
    """Three updates of one ride; the first and the last were made one block, which is read after the second."""
    table.insert(second(1), fleet(10))
    for number in (2, 3, 4):
        table.upsert(second(number), rides(10 * number, ("r01",), rider=f"write {number}"))
    table.log_compact(second(5), table.home(rides(10, ("r01",))[0]), [second(4), second(2)])
    check(table, "the block that was left out is named", "LC-003", "log-compactions-unchecked")


@golden("v9/bad_field_is_no_column", "An ordering field that is no column", copy_on_write(9), also=(6, 8))
def no_column(table: GoldenTable) -> None:
    """The property that names the ordering field was changed by hand."""
    named = b"ordering.fields" if table.version > 8 else b"precombine.field"
    table.insert(second(1), fleet(10))
    table.damage(corruption.substitute(_PROPERTIES, named + b"=ts", named + b"=tx"))
    check(table, "the field that is no column is named", "OW-032", "fields-unchecked")


@golden("v9/bad_index_version", "An index of a version that the table cannot have", copy_on_write(9), FEATURES)
def index_version_9(table: GoldenTable) -> None:
    """A table that was made in version 9 says that its index has version V1."""
    table.insert(second(1), spread(10))
    table.keep_indexes(LOWER)
    table.damage(corruption.substitute(".hoodie/.index_defs/index.json", b'"V2"', b'"V1"'))
    check(table, "the index is named", "IX-004", "index-versions-unchecked")


@golden("v9/bad_folder_of_row", "A row lies in the folder of another city", copy_on_write(9))
def folder_9(table: GoldenTable) -> None:
    """One row of a file in one city's folder says another city; its meta field says the folder's."""
    written = table.insert(second(1), fleet(10))
    moved = written.base_files[0]
    rows = tuple(Record({**one.values, "city": "lima"}) if not at else one for at, one in enumerate(_rows(moved)))
    table.base_files = [replace(one, records=rows) if one == moved else one for one in table.base_files]
    deep_check(table, "the file of the row is named", "DM-031", "folders-of-rows-unchecked")


@golden("v9/bad_log_compaction_name", "The log of a log compaction bears another instant", merge_on_read(9))
def log_name_9(table: GoldenTable) -> None:
    """Two updates of one ride were made one block; its log bears the instant of the second in place of its own."""
    table.insert(second(1), fleet(10))
    for number in (2, 3):
        table.upsert(second(number), rides(10 * number, ("r01",), rider=f"write {number}"))
    home = table.home(rides(10, ("r01",))[0])
    table.log_compact(second(5), home, [second(3), second(2)], named=second(3))
    check(table, "the log is named", "LC-005", "log-compactions-unchecked")


@golden("v9/bad_clustering_lost_row", "A clustering lost a row", merge_on_read(9))
@golden(
    "v6/bad_clustering_lost_row",
    "A clustering lost a row",
    copy_on_write(6),
    given={6: "The groups of one city became one; of their rows one is not there."},
)
def clustering(table: GoldenTable) -> None:
    """The groups of one city became one; of their rows, as base files and logs make them, one is not there."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r02")))
    groups = [table.group("oslo", 0), table.group("oslo", 1)]
    kept = [row for group, rows in table.merged().items() if group in groups for row in rows]
    plain = [{name: one.values[name] for name in (field.name for field in table.schema.fields)} for one in kept[1:]]
    table.replace_groups(second(3), plain, groups, operation="CLUSTER", plan=table.clustering_plan(groups))
    deep_check(table, "the clustering that lost a row is named", "CL-004", "results-unchecked")


@golden("v9/bad_index_group_missing", "The first group of an index is not there", copy_on_write(9), FEATURES, also=(8,))
def index_group_9(table: GoldenTable) -> None:
    """The one group of the statistics has the number of a second: a reader that goes by hashes does not find it."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS)
    table.renumber_group(STATISTICS.name, 0, 1)
    check(table, "the index whose groups do not count from 0 is named", "MT-017", "groups-unnumbered")


@golden("v9/bad_key_in_two_groups", "A key stands in two file groups of its partition", copy_on_write(9))
@golden("v6/bad_key_in_two_groups", "A key stands in two file groups of its partition", merge_on_read(6))
def twice(table: GoldenTable) -> None:
    """An insert put a ride that is there into another file group."""
    table.insert(second(1), fleet(10))
    row, home = rides(20, ("r01",), rider="again")[0], table.home(rides(10, ("r01",))[0])
    other = next(one for one in (table.group("oslo", 0), table.group("oslo", 1)) if one != home)
    kept = [one for group, stored in table.merged().items() if group == other for one in stored]
    table.finish(second(2), table.base_file(other, second(2), [*kept, row]), "INSERT")
    deep_check(table, "the partition of the key is named", "DM-001", "doubled-keys-unchecked")
