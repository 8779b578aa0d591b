"""Tables whose metadata table says what is not so: one fault each, which a check must tell."""

from typing import Any

from hudi_model.actions import IndexDefinition

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.indexing import Change
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import (
    BLOOM,
    FEATURES,
    LOWER,
    PARTITIONS,
    RECORDS,
    RIDER,
    STATISTICS,
    spread,
)
from hudi_conformance.corpus.golden.rides import rides, second
from hudi_conformance.corpus.golden.usual import deep_check


def _indexed(table: GoldenTable, *indexes: IndexDefinition) -> None:
    table.insert(second(1), spread(10))
    table.keep_indexes(*indexes)


def _tampered(table: GoldenTable, index: IndexDefinition, change: Change) -> None:
    needed = (RECORDS,) if index is RIDER else ()
    _indexed(table, *needed, index)
    table.tamper(index.name, change)


@golden("v9/bad_list_lacks_file", "The list of files lacks one", copy_on_write(9), FEATURES, also=(6,))
def lacks_file(table: GoldenTable) -> None:
    """The newest file of one partition is not in the list."""
    _indexed(table)
    written = table.upsert(second(2), rides(20, ("r01",), rider="second"))
    gone = written.base_files[0].name

    def without(key: str, listed: Any) -> Any:
        return {name: size for name, size in listed.items() if name != gone} if key == "oslo" else listed

    table.tamper("files", without)
    deep_check(table, "the file that the list lacks is named", "MT-010 MT-005", "violations-never entries-unchecked")
    table.snapshot(
        "newest",
        "a reader of storage sees the newest file",
        "RD-004 MT-005",
        "filter-ignored",
        filter=["rider", "=", "second"],
    )


@golden("v9/bad_list_wrong_size", "The list of files has a wrong size", copy_on_write(9), FEATURES, also=(8,))
def wrong_size(table: GoldenTable) -> None:
    """One file is listed a hundred bytes too long: a reader that trusts the size looks for the footer past the end."""
    _indexed(table)

    def longer(key: str, listed: Any) -> Any:
        first = min(listed)
        return {**listed, first: 100_000} if key == "lima" else listed

    table.tamper("files", longer)
    deep_check(table, "the file with the wrong size is named", "MT-010 MT-005", "violations-never lists-without-sizes")


@golden(
    "v9/bad_list_strange_file", "The list of files has one that is not there", merge_on_read(9), FEATURES, also=(6,)
)
def strange_file(table: GoldenTable) -> None:
    """A file that storage never had stands in the list of one partition."""
    _indexed(table)
    unlisted = f"11111111-2222-3333-4444-555555555555-0_0-1-0_{second(1)}.parquet"
    table.tamper("files", lambda key, listed: {**listed, unlisted: 435} if key == "oslo" else listed)
    deep_check(table, "the file that storage lacks is named", "MT-010 MT-005", "violations-never entries-unchecked")


@golden("v9/bad_list_of_partitions", "The list of partitions lacks one", copy_on_write(9), FEATURES)
def lacks_partition(table: GoldenTable) -> None:
    """Files of both partitions are listed; the list of partitions has one of them."""
    _indexed(table)
    table.tamper("files", lambda key, listed: {"oslo": 0} if key == "__all_partitions__" else listed)
    deep_check(
        table, "the partition that is not listed is named", "MT-010 MT-002", "violations-never partitions-unlisted"
    )


@golden("v9/bad_statistics", "Statistics that do not bound", merge_on_read(9), FEATURES, also=(6, 8))
def statistics(table: GoldenTable) -> None:
    """The greatest fare of one file is recorded too small, and its nulls are left out."""
    first = table.group("oslo", 1).file_id

    def narrower(key: str, found: Any) -> Any:
        return [found[0], found[0], 0, found[3]] if key.startswith("fare|") and first in key else found

    _tampered(table, STATISTICS, narrower)
    deep_check(
        table,
        "the column and the file are named",
        "MT-011 MT-005 MT-012 MT-023",
        "violations-never entries-not-compared",
    )


@golden(
    "v9/bad_partition_statistics", "Statistics of a partition that do not bound", merge_on_read(9), FEATURES, also=(8,)
)
def partition_statistics(table: GoldenTable) -> None:
    """The latest day of one partition is recorded too early."""

    def earlier(key: str, found: Any) -> Any:
        return [found[0], found[0], *found[2:]] if key == "day|lima" else found

    _tampered(table, PARTITIONS, earlier)
    deep_check(
        table, "the column and the partition are named", "MT-014 MT-005", "violations-never entries-not-compared"
    )


@golden("v9/bad_bloom_filter", "A bloom filter denies a key", copy_on_write(9), FEATURES, also=(6,))
def bloom(table: GoldenTable) -> None:
    """The filter of one file was made without its last key."""
    first = table.group("lima", 0).file_id
    _tampered(table, BLOOM, lambda key, held: held[:-1] if first in key else held)
    deep_check(
        table,
        "the file whose filter denies a key is named",
        "IX-010 IX-011",
        "violations-never entries-not-compared filters-of-the-first-key",
    )


@golden(
    "v9/bad_record_index_place",
    "The record index leads to the wrong file group",
    merge_on_read(9),
    FEATURES,
    also=(6,),
    given={6: "Of two keys one is said to live in the other group, the other has no entry."},
)
def place(table: GoldenTable) -> None:
    """Of two keys one is said to live in the other group, the other has no entry; a third is nobody's."""
    other = table.group("oslo", 1)

    def misplaced(key: str, place: Any) -> Any:
        return None if key == "r12" else [other.partition, other.file_id] if key == "r01" else place

    _tampered(table, RECORDS, misplaced)
    deep_check(table, "both keys are named", "IX-020 IX-021 IX-023 MT-005", "violations-never entries-unchecked")


@golden("v9/bad_secondary_index", "A secondary index is stale", merge_on_read(9), FEATURES, also=(8,))
def secondary(table: GoldenTable) -> None:
    """An update's value has no entry, and the entry of the value before is still there.

    A second file group of the record index has the keys of the first, too.
    """
    _indexed(table, RECORDS, RIDER)
    first = next(one for one in table.metadata.base_files if one.partition == RECORDS.name) if table.metadata else None
    assert first is not None
    target = first.name.replace("-0000-0_", "-0001-0_")
    table.damage(corruption.copy(f".hoodie/metadata/{RECORDS.name}/{first.name}", target))
    table.upsert(second(2), rides(20, ("r02",), rider="second"))
    table.without_logs_of(RIDER.name, second(2))
    deep_check(
        table,
        "the value without an entry, the entry without a value and the keys in another group are named",
        "IX-031 IX-030 IX-020 MT-005 MT-017",
        "violations-never entries-unchecked entries-in-any-group",
    )


@golden("v9/bad_expression_index", "Statistics of a function are those of the column", merge_on_read(9), FEATURES)
def expression(table: GoldenTable) -> None:
    """An index of lower case holds the bounds of the column as it is written."""
    _tampered(table, LOWER, lambda _, found: [*(one and one.capitalize() for one in found[:2]), *found[2:]])
    deep_check(
        table,
        "each file whose bounds are not of the function is named",
        "IX-040 MT-005",
        "violations-never entries-not-compared",
    )


@golden(
    "v9/bad_metadata_action_missing",
    "An action committed nothing to the metadata table",
    merge_on_read(9),
    FEATURES,
    also=(6,),
)
def missing(table: GoldenTable) -> None:
    """The metadata table has the commits before and after an update, and none of its own."""
    _indexed(table)
    for number in (2, 3, 4):
        table.upsert(second(number), rides(10 * number, ("r01", "r12"), rider="update"))
    table.forget_metadata_of(second(3))
    if table.version > 6:
        then, kills = (
            "the action is named, and the files that nobody listed",
            "violations-never metadata-actions-unchecked",
        )
        deep_check(table, then, "MT-003 MT-010 MT-005", kills)
    else:
        then = "the files that nobody listed are named; no completion time shows whether the action had to"
        deep_check(table, then, "MT-010 MT-005", "violations-never entries-unchecked")


@golden("v9/bad_metadata_version", "The metadata table is of another version", merge_on_read(9), FEATURES)
def version(table: GoldenTable) -> None:
    """The table has been upgraded, its metadata table says version 8."""
    _indexed(table)
    table.restate_metadata({"hoodie.table.version": "8"})
    deep_check(table, "the version is reported", "MT-001", "violations-never metadata-version-unchecked")


@golden("v9/bad_metadata_gone", "The properties list indexes, the metadata table is gone", copy_on_write(9), FEATURES)
def gone(table: GoldenTable) -> None:
    """The folder of the metadata table was deleted by hand."""
    _indexed(table, STATISTICS)
    table.metadata = None
    deep_check(table, "the indexes that are not there are reported", "MT-007 MT-001", "violations-never")
    table.snapshot(
        "snapshot", "rows are read by a listing", "MT-007 RD-004", "filter-ignored", filter=["fare", "<", "5"]
    )
