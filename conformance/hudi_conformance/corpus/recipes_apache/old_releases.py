"""Tables of versions 4 and 5, recorded once: their releases have no bundle for the Spark of today.

They were written through the Java client of those releases, update by update into given file groups.
"""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.writer import RecipeError, TableWriter

_LOGS = ("mor", "base-parquet", "log-avro", "log-delete", "log-delete-kryo")


def _recorded_once(table: TableWriter) -> None:
    raise RecipeError(f"{table.path}: its release runs on no Spark of today; the table was recorded once")


@recipe(
    "v4/apache_cow_upserts",
    bundle="0.11.1",
    title="Version 4, copy-on-write by release 0.11.1",
    features=("table-version-4", "cow", "base-parquet"),
)
def cow_upserts_4(table: TableWriter) -> None:
    """Four inserts, then two updates and a new key, then a row that marks itself deleted."""
    _recorded_once(table)


@recipe(
    "v4/apache_mor_deletes",
    bundle="0.11.1",
    title="Version 4, merge-on-read by release 0.11.1: deletes in Kryo's form",
    features=("table-version-4", *_LOGS, "payload-DefaultHoodieRecordPayload"),
)
def mor_deletes_4(table: TableWriter) -> None:
    """Six inserts, updates with a late one, deletes with and without ordering value, a key that returns."""
    _recorded_once(table)


@recipe(
    "v4/apache_mor_rolled_back",
    bundle="0.11.1",
    title="Version 4, merge-on-read by release 0.11.1: a deltacommit rolled back",
    features=("table-version-4", *_LOGS, "payload-OverwriteWithLatestAvroPayload", "rollback"),
)
def mor_rolled_back_4(table: TableWriter) -> None:
    """Two inserts, an update, an update and a delete that are rolled back, an update more."""
    _recorded_once(table)


@recipe(
    "v5/apache_cow_upserts",
    bundle="0.12.3",
    title="Version 5, copy-on-write by release 0.12.3",
    features=("table-version-5", "cow", "base-parquet"),
)
def cow_upserts_5(table: TableWriter) -> None:
    """Four inserts, then two updates and a new key, then a row that marks itself deleted."""
    _recorded_once(table)


@recipe(
    "v5/apache_mor_deletes",
    bundle="0.12.3",
    title="Version 5, merge-on-read by release 0.12.3: deletes in Kryo's form",
    features=("table-version-5", *_LOGS, "payload-DefaultHoodieRecordPayload"),
)
def mor_deletes_5(table: TableWriter) -> None:
    """Six inserts, updates with a late one, deletes with and without ordering value, a key that returns."""
    _recorded_once(table)


@recipe(
    "v5/apache_mor_rolled_back",
    bundle="0.12.3",
    title="Version 5, merge-on-read by release 0.12.3: a deltacommit rolled back",
    features=("table-version-5", *_LOGS, "payload-OverwriteWithLatestAvroPayload", "rollback"),
)
def mor_rolled_back_5(table: TableWriter) -> None:
    """Two inserts, an update, an update and a delete that are rolled back, an update more."""
    _recorded_once(table)
