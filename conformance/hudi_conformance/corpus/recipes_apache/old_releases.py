"""Tables of versions 4 and 5, recorded once: their releases have no bundle for the Spark of today.

They were written through the Java client of those releases, update by update into given file groups.
"""

from hudi_conformance.corpus.golden.questions import WrittenTable
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
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.writer import RecipeError, TableWriter

_LOGS = ("base-parquet", "log-avro", "log-delete", "log-delete-kryo")


def _recorded_once(table: TableWriter) -> None:
    raise RecipeError(f"{table.path}: its release runs on no Spark of today; the table was recorded once")


def query_cow_upserts(table: WrittenTable) -> None:
    """Four inserts, then two updates and a new key, then a row that marks itself deleted."""
    table.snapshot("snapshot", "the newest base file of each group is read", "VR-003 RD-004", "oldest-base-file")
    first_commit(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v5/apache_cow_upserts",
    by="0.12.3",
    title="Version 5, copy-on-write by release 0.12.3",
    features=("base-parquet",),
    queries=query_cow_upserts,
)
@kept(
    "v4/apache_cow_upserts",
    by="0.11.1",
    title="Version 4, copy-on-write by release 0.11.1",
    features=("base-parquet",),
    queries=query_cow_upserts,
)
def cow_upserts(table: TableWriter) -> None:
    """Four inserts, then two updates and a new key, then a row that marks itself deleted."""
    _recorded_once(table)


def query_mor_deletes(table: WrittenTable) -> None:
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


@kept(
    "v5/apache_mor_deletes",
    by="0.12.3",
    title="Version 5, merge-on-read by release 0.12.3: deletes in Kryo's form",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_mor_deletes,
)
@kept(
    "v4/apache_mor_deletes",
    by="0.11.1",
    title="Version 4, merge-on-read by release 0.11.1: deletes in Kryo's form",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_mor_deletes,
)
def mor_deletes(table: TableWriter) -> None:
    """Six inserts, updates with a late one, deletes with and without ordering value, a key that returns."""
    _recorded_once(table)


def query_mor_rolled_back(table: WrittenTable) -> None:
    """A deltacommit with an update and a delete was rolled back; an update came after."""
    table.snapshot("snapshot", "what was rolled back does not count", "VR-003 RB-007", "old-versions-refused")
    file_slices(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table, "incremental-one-log")


@kept(
    "v5/apache_mor_rolled_back",
    by="0.12.3",
    title="Version 5, merge-on-read by release 0.12.3: a deltacommit rolled back",
    features=(*_LOGS, "payload-OverwriteWithLatestAvroPayload", "rollback"),
    queries=query_mor_rolled_back,
)
@kept(
    "v4/apache_mor_rolled_back",
    by="0.11.1",
    title="Version 4, merge-on-read by release 0.11.1: a deltacommit rolled back",
    features=(*_LOGS, "payload-OverwriteWithLatestAvroPayload", "rollback"),
    queries=query_mor_rolled_back,
)
def mor_rolled_back(table: TableWriter) -> None:
    """Two inserts, an update, an update and a delete that are rolled back, an update more."""
    _recorded_once(table)
