"""Indexes built beside writers: nothing is missed, deaths leave nothing behind that counts, and plans are made once."""

from pathlib import Path

import pytest
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plans import parse_index_commit, parse_index_plan
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.testing import Effect, TableActions, load_configuration, load_table
from written_tables import OnceBefore, Written, rows

KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]
# Writers do not request what the indexer builds, and keep it all the same.
WRITERS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.clean.automatic": "false",
}
CONFIGURED = {
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}
NAMES = ("bloom_filters", "record_index")
WHOLE_KEY = "hoodie.table.metadata.partitions"
BUILDING_KEY = f"{WHOLE_KEY}.inflight"


class Stopped(BaseException):
    """A death: it is no error, and no service that fails."""


def grown(path: Path, kind: str = "MERGE_ON_READ", version: int = 9) -> Written:
    table = Written(path, kind, version, configs=WRITERS)
    table.write("upsert", rows(range(6)))
    table.write("upsert", rows(range(3), ts=2, price=2.0))
    return table


def listed(table: Written, key: str = WHOLE_KEY) -> tuple[str, ...]:
    """The indexes that a property names, sorted."""
    names = load_configuration(LocalStorage(table.path)).properties.get(key, "")
    return tuple(sorted(name for name in names.split(",") if name))


def is_valid(table: Written) -> bool:
    """The metadata table says what storage and data do, and lists the indexes as whole."""
    findings = TableActions(table.writer()).validate_metadata()
    return findings == () and set(NAMES) <= set(listed(table)) and listed(table, BUILDING_KEY) == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", [6, 8, 9])
def test_an_index_is_planned_then_built(tmp_path: Path, version: int, kind: str) -> None:
    """The plan names what is requested and from which write on; writes before and after the building are in."""
    table = grown(tmp_path / "t", kind, version)
    storage = LocalStorage(table.path)
    requested = table.services().schedule("indexing", CONFIGURED)
    last = max(one.requested for one in load_table(storage)[1].completed_data())
    (pending,) = load_table(storage)[1].pending("indexing")
    plan = parse_index_plan(storage.read(pending.file), pending.file).index_partition_infos
    assert {one.metadata_partition_path: one.index_upto_instant for one in plan} == dict.fromkeys(NAMES, last)
    assert table.services().schedule("indexing", CONFIGURED) is None
    table.write("upsert", rows(range(4, 9), ts=3, price=3.0))
    outcome = table.services().execute(str(requested), CONFIGURED)
    assert outcome.action == "indexing"
    done = next(one for one in load_table(storage)[1].instants if one.requested == requested)
    held = {
        one.index_upto_instant for one in parse_index_commit(storage.read(done.file), done.file).index_partition_infos
    }
    assert held == {max(one.requested for one in load_table(storage)[1].completed_data())}
    table.write("delete", rows([1, 8], ts=4))
    assert is_valid(table)
    assert table.services().schedule("indexing", CONFIGURED) is None


@pytest.mark.parametrize("version", [6, 9])
def test_who_writes_meanwhile_writes_to_what_is_built(tmp_path: Path, version: int) -> None:
    """A write that completes while base files are made logs to the index, and the building takes nothing of it away."""
    table = grown(tmp_path / "t", version=version)
    requested = str(table.services().schedule("indexing", CONFIGURED))

    def write() -> None:
        assert len(listed(table, BUILDING_KEY)) == 1
        table.write("upsert", rows(range(5, 12), ts=3, price=3.0))

    # The first base file of the index: the lock is free, its groups are open.
    table.services(OnceBefore("put_base_file", write)).execute(requested, CONFIGURED)
    assert is_valid(table)
    table.write("delete", rows([5, 11], ts=9))
    assert is_valid(table)


def test_who_does_not_keep_it_has_it_built_again(tmp_path: Path) -> None:
    """A writer without metadata table takes it away; the building then finds nothing to add to, and gives up."""
    table = grown(tmp_path / "t")
    requested = str(table.services().schedule("indexing", CONFIGURED))

    def write() -> None:
        table.configs = {**WRITERS, "hoodie.metadata.enable": "false"}
        table.write("upsert", rows(range(5, 12), ts=3, price=3.0))
        table.configs = WRITERS

    with pytest.raises(HudiError):
        table.services(OnceBefore("put_base_file", write)).execute(requested, CONFIGURED)
    (pending,) = load_table(LocalStorage(table.path))[1].pending("indexing")
    assert pending.state == "REQUESTED"
    table.write("upsert", rows([1], ts=9))
    table.services().execute(requested, CONFIGURED)
    assert is_valid(table)


@pytest.mark.slow
@pytest.mark.parametrize("version", [6, 9])
def test_an_indexer_crashes_and_is_started_again(tmp_path: Path, version: int) -> None:
    """Whatever it left, writers go on beside it, readers do not use it, and the next run makes the index whole."""
    whole = grown(tmp_path / "whole", version=version)
    counted: list[str] = []

    class Counting:
        def before(self, effect: Effect) -> None:
            counted.append(str(effect))

        def after(self, effect: Effect) -> None:
            """Nothing."""

    whole.services(Counting()).execute(str(whole.services().schedule("indexing", CONFIGURED)), CONFIGURED)
    # Others' turn comes in the other version.
    for number in range(2 if version == 6 else 5, len(counted), 9):
        table = grown(tmp_path / str(number), version=version)
        requested = str(table.services().schedule("indexing", CONFIGURED))
        with pytest.raises(Stopped):
            table.services(Crashing(number)).execute(requested, CONFIGURED)
        table.write("upsert", rows(range(4, 8), ts=3, price=3.0))
        assert TableActions(table.writer()).validate_metadata() == ()
        assert dict(table.found())["k7"] == 3.0
        if requested in {one.requested for one in load_table(LocalStorage(table.path))[1].pending("indexing")}:
            table.services().execute(requested, CONFIGURED)
        assert is_valid(table)


class Crashing:
    """Dies before the effect of a number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def before(self, effect: Effect) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped(str(effect))

    def after(self, effect: Effect) -> None:
        """Nothing."""


def test_partitions_can_be_named(tmp_path: Path) -> None:
    """By a list or a text with commas, in an order in which each has what it needs; an unknown one is refused."""
    table = grown(tmp_path / "t")
    requested = table.services().schedule("indexing", partitions="record_index, bloom_filters")
    storage = LocalStorage(table.path)
    (pending,) = load_table(storage)[1].pending("indexing")
    plan = parse_index_plan(storage.read(pending.file), pending.file)
    assert tuple(one.metadata_partition_path for one in plan.index_partition_infos) == NAMES
    table.services().execute(str(requested))
    assert is_valid(table)
    with pytest.raises(UnsupportedFeature):
        table.services().schedule("indexing", partitions=["strange"])


def test_a_table_without_metadata_table_has_none_to_add_to(tmp_path: Path) -> None:
    """The list of files comes with a write; nothing is planned before."""
    table = Written(tmp_path / "t", configs={"hoodie.metadata.enable": "false"})
    table.write("upsert", rows(range(3)))
    with pytest.raises(HudiError) as caught:
        table.services().schedule("indexing", CONFIGURED)
    assert caught.value.reason == "CONFIG_INVALID"
    assert not load_table(LocalStorage(table.path))[1].pending("indexing")
