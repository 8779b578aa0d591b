"""Log blocks of every kind on every release: types, sizes, versions and write tokens, rollbacks, side files."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.writer import RealTable

_LATEST = ("0.15.0 v6", "1.0.2 v8", "1.1.1 v9", "1.2.0 v9")
_WRITTEN = (*_LATEST, "1.1.1 v6", "1.1.1 v8")
_POSITIONS = {"hoodie.write.record.positions": "true"}
_BY_BUCKET = "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner"
_BLOCK_FORMAT = "hoodie.logfile.data.block.format"


def _usual(table: RealTable) -> None:
    """Base rows, updates with a late one, deletes of both kinds, a key that returns, a new key."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 6), 200, "second"), *orders((2,), 50, "late"), *deletes((3,), 200)])
    table.delete(orders((4,), 1, "delete"))
    table.upsert([*orders((4, 7), 300, "third"), *orders((9,), 300, "new")])


@recipe("blocks/parquet", on=_WRITTEN, features=("log-parquet", "log-delete"))
def parquet(table: RealTable) -> None:
    """Data blocks that hold Parquet files."""
    table.configure({_BLOCK_FORMAT: "parquet"})
    _usual(table)


@recipe("blocks/hfile", on=_LATEST, features=("log-hfile", "log-delete"))
def hfile(table: RealTable) -> None:
    """Data blocks that hold HFiles."""
    table.configure({_BLOCK_FORMAT: "hfile"})
    _usual(table)


@recipe("blocks/mixed", on=_WRITTEN, features=("log-avro", "log-parquet", "log-delete"))
def mixed(table: RealTable) -> None:
    """The type of data blocks changes from write to write."""
    _usual(table)
    for number, kind in enumerate(("parquet", "avro", "parquet")):
        table.configure({_BLOCK_FORMAT: kind})
        table.upsert(orders((number, 8), 400 + number, kind))


# 1.0.2 cannot compact its own delete blocks where the ordering field is a long.
@recipe("blocks/positions", on=("1.1.1 v8", "1.1.1 v9", "1.2.0 v9"), features=("log-positions",))
def positions(table: RealTable) -> None:
    """Blocks that state the rows they change, before and after a compaction that moves the rows."""
    table.configure(_POSITIONS)
    _usual(table)
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((0, 5), 500, "after"), *deletes((6,), 500)])


@recipe("blocks/positions_of_parquet", on=("1.0.2 v8", "1.1.1 v9", "1.2.0 v9"), features=("log-positions",))
def positions_of_parquet(table: RealTable) -> None:
    """Positions in the headers of Parquet blocks."""
    table.configure({**_POSITIONS, _BLOCK_FORMAT: "parquet"})
    _usual(table)


@recipe("blocks/positions_stop", on=("1.0.2 v8", "1.1.1 v9", "1.2.0 v9"), features=("log-positions",))
def positions_stop(table: RealTable) -> None:
    """Positions in the blocks of some writes only."""
    table.configure(_POSITIONS)
    _usual(table)
    table.configure({"hoodie.write.record.positions": "false"})
    table.upsert([*orders((0, 2), 500, "without"), *deletes((7,), 500)])


@recipe("blocks/many", on=_WRITTEN, features=("log-avro", "log-delete"))
def many(table: RealTable) -> None:
    """Several data blocks a write, and a new log version for nearly every one of them."""
    table.configure({"hoodie.logfile.data.block.max.size": "600", "hoodie.logfile.max.size": "3000"})
    table.configure(EVENT_TIME)
    table.write(orders(range(40), 100, "first"), "insert")
    table.upsert([*orders(range(36), 200, "second " + "x" * 40), *deletes((38,), 200)])
    table.upsert([*orders(range(1, 30, 2), 300, "third"), *orders((5,), 250, "late, twice")])


@recipe("blocks/server_markers", on=_LATEST, features=("log-avro", "markers"))
def server_markers(table: RealTable) -> None:
    """A write dies that kept its markers in the files of the timeline server."""
    table.configure({"hoodie.embed.timeline.server": "true", "hoodie.write.markers.type": "TIMELINE_SERVER_BASED"})
    table.configure(EVENT_TIME)
    table.write(orders(range(6), 100, "first"), "insert")
    table.fail(orders((0, 7), 300, "left over"))


@recipe("blocks/lazy", on=_LATEST, features=("log-avro", "heartbeat"))
def lazy(table: RealTable) -> None:
    """Writers with heartbeats whose failed writes are cleaned later: one such write is there."""
    table.configure({"hoodie.cleaner.policy.failed.writes": "LAZY"})
    table.configure(EVENT_TIME)
    table.write(orders(range(6), 100, "first"), "insert")
    table.fail(orders((0, 7), 300, "left over"))
    table.upsert(orders((1,), 400, "after"))


@recipe("blocks/ring", on=_LATEST, features=("log-avro", "bucket-index", "consistent-hashing"))
def ring(table: RealTable) -> None:
    """Consistent hashing: a ring for each partition, logs only."""
    table.configure(
        {
            "hoodie.index.type": "BUCKET",
            "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
            "hoodie.bucket.index.num.buckets": "4",
            "hoodie.storage.layout.partitioner.class": _BY_BUCKET,
        }
    )
    table.configure(EVENT_TIME)
    table.upsert(orders(range(16), 100, "first"))
    table.upsert([*orders(range(0, 16, 3), 200, "second"), *deletes((5,), 200)])
