"""Tables change their version: answers stay, whatever stops is done again, and what cannot be said is refused."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hudi_conformance.bridge.checking import load_for_check
from hudi_conformance.runner.archive import folder_of, unpack
from hudi_format.storage import LocalStorage
from hudi_format.table.properties import parse_properties
from hudi_format.table.table_properties import BACKUP_FILE, update_properties
from hudi_format.timeline.archived_log import read_archived_log
from hudi_format.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from hudi_format.timeline.history import read_history_file
from hudi_model_tools.violations import violations
from hudi_spark import HudiError, check_table, read_arrow, read_incremental, services_arrow
from hudi_spark.testing import (
    Effect,
    IndexRequest,
    InProcess,
    SetClock,
    TableActions,
    WriteRequest,
    archived_instants,
    load_table,
    stop_heartbeat,
)
from written_tables import Written, rows

WAYS = {6: (8, 9, 8, 6), 8: (9, 8, 6, 9), 9: (8, 6, 9)}
KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
PLAIN = {"hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}


class Stopped(BaseException):
    """A death: it is no error, and no service that fails."""


class Stopping:
    """Counts effects, and ends the work before or after the one of a number."""

    def __init__(self, number: int = 10_000, *, after: bool = False) -> None:
        self.number = number
        self.is_after = after
        self.seen: list[str] = []

    def before(self, effect: Effect) -> None:
        if not self.is_after and len(self.seen) >= self.number:
            raise Stopped(str(effect))
        self.seen.append(str(effect))

    def after(self, effect: Effect) -> None:
        if self.is_after and len(self.seen) > self.number:
            raise Stopped(str(effect))


def grown(path: Path, kind: str, version: int, **configs: str) -> Written:
    """Inserts, updates, late rows, a delete; what is archived where the options say so."""
    table = Written(path, kind, version, configs={**PLAIN, **{k.replace("__", "."): v for k, v in configs.items()}})
    table.write("upsert", rows(range(6), ts=10))
    table.write("upsert", rows((0, 1, 6), ts=20, price=2.0))
    table.write("upsert", rows((2, 3), ts=5, price=3.0))
    table.write("delete", rows((4,), ts=30))
    _dated(table)
    return table


def _dated(table: Written) -> None:
    """Completed files of version 6 were written when their actions completed, as by a writer of that time."""
    storage = LocalStorage(table.path)
    configuration, timeline = load_table(storage)
    if not configuration.has_completion_times:
        for number, one in enumerate(timeline.instants):
            seconds = 1_735_689_600 + number
            os.utime(storage.resolve(one.file), (seconds, seconds))


def change(table: Written, to: int, hook: Any = None) -> bool:
    version = load_table(LocalStorage(table.path))[0].version
    found = table.services(hook)
    return found.upgrade(to) if to > version else found.downgrade(to)


def instants(table: Written) -> list[tuple[str, str, str]]:
    """The timeline but for the version's own words: times, actions and states."""
    timeline = load_table(LocalStorage(table.path))[1]
    return [(one.requested, one.action, one.state) for one in timeline.instants]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", WAYS)
def test_answers_stay_on_the_way_through_all_versions(tmp_path: Path, kind: str, version: int) -> None:
    """Rows, the timeline and what changed since an instant are the same in every version; the table is written on."""
    table = grown(tmp_path / "t", kind, version)
    if kind == "COPY_ON_WRITE":
        table.services().savepoint(comment="kept")
    before, first = table.found(), instants(table)[0][0]
    change(table, WAYS[version][0])
    actions = instants(table)
    for to in WAYS[version][1:]:
        assert change(table, to)
        assert not change(table, to) or to == version
        assert table.found() == before
        assert instants(table) == actions
        assert read_arrow(table.path, read_optimized=True).num_rows == len(before)
    changed = read_incremental(table.path, first)
    assert changed.num_rows <= len(before)
    table.write("upsert", rows((0, 9), ts=99, price=9.0))
    assert dict(table.found()) == {**dict(before), "k0": 9.0, "k9": 9.0}


@pytest.mark.parametrize("version", [6, 8])
def test_an_upgrade_stops_anywhere_and_is_done_again(tmp_path: Path, version: int) -> None:
    """Killed before or after any effect, the table answers as before, and the next attempt needs no help."""
    whole = grown(tmp_path / "whole", "MERGE_ON_READ", version)
    expected, counted = whole.found(), Stopping()
    whole_copy = _copied(whole, tmp_path / "counted")
    change(whole_copy, 9 if version == 8 else 8, counted)
    _stops_anywhere(whole, 9 if version == 8 else 8, expected, len(counted.seen), tmp_path)


@pytest.mark.parametrize("version", [8, 9])
def test_a_downgrade_stops_anywhere_and_is_done_again(tmp_path: Path, version: int) -> None:
    """The same downwards."""
    whole = grown(tmp_path / "whole", "COPY_ON_WRITE", version)
    expected, counted = whole.found(), Stopping()
    to = 6 if version == 8 else 8
    change(_copied(whole, tmp_path / "counted"), to, counted)
    _stops_anywhere(whole, to, expected, len(counted.seen), tmp_path)


@pytest.mark.parametrize("version", [8, 9])
def test_a_change_that_stops_between_8_and_9_may_be_given_up(tmp_path: Path, version: int) -> None:
    """Brought to the version that it still has, the table is as it was, and its metadata table has that version too."""
    whole = grown(tmp_path / "whole", "COPY_ON_WRITE", version, hoodie__metadata__enable="true")
    counted, to = Stopping(), {8: 9, 9: 8}[version]
    change(_copied(whole, tmp_path / "counted"), to, counted)
    for number in range(0, len(counted.seen), 3):
        table = _copied(whole, tmp_path / f"stopped{number}")
        with pytest.raises(Stopped):
            change(table, to, Stopping(number, after=True))
        change(table, load_table(LocalStorage(table.path))[0].version)
        assert [str(one) for one in check_table(table.path, deep=True)] == []
        assert table.found() == whole.found()
        shutil.rmtree(table.path)


def _copied(table: Written, path: Path) -> Written:
    shutil.copytree(table.path, path)
    copy = object.__new__(Written)
    copy.__dict__.update({**table.__dict__, "path": path, "clock": SetClock(table.clock.now)})
    return copy


def _stops_anywhere(whole: Written, to: int, expected: list[Any], effects: int, tmp_path: Path) -> None:
    assert effects > 4
    # Some, before and after in turn: the others differ by the action that the file is of.
    for number in range(0, effects, 7):
        table = _copied(whole, tmp_path / f"stopped{number}")
        with pytest.raises(Stopped):
            change(table, to, Stopping(number, after=number % 2 == 0))
        assert table.found() == expected
        change(table, to)
        assert table.found() == expected
        assert load_table(LocalStorage(table.path))[0].version == to
        assert not LocalStorage(table.path).exists(BACKUP_FILE)
        shutil.rmtree(table.path)


def test_a_pending_compaction_loses_no_row(tmp_path: Path) -> None:
    """It is carried out first; 1.1.1 loses what was logged beside it on the way from 6 to 9."""
    table = grown(tmp_path / "t", "MERGE_ON_READ", 6)
    assert table.services().schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    table.write("upsert", rows((1, 7), ts=50, price=7.0))
    before = table.found()
    assert change(table, 9)
    assert table.found() == before
    assert not load_table(LocalStorage(table.path))[1].pending("compaction")


def test_a_failed_write_is_rolled_back_first(tmp_path: Path) -> None:
    """Its files would count as committed, once older than the timeline; one that is under way is waited for."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE", 8)
    before, given = table.found(), WriteRequest("upsert", rows((1,), ts=77, price=7.0))
    started = table.writer(executor=InProcess()).begin(given)
    started.stage(given)
    _refuses(table, 9, "VR-005", "WRITE_CONFLICT")
    stop_heartbeat(started.write.work.effects, started.requested)
    assert change(table, 9)
    assert table.found() == before
    assert not [one for one in load_table(LocalStorage(table.path))[1].instants if not one.is_completed]


def test_a_failed_write_is_rolled_back_first_whatever_the_policy(tmp_path: Path) -> None:
    """Also where nobody rolls failed writes back by themselves: releases set the policy aside for it."""
    table, given = grown(tmp_path / "t", "COPY_ON_WRITE", 8), WriteRequest("upsert", rows((1,), ts=77, price=7.0))
    started = table.writer(executor=InProcess()).begin(given)
    started.stage(given)
    stop_heartbeat(started.write.work.effects, started.requested)
    assert table.services().upgrade(9, {"hoodie.clean.failed.writes.policy": "NEVER"})
    assert not [one for one in load_table(LocalStorage(table.path))[1].instants if not one.is_completed]


class Upgrading:
    """Upgrades a table when a write is about to be requested that has read it already."""

    def __init__(self, table: Written) -> None:
        self.table, self.is_done = table, False

    def before(self, effect: Effect) -> None:
        if effect.name == "create_instant" and not self.is_done:
            self.is_done = True
            change(self.table, 8)

    def after(self, effect: Effect) -> None:
        """Nothing."""


def test_a_write_that_began_with_the_older_version_does_not_complete(tmp_path: Path) -> None:
    """It would complete on a timeline that nobody reads any more; done again it is on the new one."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE", 6)
    before, given = table.found(), WriteRequest("upsert", rows((1,), ts=77, price=7.0))
    with pytest.raises(HudiError, match="became one of version 8"):
        table.writer(hook=Upgrading(table)).write(given)
    assert table.found() == before
    assert not change(table, 8)
    table.writer().write(given)
    assert dict(table.found())["k1"] == 7.0


@pytest.mark.parametrize("version", [6, 8])
def test_archived_actions_come_along(tmp_path: Path, version: int) -> None:
    """Every archived action is there in the other layout, and back, with what it did."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE", version)
    table.services().archive({"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2", **_RETAINED})
    storage = LocalStorage(table.path)
    before = _archived(storage)
    assert before
    for to in (8 if version == 6 else 6, version):
        change(table, to)
        assert _archived(storage) == before


def test_an_archived_action_completed_after_its_request(tmp_path: Path) -> None:
    """Whatever the time of its file, by which alone it is known before version 8."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE", 6)
    storage = LocalStorage(table.path)
    for one in load_table(storage)[1].instants:
        os.utime(storage.resolve(one.file), (1, 1))
    table.services().archive({"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2", **_RETAINED})
    change(table, 8)
    files = sorted((tmp_path / "t/.hoodie/timeline/history").glob("*.parquet"))
    found = [row for one in files for row in read_history_file(one.read_bytes(), one.name)]
    assert found
    assert all((row.completion_time or "") > row.instant_time for row in found)


_RETAINED = {"hoodie.clean.commits.retained": "1", "hoodie.cleaner.commits.retained": "1"}


def _archived(storage: LocalStorage) -> list[tuple[Any, ...]]:
    """Times, actions and what they did; the history has each of them once, the log of version 6 its three states."""
    configuration = load_table(storage)[0]
    found = archived_instants(storage, configuration)
    folder = Path(storage.base) / ".hoodie"
    if configuration.has_completion_times:
        manifest = folder / f"timeline/history/manifest_{(folder / 'timeline/history/_version_').read_text()}"
        files = [manifest.with_name(one["fileName"]) for one in json.loads(manifest.read_bytes())["files"]]
        assert sum(len(read_history_file(one.read_bytes(), one.name)) for one in files) == len(found)
    else:
        states = [
            state
            for one in (folder / "archived").glob(".commits_*")
            for state in read_archived_log(one.read_bytes(), one.name)
        ]
        for instant in found:
            own = [one.state for one in states if one.instant == instant.requested]
            assert own == ["REQUESTED", "INFLIGHT", "COMPLETED"]
        assert len(states) == 3 * len(found)
    contents = [one.archived.content if one.archived else None for one in found]
    # From version 8 on the history keeps the bytes of files.
    done = [parse_commit_metadata(each, "file") if isinstance(each, bytes) else each for each in contents]
    assert all(isinstance(each, CommitMetadata) and each.write_stats for each in done)
    return [(one.requested, one.action, each) for one, each in zip(found, done, strict=True)]


def test_what_a_version_cannot_say_is_refused_before_any_change(tmp_path: Path) -> None:
    """A merger of one's own has no name in version 6, and a partial update mode none in 8 without a payload class."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE", 9)
    storage = LocalStorage(table.path)
    update_properties(storage, {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"})
    _refuses(table, 8, "VR-009")
    update_properties(storage, {"hoodie.table.partial.update.mode": None, "hoodie.record.merge.mode": "CUSTOM"})
    update_properties(storage, {"hoodie.record.merge.strategy.id": "11111111-2222-3333-4444-555555555555"})
    _refuses(table, 6, "VR-009")


def _refuses(table: Written, to: int, clause: str, reason: str = "CONFIG_INVALID") -> None:
    before = {name: (table.path / name).read_bytes() for name in table.files()}
    with pytest.raises(HudiError) as caught:
        change(table, to)
    assert caught.value.reason == reason
    assert caught.value.clause == clause
    assert caught.value.hint
    assert {name: (table.path / name).read_bytes() for name in table.files()} == before


def test_a_savepoint_with_logs_keeps_a_table_from_version_6(tmp_path: Path) -> None:
    """Version 6 would take its logs for slices of their own, and a restore would lose the rows below them."""
    table = grown(tmp_path / "t", "MERGE_ON_READ", 9)
    table.services().savepoint()
    _refuses(table, 6, "VR-009")
    assert change(table, 8)


@pytest.mark.parametrize(("old", "new", "upgrade"), [(9, 8, True), (6, 8, False), (4, 9, True), (9, 7, False)])
def test_no_other_way_leads_from_version_to_version(tmp_path: Path, old: int, new: int, upgrade: bool) -> None:
    """An upgrade leads upwards, nothing leads to 7, and what is older than 6 gets there by an older release."""
    table = Written(tmp_path / "t", version=max(old, 6), configs=PLAIN)
    update_properties(LocalStorage(table.path), {"hoodie.table.version": str(old)})
    before = {name: (table.path / name).read_bytes() for name in table.files()}
    with pytest.raises(HudiError) as caught:
        table.services().upgrade(new) if upgrade else table.services().downgrade(new)
    assert caught.value.reason in {"CONFIG_INVALID", "TABLE_VERSION_UNSUPPORTED"}
    assert {name: (table.path / name).read_bytes() for name in table.files()} == before


def test_a_copied_table_keeps_its_logs_in_their_slices(tmp_path: Path) -> None:
    """Files that were copied have later times than base files have instants; completion times stay before these."""
    table = grown(tmp_path / "t", "MERGE_ON_READ", 6)
    table.services().run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    storage = LocalStorage(table.path)
    for file in (table.path / ".hoodie").glob("2*"):
        os.utime(file, (1_900_000_000, 1_900_000_000))
    before = table.found()
    change(table, 8)
    assert table.found() == before
    done = [one for one in load_table(storage)[1].instants if one.is_completed]
    assert len(done) == 5
    first, compaction = (choose(done, key=lambda one: one.requested) for choose in (min, max))
    assert first.requested < str(first.completed) < compaction.requested
    assert len({one.completed for one in done}) == len(done)


def test_the_properties_keep_what_they_say_otherwise(tmp_path: Path) -> None:
    """Nothing but what the version says differently changes, and the way back leaves no word of the newer version."""
    table = grown(tmp_path / "t", "COPY_ON_WRITE", 6)
    properties = table.path / ".hoodie/hoodie.properties"
    before = parse_properties(properties.read_bytes(), "p")
    change(table, 9)
    change(table, 6)
    after = parse_properties(properties.read_bytes(), "p")
    extra = {"hoodie.table.initial.version", "hoodie.compaction.payload.class", "hoodie.table.metadata.partitions"}
    extra |= {"hoodie.table.metadata.partitions.inflight", "hoodie.bootstrap.index.class"}
    assert {key: value for key, value in after.items() if key not in extra} == {
        key: value for key, value in before.items() if key not in extra
    }


def test_indexes_stay_where_the_version_knows_them(tmp_path: Path) -> None:
    """Between 8 and 9 the metadata table stays, but for its newer indexes; at 6 it is made anew; it is always right."""
    configs = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
    table = Written(tmp_path / "t", "MERGE_ON_READ", 9, configs={**PLAIN, **configs})
    table.write("upsert", rows(range(6)))
    actions = TableActions(table.writer())
    actions.create_index(IndexRequest("by_ts", "secondary_index", ("ts",)))
    before, storage = table.found(), LocalStorage(table.path)
    for to, kept in ((8, {"files", "record_index"}), (9, {"files", "record_index"}), (6, set()), (8, set())):
        change(table, to)
        assert kept <= _indexes(storage)
        assert actions.validate_metadata() == ()
        table.write("upsert", rows([1], ts=9))
        assert "record_index" in _indexes(storage)
        assert actions.validate_metadata() == ()
        assert [key for key, _ in table.found()] == [key for key, _ in before]


def test_an_index_made_anew_is_whole_when_its_making_is_archived(tmp_path: Path) -> None:
    """What older deltacommits name of its name went with the index that was dropped; the reference finds that, too."""
    configs = {
        "hoodie.metadata.enable": "true",
        "hoodie.metadata.record.index.enable": "true",
        "hoodie.metadata.index.secondary.column": "price",
        "hoodie.keep.min.commits": "3",
        "hoodie.keep.max.commits": "4",
    }
    table = Written(tmp_path / "t", "MERGE_ON_READ", 9, configs={**PLAIN, **configs})
    table.write("upsert", rows(range(6), price=3.0))
    table.write("upsert", rows([0, 1], ts=5, price=7.0))
    change(table, 8)
    table.write("upsert", rows([2], ts=6, price=9.0))
    assert list((table.path / ".hoodie/metadata/.hoodie/timeline/history").glob("*.parquet"))
    assert not check_table(table.path, deep=True)
    assert not violations(load_for_check(LocalStorage(table.path), deep=True))
    assert TableActions(table.writer()).validate_metadata() == ()


def _indexes(storage: LocalStorage) -> set[str]:
    """Those in use by the table's properties."""
    return set(load_table(storage)[0].properties.get("hoodie.table.metadata.partitions", "").split(","))


def test_a_write_and_the_clean_of_its_instant_complete_at_different_times(tmp_path: Path) -> None:
    """Before 0.9 a clean took the instant of the write before it; each has a completion time of its own."""
    table = unpack(folder_of("v6/cow_clean_of_a_write"), tmp_path / "table")
    before = read_arrow(table).sort_by("id")
    services_arrow(table).upgrade(to=9)
    assert not [one for one in check_table(table) if one.severity == "error"]
    assert not violations(load_for_check(LocalStorage(table)))
    assert read_arrow(table).sort_by("id").equals(before)
