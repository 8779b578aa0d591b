"""What was listed and is gone when it is read: files of data, plans, processes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hudi_format.base.files import base_file_footer, read_base_file
from hudi_format.errors import FormatError
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, TableDefinition, create_arrow, services_arrow, write_arrow
from hudi_spark.concurrency.heartbeats import Process, host, parse_process, this_process
from hudi_spark.table_state.pending_plans import (
    groups_in_pending_plans,
    is_clustering,
    pending_clusterings,
    pending_compactions,
    pending_log_compactions,
)
from hudi_spark.table_state.slicing import scan_logs
from hudi_spark.table_state.timeline import visibility
from hudi_spark.testing import load_table

SCHEMA: Final = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64())])
_PLANS: Final = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "clustering": {"hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"},
}


class _Losing(LocalStorage):
    """A storage that loses a file before it is read for the nth time."""

    left = 0

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        self.left -= 1
        if self.left == 0:
            Path(self.resolve(path)).unlink()
        return super().read_range(path, offset, length)


def _table(folder: Path, table_type: Any) -> Path:
    path = folder / "table"
    keys: Any = {"record_key": ("id",), "partition_by": ("city",), "ordering": ("ts",)}
    create_arrow(str(path), TableDefinition("t", SCHEMA, table_type=table_type, **keys))
    for ts in (1, 2):
        write_arrow(str(path), pa.table({"id": ["a"], "city": ["oslo"], "ts": [ts]}, schema=SCHEMA), "upsert")
    return path


_READS: Final[dict[str, Callable[[LocalStorage, str], object]]] = {
    "rows": read_base_file,
    "matching rows": lambda storage, path: read_base_file(storage, path, filter=pc.field("ts") > 0),
    "footer": base_file_footer,
}


@pytest.mark.parametrize("what", _READS)
@pytest.mark.parametrize("number", [1, 2])
def test_a_base_file_that_goes_while_it_is_read_is_missing(tmp_path: Path, what: str, number: int):
    """Not corrupt: who reads plans again, and nobody looks for damage."""
    table = _table(tmp_path, "COPY_ON_WRITE")
    path = next((table / "oslo").glob("*.parquet"))
    storage = _Losing(table)
    storage.left = number
    with pytest.raises(FormatError) as caught:
        _READS[what](storage, str(path.relative_to(table)))
    assert caught.value.reason == "BASE_FILE_MISSING"
    assert not path.exists()


def test_a_base_file_of_the_metadata_table_that_goes_is_missing(tmp_path: Path):
    """Of an HFile, too."""
    table = _table(tmp_path, "COPY_ON_WRITE")
    path = next((table / ".hoodie/metadata/files").glob("*.hfile"))
    storage = _Losing(table)
    storage.left = 1
    with pytest.raises(FormatError) as caught:
        read_base_file(storage, str(path.relative_to(table)))
    assert caught.value.reason == "BASE_FILE_MISSING"


def test_a_log_that_goes_before_it_is_read_is_missing(tmp_path: Path):
    """LOG_FILE_MISSING, with its path."""
    table = _table(tmp_path, "MERGE_ON_READ")
    log = next((table / "oslo").glob(".*.log.*"))
    storage = LocalStorage(table)
    _, timeline = load_table(storage)
    log.unlink()
    with pytest.raises(HudiError) as caught:
        scan_logs(storage, [str(log.relative_to(table))], visibility(timeline, None, "requested"))
    assert (caught.value.reason, caught.value.file) == ("LOG_FILE_MISSING", str(log.relative_to(table)))


@pytest.mark.parametrize("service", _PLANS)
def test_a_plan_that_was_taken_away_is_not_pending(tmp_path: Path, service: str):
    """Who listed the timeline before goes on; where slices depend on what became of the plan, it is a conflict."""
    table = _table(tmp_path, "MERGE_ON_READ" if service == "compaction" else "COPY_ON_WRITE")
    requested = services_arrow(table).schedule(service, _PLANS[service])
    assert requested is not None
    storage = LocalStorage(table)
    _, timeline = load_table(storage)
    assert groups_in_pending_plans(storage, timeline)
    services_arrow(table).rollback(requested, unschedule=True)
    assert not groups_in_pending_plans(storage, timeline)
    assert not pending_clusterings(storage, timeline)
    assert not pending_log_compactions(storage, timeline)
    assert not any(is_clustering(storage, one) for one in timeline.instants)
    if service == "compaction":
        with pytest.raises(HudiError) as caught:
            pending_compactions(storage, timeline)
        assert caught.value.reason == "WRITE_CONFLICT"


@pytest.fixture
def ended() -> Process:
    """A process of this computer that has ended and was waited for."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        found = Process(host(), child.pid, "1")
        child.wait()
    return found


def test_a_process_that_ends_while_it_is_looked_at_has_ended(ended: Process, monkeypatch: pytest.MonkeyPatch):
    """Linux answers ESRCH to whoever has opened the file of a process that ends."""

    def gone(*_: object, **__: object) -> str:
        raise ProcessLookupError(3, "No such process")

    assert ended.has_ended()
    assert not this_process().has_ended()
    monkeypatch.setattr(Path, "read_text", gone)
    assert ended.has_ended()
    # What cannot be seen and answers to its number is alive: the system may hide the files of others.
    assert not Process(host(), this_process().pid, "1").has_ended()


@pytest.mark.parametrize("text", ["", "x", "a|b", "a|b|c", "a|²|c", f"a|{'9' * 5000}|c", "|1|c", "a|-1|c", "a|1.5|c"])
def test_a_text_that_names_no_process_is_none(text: str):
    """Whoever wrote it into a lock or a heartbeat."""
    assert parse_process(text) is None
