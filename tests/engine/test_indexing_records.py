"""The record index follows the rows: whatever an action does, it leads to the group that a reader finds the key in."""

from datetime import datetime
from pathlib import Path

import pytest
from hudi_format.log.deletes import DeleteRecord
from hudi_format.metadata.records import FileIdEncoding
from hudi_spark import UnsupportedFeature
from hudi_spark.testing import load_configuration
from index_histories import FEW, GLOBAL, History, row

VERSIONS = (6, 8, 9)
PARTITIONED = {"hoodie__metadata__record__level__index__enable": "true"}


def history(base: Path, version: int = 9, **options: str) -> History:
    return History(base, version, {**GLOBAL, **FEW, **options})


def grown(base: Path, version: int = 9, **options: str) -> History:
    """Two groups, one with a log that brings a key, deletes one, and is too late to delete another."""
    it = history(base, version, **options)
    it.begin()
    it.commit(it.base_file([row("a", 5), row("b", 5), row("c", 5)], "f1"))
    it.begin()
    it.commit(it.base_file([row("s", 1)], "f2", "south"))
    it.begin()
    late, wins = DeleteRecord("b", "north", 1), DeleteRecord("c", "north", 9)
    it.commit(it.log_file([row("a", 6), row("d", 1)], [late, wins], "f1"))
    return it


@pytest.mark.parametrize("version", VERSIONS)
def test_inserts_updates_and_deletes_are_followed(tmp_path: Path, version: int) -> None:
    """A delete that merging lets lose leaves its key; a key that only a log brings is there."""
    it = grown(tmp_path, version)
    assert set(it.places()) == {"a", "b", "d", "s"}
    assert it.places() == {key: ("south" if key == "s" else "north", "f2" if key == "s" else "f1") for key in "abds"}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_index_made_late_leads_where_a_kept_one_leads(tmp_path: Path, version: int) -> None:
    """Whether it was kept from the first action on or made of what is there."""
    kept = grown(tmp_path / "kept", version)
    late = grown(tmp_path / "late", version, **dict.fromkeys(GLOBAL, "false"))
    late.writer.options |= {key.replace("__", "."): "true" for key in GLOBAL}
    for it in (kept, late):
        it.begin()
        it.commit(it.base_file([row("x", 1)], "f3"))
    assert kept.places() == late.places()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_key_that_moves_is_there_once(tmp_path: Path, version: int) -> None:
    """The group that it comes to counts, not the one that it leaves, in whichever order they are written."""
    it = grown(tmp_path, version)
    it.begin()
    moved = it.log_file([], [DeleteRecord("a", "north", 99)], "f1")
    it.commit(moved, it.base_file([row("s", 1), row("a", 99)], "f2", "south"))
    assert it.places()["a"] == ("south", "f2")
    assert set(it.places()) == {"a", "b", "d", "s"}


@pytest.mark.parametrize("version", VERSIONS)
def test_replaced_groups_lose_what_no_other_group_has(tmp_path: Path, version: int) -> None:
    """Clustering moves keys, overwriting takes those away that do not come back."""
    it = grown(tmp_path, version)
    it.begin()
    clustered = it.base_file([row("a", 6), row("b", 5), row("d", 1)], "f9")
    it.commit(clustered, action="replacecommit", operation="CLUSTER", replaced={"north": ("f1",)})
    assert {key: group for key, (_, group) in it.places().items()} == {"a": "f9", "b": "f9", "d": "f9", "s": "f2"}
    it.begin()
    overwritten = it.base_file([row("a", 7)], "f10")
    it.commit(overwritten, action="replacecommit", operation="INSERT_OVERWRITE", replaced={"north": ("f9",)})
    assert it.places() == {"a": ("north", "f10"), "s": ("south", "f2")}


def test_a_compaction_changes_nothing(tmp_path: Path) -> None:
    """Its rows were there, and where they were; the time since when stays."""
    it = grown(tmp_path)
    before = it.entries("record_index")
    it.begin()
    it.commit(it.base_file([row("a", 6), row("b", 5), row("d", 1)], "f1"), action="commit", operation="COMPACT")
    assert it.entries("record_index") == before


def test_an_index_by_partition_has_a_key_in_several(tmp_path: Path) -> None:
    """Each partition has groups of its own, a new one gets them with its first write."""
    it = History(tmp_path, 9, PARTITIONED)
    for number, partition in enumerate(("north", "so/uth", "w.est")):
        it.begin()
        it.commit(it.base_file([row("a", 1), row(f"k{number}", 1)], f"f{number}", partition))
    found = it.entries("record_index")
    assert {(key, within): one.file_id for (key, within), one in found.items()} == {
        ("a", "north"): "f0",
        ("k0", "north"): "f0",
        ("a", "so/uth"): "f1",
        ("k1", "so/uth"): "f1",
        ("a", "w.est"): "f2",
        ("k2", "w.est"): "f2",
    }
    opened = it.writer.opened()
    assert opened is not None
    assert {one.partition for one in opened.record_locations(["a"])["a"]} == {"north", "so/uth", "w.est"}


def test_an_index_by_partition_refuses_a_partition_that_would_end_the_file_id(tmp_path: Path) -> None:
    """A file id ends at the first `_`: no release finds such a group again, and the write says so."""
    it = History(tmp_path, 9, PARTITIONED)
    it.begin()
    with pytest.raises(UnsupportedFeature, match="event_date=1"):
        it.commit(it.base_file([row("a", 1)], "f1", "event_date=1"))


def test_older_versions_have_no_index_by_partition(tmp_path: Path) -> None:
    """They would take its groups for those of the whole table."""
    it = History(tmp_path, 8, PARTITIONED)
    it.begin()
    with pytest.raises(UnsupportedFeature, match="partitioned"):
        it.commit(it.base_file([row("a", 1)], "f1"))


def test_the_place_says_since_when_and_how_the_id_is_written(tmp_path: Path) -> None:
    """The instant of the action that brought the key, in milliseconds; ids that are no UUID stay text."""
    it = grown(tmp_path)
    kept = load_configuration(it.writer.storage)
    place = it.entries("record_index")["d", None]
    moment = datetime.strptime("20250101000003", "%Y%m%d%H%M%S").astimezone()
    assert kept.properties.get("hoodie.table.timeline.timezone", "LOCAL") == "LOCAL"
    assert place.instant_ms == moment.timestamp() * 1000
    assert place.encoding is FileIdEncoding.TEXT
