"""Table services on every release: compaction, clustering, cleaning, savepoints, rollbacks, versions, writers' ends."""

from collections.abc import Callable, Sequence

from hudi_conformance.corpus.recipes_apache.catalogue import Steps, recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.overlaps import write_while_another_writes
from hudi_conformance.corpus.recipes_apache.services import log_compaction
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.writer import RealTable

_LATEST = ("0.15.0 v6", "1.0.2 v8", "1.1.1 v9", "1.2.0 v9")
# 1.0.2 does not compact its own deletes.
_COMPACTING = ("0.15.0 v6", "1.1.1 v9", "1.2.0 v9")
_METADATA = {"hoodie.metadata.enable": "true"}
_BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}


def _both(
    name: str, *, features: tuple[str, ...], cow: str, more: tuple[str, ...] = (), on: Sequence[str] = _LATEST
) -> Callable[[Steps], Steps]:
    """Merge-on-read by the releases of `on`, copy-on-write by the one named."""

    def register(steps: Steps) -> Steps:
        recipe(name, on=(*on, *more), types=("mor",), features=features)(steps)
        return recipe(name, on=(cow,), types=("cow",), features=features)(steps)

    return register


@recipe("services/compacted", on=(*_COMPACTING, "1.1.1 v6", "1.1.1 v8"), features=("compaction", "metadata-table"))
def compacted(table: RealTable) -> None:
    """Compacted once, logs after it, a second compaction pending with logs on both sides of its request."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late"), *deletes((6,), 200)])
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((1, 4), 300, "after"), *orders((0,), 150, "after, late")])
    table.schedule_compaction()
    table.upsert([*orders((1, 5), 400, "beyond"), *orders((9,), 400, "new")])
    table.delete(orders((4,), 1, "delete"))


recipe("services/log_compacted", on=("1.0.2 v8", "1.1.1 v9", "1.2.0 v9"), features=("log-compaction",))(log_compaction)


@_both("services/clustered", cow="1.0.2 v8", more=("1.1.1 v6",), features=("clustering", "metadata-table"))
def clustered(table: RealTable) -> None:
    """Four file groups clustered by a sort column, an upsert after it, a second clustering that nobody runs."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 2, 8), 200, "update"), *orders((3,), 50, "late")])
    table.configure({"hoodie.clustering.plan.strategy.sort.columns": "note"})
    table.cluster()
    table.upsert([*orders((0, 9), 300, "after"), *orders((1,), 50, "late after")])
    table.write(orders((12, 13), 100, "third"), "insert")
    table.cluster("schedule")


@_both("services/cleaned", cow="0.15.0 v6", features=("cleaning", "metadata-table"))
def cleaned(table: RealTable) -> None:
    """Upserts with compaction, then the cleaner keeps one version of each file."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2), 200, "second"))
    table.upsert([*orders((0, 3), 300, "third"), *orders((1,), 50, "late")])
    if table.made.type == "MERGE_ON_READ":
        table.schedule_compaction()
        table.compact()
    table.upsert(
        [*orders((0, 1), 500, "last"), *deletes((4, 5), 400)],
        hoodie__clean__automatic="true",
        hoodie__cleaner__policy="KEEP_LATEST_FILE_VERSIONS",
        hoodie__cleaner__fileversions__retained="1",
        hoodie__clean__max__commits="1",
    )


# 0.15.0 restores no table whose metadata table was not yet compacted.
@_both("services/saved_and_restored", cow="1.1.1 v9", features=("savepoint", "restore"), on=_LATEST[1:])
def saved_and_restored(table: RealTable) -> None:
    """Savepoint, two upserts, restore to it, an upsert, a second savepoint that stays."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "kept"), *orders((2,), 50, "late")])
    saved = table.instants()[-1]
    table.named("create_savepoint", commit_time=saved)
    table.upsert(orders((0, 3, 8), 300, "undone"))
    table.upsert(orders((4, 5), 300, "undone too"))
    table.named("rollback_to_savepoint", instant_time=saved)
    table.upsert([*orders((3,), 150, "after"), *orders((9,), 150, "new")])
    table.named("create_savepoint", commit_time=table.instants()[-1])


@_both("services/rolled_back", cow="0.15.0 v6", features=("rollback",))
def rolled_back(table: RealTable) -> None:
    """The newest completed upsert rolled back by hand, an upsert after it."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "kept"), *orders((2,), 50, "late")])
    table.upsert([*orders((0, 3, 8), 300, "undone"), *deletes((4,), 300)])
    table.named("rollback_to_instant", instant_time=table.instants()[-1])
    table.upsert([*orders((3,), 150, "after"), *orders((9,), 150, "new")])


@_both("services/failed_write", cow="1.1.1 v9", more=("1.1.1 v6",), features=("failed-write",))
def failed_write(table: RealTable) -> None:
    """A write that dies and is rolled back by the next, a last one that dies and stays; the metadata table is on."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    table.fail([*orders((0, 1, 3), 300, "never"), *orders((30, 31), 300, "never new")])
    table.upsert([*orders((0, 3), 210, "after"), *orders((6,), 20, "late after")])
    table.fail([*orders((2, 4), 250, "never"), *orders((30,), 250, "never new")])


@_both("services/replaced", cow="1.2.0 v9", features=("insert-overwrite", "delete-partition"))
def replaced(table: RealTable) -> None:
    """One partition overwritten, logs on it, the other deleted and written again."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "update"), *orders((3,), 50, "late")])
    table.write(orders((0, 4, 20), 150, "overwrite"), "insert_overwrite")
    table.upsert([*orders((0,), 120, "late after"), *orders((20, 5), 300, "after")])
    table.write(
        orders((1,), 1, "ignored"),
        "delete_partition",
        hoodie__datasource__write__partitions__to__delete="region=süd",
    )
    table.write(orders((1, 9), 10, "again"), "insert")


@recipe("services/table_overwritten", on=("0.15.0 v6", "1.0.2 v8"), types=("cow",), features=("insert-overwrite",))
@recipe("services/table_overwritten", on=("1.1.1 v9", "1.2.0 v9"), features=("insert-overwrite",))
def table_overwritten(table: RealTable) -> None:
    """The whole table overwritten by rows of one partition, an upsert of both partitions after it."""
    table.hudi_defaults()
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update")])
    table.write(orders((0, 2, 20), 150, "only these"), "insert_overwrite_table")
    table.upsert([*orders((2, 3), 300, "after"), *orders((0,), 120, "late after")])


@recipe("services/buckets", on=_COMPACTING, features=("bucket-index", "log-only"))
def buckets(table: RealTable) -> None:
    """Two buckets a partition: log-only file groups, one compacted, deletes."""
    table.configure({**EVENT_TIME, **_BUCKETS, **_METADATA})
    table.upsert(orders(range(0, 8, 2), 100, "first"))
    table.upsert([*orders((0, 2), 200, "update"), *orders((4,), 50, "late"), *deletes((6,), 200)])
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((1, 3, 5), 100, "other region"), *orders((2,), 150, "late after")])
    table.delete(orders((1,), 1, "delete"))


@recipe("services/buckets_of_base_files", on=("1.0.2 v8",), types=("cow",), features=("bucket-index",))
def buckets_of_base_files(table: RealTable) -> None:
    """Two buckets a partition, rewritten by upserts."""
    table.configure({**EVENT_TIME, **_BUCKETS})
    table.upsert(orders(range(8), 100, "first"))
    table.upsert([*orders((0, 2), 200, "update"), *orders((4,), 50, "late"), *deletes((6,), 200)])


@recipe("services/writers_that_overlap", on=("1.0.2 v8", "1.1.1 v9"), features=("overlapping",))
def writers_that_overlap(table: RealTable) -> None:
    """Non-blocking writers in buckets: the first to begin is the last to complete; a compaction over both."""
    table.configure(
        {
            **_BUCKETS,
            **EVENT_TIME,
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
            "hoodie.clean.failed.writes.policy": "LAZY",
            "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
        }
    )
    table.upsert(orders(range(8), 100, "first"))
    write_while_another_writes(table)
    table.upsert(orders((2,), 150, "last, late"))


@recipe("services/before_upgrade", on=("0.15.0 v6", "1.0.2 v8 cow"), types=("mor", "cow"), features=("metadata-table",))
def before_upgrade(table: RealTable) -> None:
    """Upserts with late rows, a compaction where there are logs; what the upgraded tables begin with."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late"), *deletes((6,), 200)])
    if table.made.type == "MERGE_ON_READ":
        table.schedule_compaction()
        table.compact()
    table.upsert([*orders((1, 4), 300, "after"), *orders((0,), 150, "after, late")])


def _written_on(table: RealTable) -> None:
    """Go on writing: by that the table gets the version that the release writes."""
    table.configure({**EVENT_TIME, **_METADATA, "hoodie.write.auto.upgrade": "true"})
    table.upsert([*orders((2, 5), 400, "upgraded"), *orders((1,), 150, "late"), *deletes((7,), 500)])
    table.upsert([*orders((0,), 250, "later"), *orders((9,), 100, "new")])


for _kind, _from, _to in (
    ("mor", "0.15.0-v6", "1.0.2 v8"),
    ("mor", "0.15.0-v6", "1.1.1 v9"),
    ("cow", "0.15.0-v6", "1.1.1 v9"),
    ("cow", "1.0.2-v8", "1.2.0 v9"),
):
    recipe(
        f"services/upgraded_from_{_from}",
        on=(_to,),
        types=(_kind,),
        features=("upgrade",),
        begins_with=f"services/before_upgrade-{_kind}-{_from}",
    )(_written_on)


@recipe("services/downgraded", on=("1.1.1 v9",), features=("downgrade",))
@recipe("services/downgraded", on=("1.1.1 v8",), types=("cow",), features=("downgrade",))
def downgraded(table: RealTable) -> None:
    """Written, brought down to the version before (9 to 8, 8 to 6), written on in that version."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late"), *deletes((6,), 200)])
    lower, name = (8, "EIGHT") if table.version == 9 else (6, "SIX")
    table.named("downgrade_table", to_version=name)
    table.configure({"hoodie.write.table.version": str(lower)})
    table.upsert([*orders((1, 4), 300, "after"), *orders((0,), 150, "after, late")])
