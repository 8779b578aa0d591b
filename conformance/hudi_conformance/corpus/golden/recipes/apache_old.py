"""Questions to the tables of versions 4 and 5 that Apache Hudi wrote."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    description,
    file_slices,
    filtered_after_merging,
    first_commit,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)


@written("v4/apache_cow_upserts")
@written("v5/apache_cow_upserts")
def cow_upserts(table: WrittenTable) -> None:
    """Four inserts, then two updates and a new key, then a row that marks itself deleted."""
    table.snapshot("snapshot", "the newest base file of each group is read", "VR-003 RD-004", "oldest-base-file")
    first_commit(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v4/apache_mor_deletes")
@written("v5/apache_mor_deletes")
def mor_deletes(table: WrittenTable) -> None:
    """Late rows, deletes with and without ordering value in Kryo's form, a deleted key again."""
    then = "ordering values and deletes decide, and deletes in Kryo's form count like others"
    table.snapshot("snapshot", then, "VR-003 LF-008 MG-005 MG-013", "deletes-ignored")
    first_commit(table)
    base_files_only(table)
    file_slices(table)
    description(table, "VR-003 VR-001", "old-versions-refused")
    meta_fields(table)
    filtered_after_merging(table, "event-time-ignores-ordering")
    up_to_last_but_one(table, "range-begin-ignored")


@written("v4/apache_mor_rolled_back")
@written("v5/apache_mor_rolled_back")
def mor_rolled_back(table: WrittenTable) -> None:
    """A deltacommit with an update and a delete was rolled back; an update came after."""
    table.snapshot("snapshot", "what was rolled back does not count", "VR-003 RB-007", "old-versions-refused")
    file_slices(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table, "incremental-one-log")
