"""The metadata table is kept: after every action it says what is so, whoever died before, in every table version."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import COLUMNS, avro, row, tick
from hudi_format.metadata.wrapped_values import plain_value
from hudi_format.schemas import arrow_schema
from hudi_format.table.properties import parse_properties, serialise_properties
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_format.timeline.plans import RollbackMetadata, serialise_rollback_metadata
from hudi_spark import HudiError, UnsupportedFeature, read_arrow
from hudi_spark.testing import (
    Effect,
    FinishedWrite,
    MetadataTable,
    SetClock,
    TableWriter,
    TaskIdentity,
    WriteRequest,
    WrittenFile,
    resolve,
)
from metadata_writes import EXECUTOR, StopAt, Stopped, Writer, ids

COLUMN_STATS = "hoodie__metadata__index__column__stats__enable"
BLOOMS = "hoodie__metadata__index__bloom__filter__enable"
EVERYTHING = {COLUMN_STATS: "true", BLOOMS: "true"}
VERSIONS = (6, 8, 9)
ROWS = arrow_schema(avro())


def opened(writer: Writer) -> MetadataTable:
    found = writer.opened()
    assert found is not None
    return found


def contents(found: MetadataTable, index: str) -> dict[str, object]:
    """What an index holds, but for the empty name that a file's list has of the partitions."""
    return {key: record.content for group in found.indexes[index].groups for key, record in group.records().items()}


def log(writer: Writer, n: int, base: int, rows: list[Mapping[str, Any]], version: int = 1) -> WriteStat:
    """A log of an action: named after its slice before version 8, after the action from then on."""
    table = writer.table
    name = base if table.version < 8 else n
    return table.log_file(n if name == n else base, [table.data(n, rows)], version=version)


def grown(writer: Writer) -> None:
    """A base file, a log over it, and a second partition."""
    table = writer.table
    writer.commit(1, [table.base_file(1, [row("k1", 1, "a"), row("k2", 5)])])
    writer.commit(2000, [log(writer, 2000, 1, [row("k1", 7, "z")])])
    writer.commit(4000, [table.base_file(4000, [row("s1", 3)], group="f2", partition="south")])


@pytest.mark.parametrize("version", VERSIONS)
def test_each_action_leaves_a_metadata_table_without_findings(tmp_path: Path, version: int) -> None:
    """Files, statistics and bloom filters are those of storage, and readers who list by them see the rows."""
    writer = Writer(tmp_path, version, **EVERYTHING)
    grown(writer)
    assert writer.findings() == ()
    found = opened(writer)
    assert found.data_partitions() == ("north", "south")
    assert len(found.files("north")) == 2
    assert ids(read_arrow(tmp_path)) == ["k1", "k2", "s1"]


@pytest.mark.parametrize("version", VERSIONS)
def test_one_made_late_equals_one_that_was_kept(tmp_path: Path, version: int) -> None:
    """A metadata table that begins on an existing table says the same as one kept from the first action on."""
    kept, late = Writer(tmp_path / "kept", version, **EVERYTHING), Writer(tmp_path / "late", version)
    late.options = {"hoodie.metadata.enable": "false"}
    grown(kept)
    grown(late)
    assert late.opened() is None
    late.options = {key.replace("__", "."): value for key, value in EVERYTHING.items()}
    for writer in (kept, late):
        writer.commit(6000, [log(writer, 6000, 1, [row("k9", 9)], version=2 if version == 6 else 1)])
        assert writer.findings() == ()
    one, other = opened(kept), opened(late)
    assert one.partitions() == other.partitions()
    for index in one.partitions():
        assert contents(one, index) == contents(other, index)


class Seeing:
    """Counts effects."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def before(self, effect: Effect) -> None:
        self.seen.append(str(effect))

    def after(self, effect: Effect) -> None:
        """Nothing."""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_writer_may_crash_before_any_effect(tmp_path: Path, version: int) -> None:
    """Nothing that a failed writer left is believed, and the next one, who does the same again, leaves no finding."""
    whole, counted = Writer(tmp_path / "whole", version, **EVERYTHING), Seeing()
    grown(whole)
    whole.commit(6000, [whole.table.base_file(6000, [row("k2", 8)], group="f3")], hook=counted)
    # The others' turn comes in the other versions, whose effects are the same.
    for number in range(VERSIONS.index(version), len(counted.seen), len(VERSIONS)):
        writer = Writer(tmp_path / f"grown{number}", version, **EVERYTHING)
        grown(writer)
        _crashes_and_continues(writer, number, ["k1", "k2", "s1"])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_writer_may_crash_before_any_effect(tmp_path: Path, version: int) -> None:
    """What is half made is made anew."""
    whole, counted = Writer(tmp_path / "whole", version, **EVERYTHING), Seeing()
    whole.commit(1, [whole.table.base_file(1, [row("k1", 1)])], hook=counted)
    for number in range(VERSIONS.index(version), len(counted.seen), 4 * len(VERSIONS)):
        _crashes_and_continues(Writer(tmp_path / str(number), version, **EVERYTHING), number, [])


def _crashes_and_continues(writer: Writer, number: int, before: list[str]) -> None:
    stat = writer.table.base_file(6000, [row("k2", 8)], group="f3")
    with pytest.raises(Stopped):
        writer.commit(6000, [stat], hook=StopAt(number))
    if before:
        assert ids(read_arrow(writer.table.base)) == before
    writer.commit(6000, [stat])
    assert writer.findings() == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_rollback_undoes_is_taken_back(tmp_path: Path, version: int) -> None:
    """The deltacommit of an action that never completed goes when the action is rolled back."""
    writer = Writer(tmp_path, version, **EVERYTHING)
    grown(writer)
    failed = writer.table.base_file(5000, [row("x", 1)], group="dead")
    written = WrittenFile(replace(failed, file_size_in_bytes=writer.storage.size(str(failed.path))))
    writer.metadata(FinishedWrite(tick(5000), "deltacommit", "UPSERT", (written,)))
    (tmp_path / str(failed.path)).unlink()
    writer.metadata(FinishedWrite(tick(6000), "rollback", "UNKNOWN", rolled_back=tick(5000)))
    result = serialise_rollback_metadata(RollbackMetadata(tick(6000), commits_rollback=(tick(5000),)))
    writer.table.timeline_file(6000, "rollback", "COMPLETED", result, completed=6999)
    assert writer.findings() == ()
    assert not any(str(failed.path).endswith(name) for name in opened(writer).files("north"))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_clean_removes_is_gone_from_every_index(tmp_path: Path, version: int) -> None:
    """The file's name, its statistics and its bloom filter."""
    writer = Writer(tmp_path, version, **EVERYTHING)
    grown(writer)
    writer.commit(5000, [writer.table.base_file(5000, [row("k1", 9), row("k2", 9)])])
    old = next(name for name in opened(writer).files("north") if name.endswith(f"{tick(1)}.parquet"))
    (tmp_path / "north" / old).unlink()
    writer.metadata(FinishedWrite(tick(6000), "clean", "UNKNOWN", deleted={"north": (old,)}))
    writer.table.clean(6000, 5000)
    assert writer.findings() == ()
    found = opened(writer)
    assert old not in found.files("north")
    assert found.column_stats(["ts"], [("north", old)]) == {}
    assert found.bloom_filters([("north", old)]) == {}


def test_partitions_are_bounded_by_the_slices_that_are_read(tmp_path: Path) -> None:
    """What a new base file takes over or an action replaces bounds no more; of an emptied partition nothing is said."""
    writer = Writer(tmp_path, **EVERYTHING)
    grown(writer)

    def bounds(partition: str) -> tuple[object, object] | None:
        found = opened(writer).partition_stats(["ts"], [partition])
        if partition not in found:
            return None
        stats = found[partition]["ts"]
        assert stats.is_tight_bound
        return plain_value(stats.minimum, stats.value_type), plain_value(stats.maximum, stats.value_type)

    assert bounds("north") == (1, 7)
    writer.commit(5000, [writer.table.base_file(5000, [row("k1", 4), row("k2", 5)])])
    assert bounds("north") == (4, 5)
    writer.commit(7000, [], action="replacecommit", operation="DELETE_PARTITION", replaced={"south": ("f2",)})
    assert bounds("south") is None
    assert writer.findings() == ()


def test_indexes_come_and_go_with_their_options(tmp_path: Path) -> None:
    """What is turned off is dropped, what is turned on is built of everything; unasked, what is there is kept."""
    writer = Writer(tmp_path, **EVERYTHING)
    grown(writer)
    writer.options = {"hoodie.metadata.index.column.stats.enable": "false"}
    writer.commit(5000)
    assert opened(writer).partitions() == ("bloom_filters", "files")
    assert not (tmp_path / ".hoodie/metadata/column_stats").exists()
    writer.options = {}
    writer.commit(6000)
    assert opened(writer).partitions() == ("bloom_filters", "column_stats", "files", "partition_stats")
    assert writer.findings() == ()
    writer.options = {"hoodie.metadata.enable": "false"}
    writer.commit(7000)
    assert writer.opened() is None
    assert not (tmp_path / ".hoodie/metadata").exists()


@pytest.mark.parametrize(("version", "expected"), [(6, ("files",)), (9, ("column_stats", "files", "partition_stats"))])
def test_without_options_a_table_has_the_indexes_of_its_releases(
    tmp_path: Path, version: int, expected: tuple[str, ...]
) -> None:
    """Files alone before version 8; statistics of columns and partitions as well from then on."""
    writer = Writer(tmp_path, version)
    grown(writer)
    assert opened(writer).partitions() == expected


def test_lies_of_indexes_are_found(tmp_path: Path) -> None:
    """A base file whose content is another's, and a file that nobody listed."""
    writer = Writer(tmp_path, **EVERYTHING)
    grown(writer)
    other = writer.table.base_file(9000, [row("other", 99)], group="f7")
    next((tmp_path / "north").glob("f1_*.parquet")).write_bytes((tmp_path / str(other.path)).read_bytes())
    writer.table.commit(9000, [other], completed=9999)
    found = writer.findings()
    assert {one.index for one in found} == {"files", "column_stats", "bloom_filters", "partition_stats"}
    assert any("not in the list" in one.message for one in found)


def test_a_list_of_what_is_not_there_is_found(tmp_path: Path) -> None:
    """The list names a file that storage does not have, and another with a wrong size."""
    writer = Writer(tmp_path, **{COLUMN_STATS: "false"})
    stat = writer.table.base_file(1, [row("k1", 1)])
    gone = replace(stat, path="north/f9_0-1-0_20250101000000001.parquet")
    written = tuple(WrittenFile(replace(one, file_size_in_bytes=7)) for one in (stat, gone))
    writer.table.pending(1)
    writer.metadata(FinishedWrite(tick(1), "deltacommit", "UPSERT", written))
    writer.table.commit(1, [stat], completed=999)
    messages = sorted(one.message for one in writer.findings())
    assert messages[0] == "the file is in the list and not in storage"
    assert messages[1].startswith("the list says 7 bytes, storage ")


@pytest.mark.parametrize("version", VERSIONS)
def test_entries_of_a_rolled_back_write_are_removed(tmp_path: Path, version: int) -> None:
    """An action that has gone from the timeline after its deltacommit, by an abort or however, leaves no trace."""
    for aborted in (True, False):
        writer = Writer(tmp_path / str(aborted), version, **EVERYTHING)
        grown(writer)
        if aborted:
            refused, rows = Refused(), pa.Table.from_pylist([row("x", 1)], ROWS)
            with pytest.raises(HudiError, match="LOCK_UNAVAILABLE"):
                writer_of(writer, 5000, refused).write(WriteRequest("upsert", rows))
            assert refused.is_updated
            assert writer.findings() == ()
        else:
            failed = writer.table.base_file(5000, [row("x", 1)], group="dead")
            written = (WrittenFile(replace(failed, num_inserts=1)),)
            writer.metadata(FinishedWrite(tick(5000), "deltacommit", "UPSERT", written))
            (writer.table.base / str(failed.path)).unlink()
        writer.commit(6000, [writer.table.base_file(6000, [row("k7", 8)], group="f3")])
        assert writer.findings() == ()


class Refused:
    """Refuses the completion of a write, after the metadata table was updated."""

    def __init__(self) -> None:
        self.is_updated = False

    def before(self, effect: Effect) -> None:
        self.is_updated = self.is_updated or effect.name == "commit_metadata_table"
        if effect.name == "create_instant" and effect.parameters["state"] == "COMPLETED" and not effect.folder:
            raise HudiError("LOCK_UNAVAILABLE", "LK-001", "the completion is refused")

    def after(self, effect: Effect) -> None:
        """Nothing."""


def writer_of(writer: Writer, n: int, hook: Any) -> TableWriter:
    """A writer of the whole table, at a tick."""
    return TableWriter(writer.storage, EXECUTOR, writer.options, clock=SetClock(tick(n)), hook=hook)


def test_what_others_completed_meanwhile_is_known(tmp_path: Path) -> None:
    """A writer that began before another completed builds the metadata table of what both wrote."""
    writer = Writer(tmp_path)
    writer.options = {"hoodie.metadata.enable": "false"}
    grown(writer)
    early = writer.state()
    writer.commit(5000, [writer.table.base_file(5000, [row("k6", 8)], group="f3")])
    writer.options = {}
    writer.table.pending(6000)
    writer.metadata(FinishedWrite(tick(6000), "deltacommit", "UPSERT"), state=replace(early, options=resolve({})))
    writer.table.commit(6000, [], completed=6999)
    assert writer.findings() == ()
    assert len(opened(writer).files("north")) == 3


def test_the_definition_names_the_columns_of_today(tmp_path: Path) -> None:
    """A column that the table gains is indexed, and the definition of the index says so."""
    writer = Writer(tmp_path, **EVERYTHING)
    grown(writer)
    writer.table.schema = avro((*COLUMNS, ("more", ["null", "long"])))
    writer.commit(5000, [writer.table.base_file(5000, [row("k8", 1, more=4)], group="f5")])
    defined = json.loads((tmp_path / ".hoodie/.index_defs/index.json").read_text())["indexDefinitions"]["column_stats"]
    assert defined["version"] == "V2"
    assert defined["sourceFields"][3:] == [name for name, _ in COLUMNS] + ["more"]
    assert writer.findings() == ()


def test_meta_fields_are_indexed_as_the_definition_has_them(tmp_path: Path) -> None:
    """In version 6 releases of 0.x index all five, 1.x three: a clean of theirs leaves what they do not know of."""
    writer = Writer(tmp_path, 6, **EVERYTHING)
    grown(writer)
    definitions = tmp_path / ".hoodie/.index_defs/index.json"
    stated = json.loads(definitions.read_text())
    named = stated["indexDefinitions"]["column_stats"]["sourceFields"]
    assert len([name for name in named if name.startswith("_hoodie_")]) == 5
    unknown = {"_hoodie_commit_seqno", "_hoodie_file_name"}
    stated["indexDefinitions"]["column_stats"]["sourceFields"] = [name for name in named if name not in unknown]
    definitions.write_text(json.dumps(stated))
    stat = writer.table.base_file(5000, [row("k8", 1)], group="f5")
    writer.commit(5000, [stat])
    of_file = [one for one in contents(opened(writer), "column_stats").values() if one.file_name in stat.path]  # type: ignore[attr-defined]
    assert {one.column_name for one in of_file if one.column_name.startswith("_hoodie_")} == {
        "_hoodie_commit_time",
        "_hoodie_partition_path",
        "_hoodie_record_key",
    }
    assert writer.findings() == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_tasks_that_ran_twice_do_not_stay(tmp_path: Path, version: int) -> None:
    """Statistics that merge would count twice what two attempts of one task wrote."""
    writer = Writer(tmp_path, version, **EVERYTHING)
    writer.executor = Twice()
    grown(writer)
    assert writer.findings() == ()
    for index in ("column_stats", "bloom_filters"):
        names = [path.name.rpartition("_")[0] for path in (tmp_path / ".hoodie/metadata" / index).glob("*-*-*_*")]
        assert len(names) == len(set(names))


class Twice:
    """Runs each task of a flow twice, elsewhere, as a scheduler that takes it for lost."""

    def rows(self, source: Any) -> Any:
        return Repeated(EXECUTOR.rows(source))

    def tasks(self, tasks: Any, run: Any, schema: Any, size_of: Any = None) -> Any:
        del size_of
        return Repeated(EXECUTOR.tasks(*_shipped((tasks, run)), schema))


class Repeated:
    """A flow whose work is done by two attempts, of which the second is received."""

    def __init__(self, flow: Any) -> None:
        self.flow, self.schema = flow, flow.schema

    def together(self, other: Any) -> Any:
        return Repeated(self.flow.together(other.flow))

    def shuffled(self, columns: Any) -> Any:
        return Repeated(self.flow.shuffled(columns))

    def map(self, work: Any, schema: Any) -> Any:
        work = _shipped(work)

        def run(part: Any, identity: TaskIdentity) -> Any:
            work(part, replace(identity, attempt=identity.attempt + 1000))
            return work(part, identity)

        return Repeated(self.flow.map(run, schema))

    def gathered(self) -> Any:
        return self.flow.gathered()


def test_many_statistics_are_written_by_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is the same, whoever encodes it."""
    monkeypatch.setattr("hudi_spark.metadata.column_stats._MOST_BY_THE_DRIVER", 0)
    writer = Writer(tmp_path, **EVERYTHING)
    grown(writer)
    assert writer.findings() == ()
    assert opened(writer).column_stats(["ts"], [("north", name) for name in opened(writer).files("north")])


def _shipped(what: Any) -> Any:
    """The same, as it arrives in another process."""
    return pickle.loads(pickle.dumps(what))  # noqa: S301 - what was pickled just now


def test_an_index_that_cannot_be_kept_is_not_left_behind(tmp_path: Path) -> None:
    """Of an index of a kind that is not known yet, a write says so in place of letting it say what is no more so."""
    writer = Writer(tmp_path, **{COLUMN_STATS: "false"})
    grown(writer)
    file = tmp_path / ".hoodie" / "hoodie.properties"
    properties = parse_properties(file.read_bytes(), file.name)
    file.write_bytes(serialise_properties({**properties, "hoodie.table.metadata.partitions": "files,vector_index_a"}))
    with pytest.raises(UnsupportedFeature, match="vector_index_a"):
        writer.commit(5000)
