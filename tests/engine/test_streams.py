"""Reading on from a checkpoint."""

import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from change_tables import GrowingTable
from engine_tables import TableBuilder, row, tick
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plans import RequestedReplace, serialise_requested_replace
from hudi_spark import HudiError, HudiTable, read_incremental, read_stream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])


def notes(path: Path, batch: Any) -> list[str]:
    """What the range of a batch holds now, which is what the batch held."""
    assert batch.rows is not None
    return sorted(read_incremental(path, batch.begin, batch.end).column("note").to_pylist())


@VERSIONS
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(["write", "read", "crash"]), max_size=12))
def test_under_restarts_each_row_comes_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, version: int, steps: list[str]
):
    """The sink keeps rows by the number of their batch; a batch that was not finished comes again as it was."""
    path, place = tmp_path_factory.mktemp("table"), tmp_path_factory.mktemp("checkpoint")
    table = GrowingTable(path, version, mor=False)
    sink: dict[int, list[str]] = {}
    written: list[str] = []
    for number, step in enumerate([*steps, "write", "read", "read"], start=1):
        if step == "write":
            table.write(10 * number, [f"k{number}"], completed=10 * number + 5)
            written.append(f"at {10 * number}")
        for batch in read_stream(path, place) if step != "write" else ():
            rows = notes(path, batch)
            assert sink.setdefault(batch.number, rows) == rows
            if step == "crash":
                break
    assert Counter(note for rows in sink.values() for note in rows) == Counter(written)


def test_overlapping_writers_are_not_missed(tmp_path: Path):
    """A writer that began first and completes last comes in the batch after."""
    table = GrowingTable(tmp_path / "table", mor=False)
    builder = table.builder
    table.write(10, ["a"])
    builder.pending(20, action="commit")
    builder.commit(30, [builder.base_file(30, [row("c", 1, "fast")], group="f2")], action="commit", completed=35)
    stream = read_stream(builder.base, tmp_path / "checkpoint")
    first = next(stream)
    builder.commit(20, [builder.base_file(20, [row("b", 1, "slow")], group="f3")], action="commit", completed=50)
    second = next(stream)
    assert (notes(builder.base, first), notes(builder.base, second)) == (["at 10", "fast"], ["slow"])


def test_before_completion_times_a_pending_write_holds_the_stream_back(tmp_path: Path):
    """Version 6 orders by request: what was requested later waits, and nothing is missed or twice."""
    builder = TableBuilder(tmp_path / "table", 6, "COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, [row("a", 1, "first")])], action="commit")
    builder.pending(20, action="commit")
    builder.commit(30, [builder.base_file(30, [row("c", 1, "fast")], group="f2")], action="commit")
    stream = read_stream(builder.base, tmp_path / "checkpoint", poll_seconds=0)
    first = next(stream)
    builder.commit(20, [builder.base_file(20, [row("b", 1, "slow")], group="f3")], action="commit")
    second = next(stream)
    assert (notes(builder.base, first), notes(builder.base, second)) == (["first"], ["fast", "slow"])


@VERSIONS
def test_pending_services_hold_nothing_back(tmp_path: Path, version: int):
    builder = TableBuilder(tmp_path / "table", version)
    builder.commit(10)
    builder.pending_compaction(15, "f1")
    plan = serialise_requested_replace(RequestedReplace("CLUSTER"))
    builder.pending(20, action="replacecommit", plan=plan)
    builder.commit(30)
    (batch,) = read_stream(builder.base, tmp_path / "checkpoint")
    assert batch.end == tick(30 if version == 6 else 31)


def test_a_stream_waits_for_new_writes(tmp_path: Path):
    table = GrowingTable(tmp_path / "table", mor=False)
    stream = read_stream(table.builder.base, tmp_path / "checkpoint", "earliest", poll_seconds=0.5)
    for n in (10, 20, 30):
        began = time.monotonic()
        writer = threading.Timer(0.1, table.write, (n, ["a"]))
        writer.start()
        assert next(stream).end == tick(n + 1)
        assert time.monotonic() - began >= 0.5
        writer.join()


def test_rows_and_changes_stream_without_spark(tmp_path: Path):
    table = GrowingTable(tmp_path / "table")
    table.write(10, ["a", "b"])
    table.write(20, ["a"], ["b"])
    (rows,) = read_stream(table.builder.base, tmp_path / "rows")
    (feed,) = read_stream(table.builder.base, tmp_path / "feed", begin=tick(11), changes=True)
    assert (rows.begin, rows.end, rows.rows.column("note").to_pylist()) == ("earliest", tick(21), ["at 20"])
    assert sorted(feed.rows.column("op").to_pylist()) == ["d", "u"]


def test_two_readers_of_one_checkpoint_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The second notes its first batch between the look of the first one and its note."""
    table, place = GrowingTable(tmp_path / "table", mor=False), tmp_path / "checkpoint"
    table.write(10, ["a"])
    put = LocalStorage.put_if_absent
    seconds = [read_stream(table.builder.base, place)]

    def late(storage: LocalStorage, path: str, data: bytes) -> bool:
        if seconds:
            assert next(seconds.pop()).number == 1
        return put(storage, path, data)

    monkeypatch.setattr(LocalStorage, "put_if_absent", late)
    with pytest.raises(HudiError, match="WRITE_CONFLICT"):
        next(read_stream(table.builder.base, place))
    assert not seconds


def test_long_finished_batches_are_forgotten(tmp_path: Path):
    """A hundred are kept, and the stream goes on after the last one."""
    table, place = GrowingTable(tmp_path / "table", mor=False), tmp_path / "checkpoint"
    for number in range(1, 101):
        for folder in ("batches", "finished"):
            (place / folder).mkdir(parents=True, exist_ok=True)
            text = json.dumps({"begin": tick(number - 1), "end": tick(number)}) if folder == "batches" else ""
            (place / folder / f"{number:012d}").write_text(text)
    for n in (200, 300):
        table.write(n, ["a"])
        (batch,) = read_stream(table.builder.base, place)
    assert (batch.number, batch.begin, batch.end) == (102, tick(201), tick(301))
    kept = sorted(f"{number:012d}" for number in range(3, 103))
    assert sorted(one.name for one in (place / "batches").iterdir()) == kept
    assert sorted(one.name for one in (place / "finished").iterdir()) == kept


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
def test_a_table_streams_rows_and_changes_with_spark(spark: Any, tmp_path: Path):
    """Each batch is a DataFrame; the loop goes on where it stood."""
    table = GrowingTable(tmp_path / "table")
    opened_table = HudiTable(spark, table.builder.base)
    table.write(10, ["a", "b"])
    read: list[list[str]] = []
    fed: list[list[str]] = []
    for n in (20, 30):
        rows, feed = opened_table.stream(tmp_path / "rows"), opened_table.stream(tmp_path / "feed", changes=True)
        read += [sorted(one["note"] for one in batch.rows.collect()) for batch in rows]
        fed += [sorted(one["op"] for one in batch.rows.collect()) for batch in feed]
        table.write(n, ["a"], ["b"] if n == 30 else [])
    assert read == [["at 10", "at 10"], ["at 20"]]
    assert fed == [["i", "i"], ["u"]]
    assert opened_table.incremental(tick(21)).count() == 1
    assert sorted(one["op"] for one in opened_table.changes(tick(21)).collect()) == ["d", "u"]
    assert opened_table.latest_checkpoint() == tick(31)
