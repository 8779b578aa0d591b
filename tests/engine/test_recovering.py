"""Lost tables are built again from their files: what is read is what was there, and nothing is guessed in silence."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, RecoveryHints, TableDefinition, read_arrow
from hudi_spark.testing import Effect, InProcess, TableServices, TableWriter, WriteRequest, load_table
from written_tables import SCHEMA, Written, rows

KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]
PLAIN = {"hoodie.clean.automatic": "false"}
NON_BLOCKING = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}


class Stopped(BaseException):
    """A death: it is no error, and no service that fails."""


class Crashing:
    """Dies before the effect of a number."""

    def __init__(self, number: int = 10_000) -> None:
        self.number, self.seen = number, 0

    def before(self, effect: Effect) -> None:
        if self.seen >= self.number:
            raise Stopped(str(effect))
        self.seen += 1

    def after(self, effect: Effect) -> None:
        """Nothing."""


def grown(path: Path, kind: str = "MERGE_ON_READ", version: int = 9) -> Written:
    table = Written(path, kind, version, configs=PLAIN)
    table.write("upsert", rows(range(6), ts=10))
    table.write("upsert", rows([0, 1, 7], ts=20, price=2.0))
    table.write("delete", rows([4], ts=30))
    return table


def known(table: Written, **more: Any) -> RecoveryHints:
    definition = TableDefinition(
        record_key=("id",),
        partition_by=("region",),
        ordering=("ts",),
        table_type=table.table_type,
        table_version=table.version,
    )
    return RecoveryHints(definition, **more)


def lose(table: Written, what: str) -> None:
    folder = table.path / ".hoodie"
    if what == "all":
        shutil.rmtree(folder)
        return
    if what == "timeline":
        for file in table.path.rglob(".hoodie/**/2025*"):
            if file.is_file() and "metadata" not in file.parts:
                file.unlink()
    else:
        (folder / "hoodie.properties").unlink()


def recover(table: Written, **more: Any) -> Any:
    return table.services().recover(known(table, **more))


@pytest.mark.parametrize("what", ["all", "timeline", "properties"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", [6, 8, 9])
def test_what_is_read_is_what_was_there(tmp_path: Path, version: int, kind: str, what: str) -> None:
    """Whatever of `.hoodie` is lost, the rows come back; no data file goes, and the table is written on."""
    table = grown(tmp_path / "t", kind, version)
    before, data = table.found(), [name for name in table.files() if not name.startswith(".hoodie")]
    lose(table, what)
    recovered = recover(table)
    assert recovered.unknown
    assert table.found() == before
    assert [name for name in table.files() if not name.startswith(".hoodie")] == data
    table.write("upsert", rows([1, 9], ts=99, price=9.0))
    with pytest.raises(HudiError, match="nothing to recover"):
        recover(table)
    assert dict(table.found()) == {**dict(before), "k1": 9.0, "k9": 9.0}


def test_the_clock_of_this_computer_serves_where_the_properties_are_lost(tmp_path: Path) -> None:
    """The time zone of the timeline stands in what is built again."""
    table = grown(tmp_path / "table")
    before = read_arrow(table.path).sort_by("id").to_pylist()
    lose(table, "all")
    TableServices(TableWriter(LocalStorage(table.path), InProcess())).recover(known(table))
    assert read_arrow(table.path).sort_by("id").to_pylist() == before


def test_earlier_states_are_not_answered(tmp_path: Path) -> None:
    """Which of their files are gone nobody knows: they are refused, not answered by what is left."""
    table = grown(tmp_path / "t")
    first = load_table(LocalStorage(table.path))[1].instants[0].requested
    lose(table, "all")
    recover(table)
    with pytest.raises(HudiError) as caught:
        read_arrow(table.path, as_of=first)
    assert caught.value.reason == "RANGE_NOT_RETAINED"


@pytest.mark.parametrize("what", ["all", "timeline"])
def test_a_stopped_recovery_is_continued(tmp_path: Path, what: str) -> None:
    """It may die before any effect; until its end there is no table, or one that answers as at the end."""
    whole = grown(tmp_path / "whole")
    expected = whole.found()
    lose(whole, what)
    counted = Crashing()
    whole.services(counted).recover(known(whole))
    for number in range(1, counted.seen, 7):
        table = grown(tmp_path / str(number))
        lose(table, what)
        with pytest.raises(Stopped):
            table.services(Crashing(number)).recover(known(table))
        recover(table)
        assert table.found() == expected
        instants = load_table(LocalStorage(table.path))[1].instants
        assert all(one.is_completed for one in instants)


def test_replaced_groups_are_given_and_not_guessed(tmp_path: Path) -> None:
    """A key in two file groups says that one was replaced; which one, its owner has to say."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE")
    table.write("insert_overwrite", rows([1, 3], ts=40, price=4.0))
    before = table.found()
    replaced = {
        one.partition("/")[0]: (one.rpartition("/")[2].partition("_")[0],)
        for one in sorted(table.files(), reverse=True)
        if one.startswith("north/") and one.endswith(".parquet")
    }
    lose(table, "all")
    with pytest.raises(HudiError) as caught:
        recover(table)
    assert caught.value.clause == "RD-003"
    assert not (table.path / ".hoodie/hoodie.properties").exists()
    recover(table, replaced=replaced)
    assert table.found() == before


def test_the_completion_of_an_overtaken_log_is_given_and_not_guessed(tmp_path: Path) -> None:
    """A write that began before a compaction may have completed after it: only its owner knows; else rows are lost."""
    table = Written(tmp_path / "t", "MERGE_ON_READ", configs={**PLAIN, **NON_BLOCKING})
    table.write("upsert", rows(range(6), ts=10))
    table.write("upsert", rows([0, 1], ts=20, price=2.0))
    given = WriteRequest("upsert", rows([2], ts=50, price=5.0))
    started = table.writer(executor=InProcess()).begin(given)
    table.services().run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    started.stage(given)
    started.commit()
    before = table.found()
    storage = LocalStorage(table.path)
    done = next(one for one in load_table(storage)[1].instants if one.requested == started.requested)
    lose(table, "all")
    with pytest.raises(HudiError) as caught:
        recover(table)
    assert started.requested in caught.value.message
    recover(table, completion_times={started.requested: str(done.completed)})
    assert table.found() == before


def test_the_outcome_of_a_write_with_markers_is_given_and_not_guessed(tmp_path: Path) -> None:
    """A write with markers may have completed, or not; where it is stated that it did not, its rows stay away."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE")
    before, given = table.found(), WriteRequest("upsert", rows([2], ts=50, price=5.0))
    started = table.writer(executor=InProcess()).begin(given)
    started.stage(given)
    lose(table, "timeline")
    with pytest.raises(HudiError) as caught:
        recover(table)
    assert caught.value.clause == "MK-003"
    recover(table, uncommitted=(started.requested,))
    assert table.found() == before


def test_what_no_file_states_is_required_as_a_hint(tmp_path: Path) -> None:
    """The record key, the partition fields and the type are named in what is refused; wrong ones are found out."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE")
    lose(table, "all")
    right = {"record_key": ("id",), "partition_by": ("region",), "table_type": "COPY_ON_WRITE"}
    wrong = [{**right, name: () if name != "table_type" else None} for name in right]
    wrong += [{**right, "record_key": ("ts",)}, {**right, "partition_by": ("nothing",)}]
    for one in wrong:
        with pytest.raises(HudiError) as caught:
            table.services().recover(RecoveryHints(TableDefinition(**one)))
        assert caught.value.reason == "CONFIG_INVALID"
        assert not (table.path / ".hoodie").exists()
    table.services().recover(RecoveryHints(TableDefinition(**right)))
    assert read_arrow(table.path).column_names == SCHEMA.names
    assert load_table(LocalStorage(table.path))[0].name == "trips"
