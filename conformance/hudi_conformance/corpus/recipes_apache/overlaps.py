"""Two writers at once: the first to begin is the last to complete."""

import threading

from hudi_conformance.corpus.recipes_apache.orders import orders
from hudi_conformance.corpus.recipes_apache.writer import RecipeError, TableWriter


def write_while_another_writes(table: TableWriter) -> None:
    """One writer begins and reads slowly while a second begins, writes the same keys and completes."""
    slow = threading.Thread(target=_write_slowly, args=(table,))
    slow.start()
    _wait_for_second_instant(table)
    table.upsert(orders((0, 1, 2, 3), 200, "began second"))
    slow.join()


def _write_slowly(table: TableWriter) -> None:
    rows = [*orders((0, 1), 300, "began first"), *orders((3, 5), 50, "began first, low ts")]
    frame = table.session.createDataFrame(rows, table.schema)
    pause = "case when java_method('java.lang.Thread', 'sleep', 2000L) is null then note else note end"
    table.write_frame(frame.selectExpr("id", "region", "ts", f"{pause} as note", "amount", "_hoodie_is_deleted"))


def _wait_for_second_instant(table: TableWriter) -> None:
    waiting = threading.Event()
    for _ in range(300):
        if len(list((table.path / ".hoodie" / "timeline").glob("*.deltacommit.requested"))) > 1:
            return
        waiting.wait(0.1)
    raise RecipeError("the slow writer never began")
