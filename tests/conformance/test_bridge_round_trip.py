"""The bridge gives back what it stored, byte for byte the same each time, and survives any file."""

import datetime as dt
import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi_conformance.bridge import load, store
from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.layout import Layout
from hudi_conformance.corpus.golden.questions import GoldenTable
from hudi_conformance.corpus.golden.rides import fleet, ride, rides, second
from hudi_model.actions import Action, CommitMetadata, OtherContent, State, TimelineEntry
from hudi_model.files import CorruptBlock, Damaged, DataBlock, UnsupportedContent
from hudi_model.rejection import Reason
from hudi_model.tables import Table
from hudi_model.time import InstantTime
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import orc

Write = tuple[str, list[str], int, State]
LAYOUTS = [
    Layout(version, merge_on_read=merge_on_read, partition_by=partition)
    for version in (6, 8, 9, 10)
    for merge_on_read in (False, True)
    for partition in ("city", None)
]
KEYS = st.sampled_from(["r01", "r02", "fähre-05", "r11", "🚲-16"])
WRITES = st.lists(
    st.tuples(
        st.sampled_from(
            ["insert", "upsert", "delete", "typed delete", "corrupt", "compaction plan", "replace", "roll back"]
        ),
        st.lists(KEYS, min_size=1, max_size=3, unique=True),
        st.integers(1, 50),
        st.sampled_from(list(State)),
    ),
    max_size=5,
)


def _written(layout: Layout, writes: list[Write]) -> Table:
    table = GoldenTable("v0/property", layout)
    table.insert(second(1), fleet(10)[:7])
    for number, write in enumerate(writes):
        _write(table, second(2 + number), write)
    return table.state()


def _write(table: GoldenTable, at: InstantTime, write: Write) -> None:
    kind, keys, ts, state = write
    group: Group = table.home(ride(keys[0], ts))
    match kind:
        case "insert":
            table.insert(at, rides(ts, keys), state=state)
        case "upsert":
            table.upsert(at, rides(ts, keys), state=state)
        case "delete":
            table.delete(at, "oslo", *keys)
        case "typed delete":
            table.upsert(at, deletes={("lima", key): ts for key in keys}, state=state)
        case "corrupt" if table.layout.merge_on_read and table.version < 10:
            table.append(at, {group: [CorruptBlock(0, 14 + ts), table.data_block(group, at, rides(ts, keys))]})
        case "compaction plan" if table.layout.merge_on_read:
            # Only a group that has files can be planned for.
            table.schedule_compaction(at, [table.home(ride("r01", ts))])
        case "replace":
            table.replace_groups(at, rides(ts, keys), [group], state=max(state, State.INFLIGHT))
        case "roll back":
            table.upsert(at, rides(ts, keys), state=State.INFLIGHT)
            table.roll_back(second(int(at[-5:-3]) + 30), at)


def _comparable(table: Table) -> Table:
    """Listing order instead of writing order; sizes and partitions, which the writer leaves open, left out."""
    return replace(
        table,
        timeline=tuple(sorted(map(_without_sizes, table.timeline), key=lambda entry: entry.name)),
        base_files=tuple(sorted(table.base_files, key=lambda file: (file.partition, file.name))),
        log_files=tuple(sorted(table.log_files, key=lambda file: (file.partition, file.name))),
        partitions=frozenset(),
    )


def _without_sizes(entry: TimelineEntry) -> TimelineEntry:
    if not isinstance(entry.content, CommitMetadata):
        return entry
    stats = sorted((replace(stat, size=0) for stat in entry.content.write_stats), key=repr)
    return replace(entry, content=replace(entry.content, write_stats=tuple(stats)))


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(layout=st.sampled_from(LAYOUTS), writes=WRITES)
def test_what_is_stored_is_loaded_again(layout: Layout, writes: list[Write]) -> None:
    """Property: load(store(state)) == state, for tables of every version, type and partitioning."""
    state = _written(layout, writes)
    with TemporaryDirectory() as folder:
        store(state, Path(folder))
        assert _comparable(load(Path(folder))) == _comparable(state)


@settings(max_examples=10, deadline=None)
@given(layout=st.sampled_from(LAYOUTS), writes=WRITES)
def test_storing_twice_gives_the_same_bytes(layout: Layout, writes: list[Write]) -> None:
    """Property: bytes are a function of the state, so golden tables can be rebuilt and compared."""
    state = _written(layout, writes)
    with TemporaryDirectory() as first, TemporaryDirectory() as second_folder:
        store(state, Path(first))
        store(_written(layout, writes), Path(second_folder))
        assert _bytes(Path(first)) == _bytes(Path(second_folder))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_bytes_make_loading_fail(data: st.DataObject) -> None:
    """Property: whatever one file of a table holds, loading gives a state; only the model refuses."""
    layout = data.draw(st.sampled_from(LAYOUTS))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        store(_written(layout, []), root)
        victim = data.draw(st.sampled_from(sorted(path for path in root.rglob("*") if path.is_file())))
        old = victim.read_bytes()
        at = data.draw(st.integers(0, len(old)))
        victim.write_bytes(old[:at] + data.draw(st.binary(max_size=12)) + old[at + data.draw(st.integers(0, 30)) :])

        assert isinstance(load(root), Table)


def test_nan_and_negative_zero_survive(tmp_path: Path) -> None:
    """Floats keep what `==` cannot see."""
    table = GoldenTable("v9/floats", Layout(9, merge_on_read=True))
    table.insert(second(1), [ride("r01", 1, ratio=float("nan")), ride("r02", 1, ratio=-0.0)])
    store(table.state(), tmp_path)

    ratios = {row.values["id"]: row.values["ratio"] for file in load(tmp_path).base_files for row in file.records}

    assert math.isnan(ratios["r01"])
    assert math.copysign(1, ratios["r02"]) == -1


def test_undecodable_contents_become_damaged_values(tmp_path: Path) -> None:
    """A reader that need not read a damaged file is not stopped by it: the damage stands in its place."""
    table = GoldenTable("v9/damaged", Layout(9, merge_on_read=True))
    written = table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    store(table.state(), tmp_path)
    corruption.tear(f"*/{written.base_files[0].name}", 30)(tmp_path)
    corruption.garble_content("*/.*.log.*")(tmp_path)
    corruption.tear(".hoodie/timeline/*_*.deltacommit", 50)(tmp_path)
    state = load(tmp_path)

    damaged = [file.records for file in state.base_files if isinstance(file.records, Damaged)]
    assert [one.reason for one in damaged] == [Reason.BASE_FILE_CORRUPT]
    blocks = [block for file in state.log_files for block in file.blocks]
    assert {block.records.reason for block in blocks if isinstance(block, DataBlock)} == {Reason.LOG_CONTENT_CORRUPT}
    contents = [entry.content for entry in state.timeline if entry.state is State.COMPLETED]
    assert all(isinstance(one, Damaged) and one.reason is Reason.TIMELINE_FILE_CORRUPT for one in contents)


def test_an_absent_folder_loads_as_a_table_without_properties(tmp_path: Path) -> None:
    """NOT_A_TABLE is the model's to say."""
    assert load(tmp_path / "nowhere") == Table(None, None, (), (), ())


def test_malformed_timeline_names_are_kept_apart(tmp_path: Path) -> None:
    """A name that looks like an instant and is none reaches the model with its path."""
    table = GoldenTable("v9/names", Layout(9, merge_on_read=True))
    table.insert(second(1), fleet(10))
    store(table.state(), tmp_path)
    corruption.write(".hoodie/timeline/2025x_2026.commit")(tmp_path)

    malformed = load(tmp_path).malformed

    assert [one.reason for one in malformed] == [Reason.INSTANT_MALFORMED]
    assert malformed[0].where == ".hoodie/timeline/2025x_2026.commit"


def test_data_files_outside_of_partitions_are_no_part_of_the_table(tmp_path: Path) -> None:
    """A folder without partition metafile is no partition, whatever lies in it."""
    table = GoldenTable("v9/partitions", Layout(9, merge_on_read=False))
    table.insert(second(1), fleet(10))
    store(table.state(), tmp_path)
    (tmp_path / "oslo" / ".hoodie_partition_metadata").unlink()

    assert {file.partition for file in load(tmp_path).base_files} == {"lima"}


def test_base_files_of_another_format_hold_the_same_rows(tmp_path: Path) -> None:
    """ORC in place of Parquet."""
    table = GoldenTable("v9/orc", Layout(9, merge_on_read=False))
    file = table.insert(second(1), fleet(10)).base_files[0]
    store(table.state(), tmp_path)
    rows = pq.ParquetFile(tmp_path / file.partition / file.name).read()

    _put_orc(tmp_path / file.partition / file.name, rows)

    found = next(one for one in load(tmp_path).base_files if one.extension == "orc")
    assert found.records == next(one for one in table.state().base_files if one.name == file.name).records


def test_unread_kinds_are_reported_as_such(tmp_path: Path) -> None:
    """An ORC file with moments that Arrow cannot hold is sound but not read: that is no damage."""
    table = GoldenTable("v9/orc", Layout(9, merge_on_read=False))
    file = table.insert(second(1), fleet(10)).base_files[0]
    store(table.state(), tmp_path)
    far = pa.table({"at": pa.array([dt.datetime(1500, 1, 1)], pa.timestamp("us"))})  # noqa: DTZ001  has no zone

    _put_orc(tmp_path / file.partition / file.name, far)

    contents = [one.records for one in load(tmp_path).base_files if one.extension == "orc"]
    assert [type(one) for one in contents] == [UnsupportedContent]


def _put_orc(parquet: Path, rows: pa.Table) -> None:
    """An ORC file instead of a Parquet file."""
    orc.write_table(rows, parquet.with_suffix(".orc"))
    parquet.unlink()


def test_states_that_have_no_bytes_are_refused(tmp_path: Path) -> None:
    """Damage is done to bytes, never written from a state."""
    table = GoldenTable("v9/refused", Layout(9, merge_on_read=True))
    table.enter(Action.COMMIT, State.COMPLETED, second(1), second(2), OtherContent())

    with pytest.raises(ValueError, match="has no bytes"):
        store(table.state(), tmp_path)
