"""New tables: what they state, and what none can be."""

from decimal import Decimal
from typing import Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.rides import Row, ride, rides
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, shapes
from hudi_conformance.corpus.writing.steps import WritingCase


@writing("tables/what_they_state", shapes(), "OW-031", "new-tables-forget-their-ordering")
def what_they_state(case: WritingCase) -> None:
    """A new table states version, type, keys, ordering and how it merges.

    Given no table.
    When one is made, and rides are written to it.
    Then it reports what it was made with, and no action but the write is on its timeline.
    """
    case.create()
    case.info()
    case.timeline()
    case.snapshot()
    case.write("insert", rides(10, ("r01", "r11")))
    case.state()


_WHOLE: Final = Schema((Field("id", "decimal(12,0)"), Field("amount", "decimal(38,0)"), Field("share", "decimal(9,9)")))


@writing(
    "tables/decimals_at_their_ends",
    shapes((9,), partition_by=(), ordering=("amount",)),
    "DM-003 MG-003",
    "ordering-of-texts",
)
def decimals_at_their_ends(case: WritingCase) -> None:
    """Decimals may have no digits behind the point, or none before it.

    Given a table whose key and ordering value are whole decimals, and a column that is less than one.
    When rows come, later and late versions of them, and filters by each column.
    Then the greatest ordering value wins, and every digit is as it was written.
    """
    case.schema = _WHOLE
    case.create()

    def row(key: int, amount: str, share: str) -> Row:
        return {"id": Decimal(key), "amount": Decimal(amount), "share": Decimal(share)}

    most = "9" * 38
    case.write("insert", [row(1, "9", "0.000000001"), row(2, "-10", "-0.999999999"), row(10**12 - 1, most, "0")])
    case.write("upsert", [row(1, "10", "0.5"), row(2, "-9", "0.25"), row(10**12 - 1, "5", "0.125")])
    case.state()
    case.filtered(["id", "=", "999999999999"])
    case.filtered(["amount", ">=", "10"])
    case.filtered(["share", "<", "0.250000001"])


@writing(
    "tables/by_commit_time",
    (
        *shapes(versions=(9,), merge_mode="COMMIT_TIME_ORDERING", ordering=()),
        *shapes(versions=(6,), types=(MOR,), merge_mode="COMMIT_TIME_ORDERING", ordering=()),
    ),
    "OW-031",
    "new-tables-merge-by-event-time",
)
def by_commit_time(case: WritingCase) -> None:
    """A new table that is to merge by commit time says so.

    Given no table.
    When one without ordering fields is made.
    Then it reports that the last write decides.
    """
    case.create()
    case.info()
    case.write("upsert", rides(10, ("r01",)))
    case.write("upsert", rides(5, ("r01",)))
    case.snapshot()


@writing("tables/inferred_mode", shapes(versions=(8, 9), types=(MOR,)), "MG-015 OW-031", "new-tables-infer-commit-time")
def inferred_mode(case: WritingCase) -> None:
    """A new table that states no mode, and has ordering columns, merges by event time.

    Given no table.
    When one is made without a mode, and a ride is written, and an older version of it.
    Then it reports that the ordering column decides, and the older version has lost.
    """
    case.create(merge_mode=None)
    case.info()
    case.write("insert", rides(10, ("r01", "r11")))
    case.write("upsert", rides(5, ("r01",), rider="late"))
    case.snapshot()


@writing("tables/what_none_can_be", shapes(versions=(9,), types=(COW,)), "OW-032", "anything-makes-a-table")
def what_none_can_be(case: WritingCase) -> None:
    """What no table can be made of is refused.

    Given no table.
    When tables without name, of an unknown type, version or mode, or with keys that are no columns are requested.
    Then each is refused, and one that is right is made at last.
    """
    case.create(name="", reject="CONFIG_INVALID")
    case.create(table_type="COPY_ON_READ", reject="CONFIG_INVALID")
    case.create(table_version=7, reject="CONFIG_INVALID")
    case.create(merge_mode="GUESS", reject="CONFIG_INVALID")
    case.create(record_key=["number"], reject="CONFIG_INVALID")
    case.create(partition_by=["country"], reject="CONFIG_INVALID")
    case.create(ordering=["when"], reject="CONFIG_INVALID")
    case.create()
    case.create(reject="CONFIG_INVALID")
    case.info()


@writing("tables/settings", shapes(), "OW-030", "any-text-is-a-number settings-change-the-table")
def settings(case: WritingCase) -> None:
    """A text that is no number where one is wanted is refused, and columns that are not the table's are.

    Given a table.
    When a write names a number of buckets that is a word, and others name other columns for its keys, partitions or
    order than the table has.
    Then they are refused, and one with a number and the table's own columns is not.
    """
    case.create()
    own = {"recordkey": "id", "partitionpath": "city", "precombine": "ts"}
    for name, other in {"recordkey": "rider", "partitionpath": "rider", "precombine": "fare"}.items():
        column = {f"hoodie.datasource.write.{name}.field": other}
        case.write("upsert", rides(10, ("r01",)), configs=column, reject="CONFIG_INVALID")
    columns = {f"hoodie.datasource.write.{name}.field": column for name, column in own.items()}
    many = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "many"}
    case.write("upsert", rides(10, ("r01",)), configs=many, reject="CONFIG_INVALID")
    case.write("upsert", rides(10, ("r01",)), configs={**many, "hoodie.bucket.index.num.buckets": "2", **columns})
    case.snapshot()


@writing(
    "tables/made_keys",
    shapes(record_key=(), ordering=(), merge_mode="COMMIT_TIME_ORDERING"),
    "DM-001 DM-030 OW-012",
    "made-keys-come-again",
)
def made_keys(case: WritingCase) -> None:
    """A table without key fields makes a key for each row: rows that are alike are as many rows.

    Given a table without key fields.
    When rows are inserted, two of them alike, inserted again, clustered, deleted by a filter, and inserted once more.
    Then each insert adds all of its rows, and the deleted ones are gone.
    """
    case.create()
    rows = [ride("r01", 1), ride("r01", 1), ride("r11", 1)]
    first = case.write("insert", rows)
    case.write("bulk_insert", [ride("r01", 1), ride("r02", 2)])
    case.snapshot(meta_columns=False)
    case.run("clustering", CLUSTERING_DUE)
    case.snapshot(meta_columns=False)
    case.write("delete", filter=["rider", "=", ride("r01", 1)["rider"]])
    case.snapshot(meta_columns=False)
    case.write("insert", [ride("r12", 3)])
    case.snapshot(meta_columns=False)
    case.query("read_as_of", instant=first.bound, meta_columns=False)
    case.sound()
