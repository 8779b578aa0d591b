"""A clustering killed before any of its effects leaves a sound table, which the next one completes."""

from pathlib import Path

import pytest
from clustering_tables import cluster, clusterable, data_files, findings, pending, services, stored
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError
from hudi_spark.testing import RELEASED, load_snapshot
from metadata_writes import StopAt, Stopped
from written_tables import rows

pytestmark = pytest.mark.crashes


@pytest.mark.parametrize(("version", "kind"), [(6, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
def test_killed_before_each_effect(tmp_path: Path, version: int, kind: str):
    """The table reads as before at once; the next clustering completes, and no file is left that nobody names."""
    first = clusterable(tmp_path / "first", kind, version)
    before, number, completed = stored(first), 0, False
    while not completed:
        table = first.copied(tmp_path / f"t{number}")
        try:
            services(table, StopAt(number)).run("clustering")
            completed = True
        except Stopped:
            assert stored(table) == before, number
        cluster(table)
        assert pending(table) == [], number
        assert stored(table) == before, number
        assert findings(table) == (), number
        table.write("upsert", rows([3, 4], ts=9, price=9.0))
        assert [row for row in table.found() if row[1] == 9.0] == [("k3", 9.0), ("k4", 9.0)], number
        _nothing_is_left(table.path, data_files(table), number)
        number += 1
    assert number > 12


def _nothing_is_left(path: Path, files: list[str], number: int) -> None:
    snapshot = load_snapshot(LocalStorage(path), RELEASED)
    named = {name for commit in snapshot.commits for _, name, _ in commit.data_files()}
    assert set(files) <= named, number
    done = {commit.instant.requested for commit in snapshot.commits}
    # Who dies after completing leaves markers: nobody looks at those of what has completed.
    assert {one.name for one in (path / ".hoodie/.temp").glob("*")} <= done, number


def test_a_writer_that_clusters_finishes_what_the_one_before_it_left(tmp_path: Path):
    """Who dies in the clustering after its write leaves a plan whose groups take no updates: the next one that clusters
    carries it out before it writes; one that does not is refused."""
    table = clusterable(tmp_path / "table")
    with pytest.raises(Stopped):
        services(table, StopAt(9)).run("clustering")
    waiting = [one.requested for one in pending(table)]
    assert waiting

    with pytest.raises(HudiError, match=waiting[0]):
        table.write_and_serve("upsert", rows([3], ts=9, price=9.0))
    inline = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "100"}
    table.write_and_serve("upsert", rows([3], ts=9, price=9.0), configs=inline)
    assert [row for row in table.found() if row[1] == 9.0] == [("k3", 9.0)]
    assert pending(table) == []
