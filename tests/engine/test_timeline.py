import os
from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, tick
from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_spark import HudiError, read_arrow
from hudi_spark.table_state import visibility
from hudi_spark.testing import load_table

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])


def timeline_of(path: Path):
    return load_table(open_storage(path))[1]


@VERSIONS
def test_the_highest_state_of_an_action_is_its_state(tmp_path: Path, version: int):
    builder = TableBuilder(tmp_path, version)
    builder.commit(10)
    builder.pending(20)
    builder.pending(30, state="REQUESTED")
    states = [(one.requested, one.state) for one in timeline_of(tmp_path).instants]
    assert states == [(tick(10), "COMPLETED"), (tick(20), "INFLIGHT"), (tick(30), "REQUESTED")]


@VERSIONS
def test_a_completed_compaction_is_a_commit_of_the_same_instant(tmp_path: Path, version: int):
    builder = TableBuilder(tmp_path, version)
    builder.pending_compaction(10, "f1", state="INFLIGHT")
    builder.timeline_file(10, "commit", "COMPLETED", b"{}")
    (instant,) = timeline_of(tmp_path).instants
    assert (instant.action, instant.state) == ("commit", "COMPLETED")


@VERSIONS
def test_a_savepoint_stands_beside_the_instant_it_keeps(tmp_path: Path, version: int):
    builder = TableBuilder(tmp_path, version)
    builder.commit(10)
    builder.timeline_file(10, "savepoint", "COMPLETED", b"")
    assert [one.action for one in timeline_of(tmp_path).instants] == ["deltacommit", "savepoint"]


@VERSIONS
def test_a_clean_stands_beside_the_write_whose_instant_it_has(tmp_path: Path, version: int):
    """Releases before 0.9 gave it that instant, and upgrades keep it."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10)
    builder.commit(20)
    builder.clean(20, None)
    found = [(one.requested, one.action) for one in timeline_of(tmp_path).instants[1:]]
    assert found == [(tick(20), "deltacommit"), (tick(20), "clean")]


def test_completion_order_is_not_request_order(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, completed=40)
    builder.commit(20, completed=30)
    assert [one.requested for one in timeline_of(tmp_path).completed_data()] == [tick(20), tick(10)]


def test_an_action_that_completed_twice_is_refused(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, completed=20)
    builder.commit(10, completed=30)
    with pytest.raises(HudiError) as caught:
        timeline_of(tmp_path)
    assert caught.value.reason == "INSTANT_MALFORMED"


@VERSIONS
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to itself", "link to nothing"])
def test_what_is_no_file_is_refused_under_the_name_of_an_instant(tmp_path: Path, version: int, kind: str):
    """What was written there may be the only word of rows; a folder of another name means nothing."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10)
    (builder.folder / "backup.d").mkdir()
    assert [one.requested for one in timeline_of(tmp_path).instants] == [tick(10)]
    (completed,) = (one for one in builder.folder.iterdir() if one.name.endswith(("commit", "deltacommit")))
    completed.unlink()
    make: Any = {"folder": completed.mkdir, "pipe": lambda: os.mkfifo(completed)}
    make.get(kind, lambda: completed.symlink_to(completed.name if kind == "link to itself" else "nothing"))()
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path)
    assert caught.value.reason == "INSTANT_MALFORMED"
    assert caught.value.place == str(completed)


def test_an_unknown_action_is_refused(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    (builder.folder / f"{tick(1)}.squash.requested").write_bytes(b"")
    with pytest.raises(FormatError) as caught:
        timeline_of(tmp_path)
    assert caught.value.reason == "INSTANT_MALFORMED"


class TestVisibility:
    def sees(self, path: Path, *numbers: int, as_of: str | None = None, axis: Any = "requested"):
        seen = visibility(timeline_of(path), as_of, axis)
        return [seen.sees(tick(n)) for n in numbers]

    def test_completed_instants_are_seen_and_pending_ones_are_not(self, tmp_path: Path):
        builder = TableBuilder(tmp_path)
        builder.commit(10)
        builder.pending(20)
        assert self.sees(tmp_path, 10, 20, 30) == [True, False, False]

    def test_an_instant_before_the_first_write_counts_as_committed(self, tmp_path: Path):
        TableBuilder(tmp_path).commit(10)
        assert self.sees(tmp_path, 5, 11) == [True, False]

    def test_a_pending_first_write_is_not_before_the_timeline(self, tmp_path: Path):
        builder = TableBuilder(tmp_path)
        builder.pending(5)
        builder.commit(10)
        assert self.sees(tmp_path, 5, 4) == [False, True]

    def test_an_old_clean_does_not_make_archived_commits_invisible(self, tmp_path: Path):
        builder = TableBuilder(tmp_path)
        builder.clean(2, None)
        builder.commit(10)
        assert self.sees(tmp_path, 5) == [True]

    def test_nothing_is_seen_on_an_empty_timeline(self, tmp_path: Path):
        TableBuilder(tmp_path)
        assert self.sees(tmp_path, 5) == [False]

    def test_as_of_compares_requested_or_completed_times(self, tmp_path: Path):
        builder = TableBuilder(tmp_path)
        builder.commit(10, completed=40)
        builder.commit(20, completed=30)
        assert self.sees(tmp_path, 10, 20, as_of=tick(15)) == [True, False]
        assert self.sees(tmp_path, 10, 20, as_of=tick(35), axis="completed") == [False, True]
