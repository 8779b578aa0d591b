"""Every operation on every release, with Hudi's own defaults: metadata table, cleaning, archival, file sizing."""

from hudi_conformance.real_tables.catalogue import recipe
from hudi_conformance.real_tables.writer import RealTable
from hudi_conformance.recipes_apache.orders import deletes, orders
from hudi_conformance.recipes_apache.writer import EVENT_TIME

RELEASES = ("0.15.0 v6", "1.0.2 v8", "1.1.1 v6", "1.1.1 v8", "1.1.1 v9", "1.2.0 v9")


@recipe("basics/operations", on=RELEASES, types=("cow", "mor"), features=("metadata-table", "log-delete"))
def operations(table: RealTable) -> None:
    """Bulk insert, insert, upsert with late rows and deletes of both kinds."""
    table.hudi_defaults()
    table.configure(EVENT_TIME)
    table.write(orders(range(6), 100, "bulk"), "bulk_insert")
    table.write(orders(range(6, 10), 100, "insert"), "insert")
    table.upsert([*orders((0, 1, 7), 200, "update"), *orders((2,), 50, "late"), *deletes((3,), 300)])
    table.delete(orders((5,), 400, "delete"))
    table.upsert(orders((1, 5, 11), 500, "last"))
