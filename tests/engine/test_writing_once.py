"""A write with an id of its caller, or a batch of a stream, is written once, whoever else tries it and when."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, write_arrow
from hudi_spark.testing import Outcome, WriteRequest, load_table, write_id_of
from written_tables import Written, rows

STREAM = "hoodie.datasource.write.streaming.checkpoint.identifier"
OPERATIONS: dict[str, dict[str, Any]] = {
    "insert": {"rows": rows([7])},
    "upsert": {"rows": rows([1, 7], ts=9)},
    "bulk_insert": {"rows": rows([7])},
    "delete": {"rows": rows([1])},
    "insert_overwrite": {"rows": rows([1, 7])},
    "insert_overwrite_table": {"rows": rows([7])},
    "delete_partition": {"partitions": ["north"]},
}


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_write_of_an_id_is_done_once(tmp_path: Path, table_type: str, version: int, operation: str):
    table = Written(tmp_path / "table", table_type, version)
    table.write("insert", rows([1, 2]))
    given = OPERATIONS[operation]
    first = write_arrow(table.path, operation=operation, write_id="night-17", **given)
    found, files = table.found(), table.files()
    again = write_arrow(table.path, operation=operation, write_id="night-17", **given)
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.requested, again.completed, again.action) == (first.requested, first.completed, first.action)
    assert (again.operation, len(again.written)) == (first.operation, len(first.written))
    assert "written before" in str(again)
    assert (table.found(), table.files()) == (found, files)
    assert not write_arrow(table.path, rows([8]), "insert", write_id="night-18").repeated
    assert "k8" in table.ids()


class OtherThread:
    """When the files of a write are being put, after it looked whether it stands, `happens` in another thread."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = [happens]

    def before(self, effect: Any) -> None:
        if effect.name == "put_marker" and self._happens:
            thread = Thread(target=self._happens.pop())
            thread.start()
            thread.join(60)

    def after(self, effect: Any) -> None:
        """Nothing."""


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
def test_of_two_tries_at_the_same_time_one_writes(tmp_path: Path, operation: str):
    """Inserts conflict with nobody: the second one to complete finds the first one under the lock."""
    table = Written(tmp_path / "table")
    done: list[Outcome] = []

    def other() -> None:
        done.append(write_arrow(table.path, rows([1]), operation, write_id="x"))

    writer = table.writer(hook=OtherThread(other))
    outcome = writer.write(WriteRequest(operation, rows([1]), once=write_id_of("x")))
    assert outcome.repeated
    assert [outcome.requested] == [one.requested for one in done]
    assert table.ids() == ["k1"]
    assert [one for one in table.files() if ".temp/" in one or ".heartbeat/" in one] == []


def test_streams_that_write_at_the_same_time_write_each_batch_once(tmp_path: Path):
    """The commit of one, made before the other's completed, does not forget the other's batch."""
    table = Written(tmp_path / "table")
    first, second = {STREAM: "first"}, {STREAM: "second"}

    def batch(number: int, key: int, configs: dict[str, str], hook: Any = None) -> Outcome | None:
        writer = table.writer(hook=hook) if hook else table.writer()
        return writer.write_once(WriteRequest("insert", rows([key]), configs=configs), number)

    assert batch(0, 1, first, OtherThread(lambda: batch(5, 2, second))) is not None
    assert batch(5, 2, second) is None
    assert batch(0, 1, first) is None
    assert batch(1, 3, first, OtherThread(lambda: batch(1, 3, first))) is None
    assert table.ids() == ["k1", "k2", "k3"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("operation", ["upsert", "delete", "insert"])
def test_rows_that_do_not_know_a_completed_write_are_refused(
    tmp_path: Path, table_type: str, version: int, operation: str
):
    """Whatever that write did, also in a partition of its own; what is not data, such as a clean, is no such write."""
    table = Written(tmp_path / "table", table_type, version)

    def seen() -> frozenset[str]:
        return frozenset(one.requested for one in load_table(LocalStorage(table.path))[1].completed_data())

    table.write("insert", rows([1, 3]))
    known = seen()
    other = table.write("insert", rows([4]))
    files = table.files()
    with pytest.raises(HudiError, match=rf"WRITE_CONFLICT .*{other.requested} has completed .*run the statement again"):
        table.write(operation, rows([1], ts=9), seen=known)
    assert table.files() == files
    assert table.ids() == ["k1", "k3", "k4"]
    known = seen()
    table.services().savepoint(other.requested)
    assert table.write(operation, rows([1], ts=9), seen=known).requested
    assert table.write("upsert", rows([3], ts=9)).requested
