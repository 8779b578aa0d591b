"""The metadata table's own services: whatever they do and wherever they die, it says what it said before."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.log.deletes import DeleteRecord
from hudi_spark import HudiError
from hudi_spark.testing import Effect, Effects, TableServices, TableWriter, Timeline, load_table
from index_histories import FEW, GLOBAL, History
from metadata_writes import StopAt, Stopped

VERSIONS = (6, 8, 9)
# Each version has others of the effects, which are much the same; the soak has a history that dies at all of them.
STRIDE = int(os.environ.get("METADATA_SERVICES_STRIDE", "15"))
COLUMNS = {"hoodie__metadata__index__column__stats__enable": "true"}
NEVER = {"hoodie__metadata__compact__max__delta__commits": "1000", "hoodie__keep__max__commits": "2000"}
OFTEN = {
    "hoodie__metadata__compact__max__delta__commits": "4",
    "hoodie__clean__policy": "KEEP_LATEST_FILE_VERSIONS",
    "hoodie__clean__fileversions__retained": "1",
    "hoodie__keep__max__commits": "5",
    "hoodie__keep__min__commits": "2",
    "hoodie__timeline__compaction__batch__size": "2",
}
LOGS = {
    "hoodie__metadata__log__compaction__enable": "true",
    "hoodie__metadata__log__compaction__blocks__threshold": "2",
    "hoodie__metadata__compact__max__delta__commits": "6",
}


def history(base: Path, version: int, *options: Mapping[str, str]) -> History:
    merged = {**GLOBAL, **FEW, **COLUMNS, **{key: value for one in options for key, value in one.items()}}
    return History(base, version, merged)


def step(one: History, number: int, **more: Any) -> None:
    """Every third action writes a base file, the others a log; keys come, change and go."""
    one.begin()
    group = f"f{number % 2}"
    if number % 3 == 0 or ("north", group) not in one.bases:
        rows = [row(f"k{key}", number) for key in range(number % 4, 8, 2)]
        one.commit(one.base_file(rows, group), **more)
    else:
        rows, gone = [row(f"k{number % 8}", number)], [DeleteRecord(f"k{(number + 2) % 8}", "north", number)]
        one.commit(one.log_file(rows, gone, group), **more)


def archived(one: History, kept: int) -> None:
    """The data table's timeline keeps some actions, since the metadata table's never keeps fewer."""
    writer = TableWriter(one.writer.storage, one.writer.executor, one.writer.options)
    limits = {
        "hoodie.keep.min.commits": str(kept),
        "hoodie.keep.max.commits": str(kept + 1),
        "hoodie.clean.policy": "KEEP_LATEST_COMMITS",
        "hoodie.clean.commits.retained": str(kept - 1),
        "hoodie.compact.inline.max.delta.commits": "1",
    }
    TableServices(writer).archive(limits)


def metadata_of(one: History) -> dict[str, Any]:
    """What every index holds, but for the times that a record was put."""
    found = one.writer.opened()
    assert found is not None
    return {
        f"{name} {key}": getattr(record.content, "file_id", record.content)
        for name, index in found.indexes.items()
        for group in index.groups
        for key, record in group.records().items()
    }


def own_timeline(one: History) -> Timeline:
    storage = one.writer.storage
    return load_table(Effects(storage).inside(".hoodie/metadata").storage)[1]


@pytest.mark.parametrize(("version", "options"), [(6, OFTEN), (6, LOGS), (8, LOGS), (9, OFTEN)])
def test_a_serviced_metadata_table_says_what_one_without_services_says(
    tmp_path: Path, version: int, options: Mapping[str, str]
) -> None:
    """Compaction, log compaction, cleaning and archival change no answer, and each of them happens."""
    plain, serviced = history(tmp_path / "plain", version, NEVER), history(tmp_path / "serviced", version, options)
    seen: set[str] = set()
    for number in range(13):
        for one in (plain, serviced):
            step(one, number)
        seen |= {one.action for one in own_timeline(serviced).instants}
        if options is OFTEN:
            archived(serviced, 2)
    assert metadata_of(serviced) == metadata_of(plain)
    assert serviced.writer.findings() == plain.writer.findings() == ()
    assert seen >= ({"commit", "clean"} if options is OFTEN else {"commit"})
    assert any("logcompaction" in path.name for path in serviced.base.rglob("*")) == (options is LOGS)
    if options is OFTEN:
        assert len(own_timeline(serviced).completed_data()) < 10


class Seeing:
    """Counts effects inside the metadata table."""

    def __init__(self) -> None:
        self.seen: list[Effect] = []

    def before(self, effect: Effect) -> None:
        self.seen.append(effect)

    def after(self, effect: Effect) -> None:
        """Nothing."""


@pytest.mark.parametrize(("version", "options"), [(6, OFTEN), (6, LOGS), (8, LOGS), (9, OFTEN)])
def test_a_writer_may_crash_before_any_effect_of_a_service(
    tmp_path: Path, version: int, options: Mapping[str, str]
) -> None:
    """The next action finds failed services, and afterwards nothing is said that is not so, and nothing is pending."""
    due, counted = history(tmp_path / "due", version, options), Seeing()
    for number in range(9):
        step(due, number)
    archived(due, 2)
    plain = _copy(due, tmp_path / "plain")
    step(plain, 9, hook=counted)
    numbers = [number for number, one in enumerate(counted.seen) if one.folder and "deltacommit" not in str(one)]
    for number in numbers[VERSIONS.index(version) :: STRIDE]:
        copy = _copy(due, tmp_path / str(number))
        with pytest.raises(Stopped):
            step(copy, 9, hook=StopAt(number))
        copy.n -= 1000
        step(copy, 9)
        assert copy.writer.findings() == (), counted.seen[number]
        assert metadata_of(copy).keys() == metadata_of(plain).keys(), counted.seen[number]
        assert not [one for one in own_timeline(copy).instants if not one.is_completed], counted.seen[number]


def _copy(one: History, base: Path) -> History:
    copied = History(base, one.version, one.options, one.n, dict(one.bases), one.logs)
    shutil.copytree(one.base, base, dirs_exist_ok=True)
    return copied


@pytest.mark.parametrize("version", VERSIONS)
def test_what_never_completed_becomes_no_part_of_a_base_file(tmp_path: Path, version: int) -> None:
    """An action that reached the metadata table and died there is undone, though others were compacted meanwhile."""
    one = history(tmp_path, version, OFTEN)
    for number in range(2):
        step(one, number)
    before = metadata_of(one)
    one.begin()
    stat = one.base_file([row("k77", 1)], "dead")
    with mock.patch.object(TableBuilder, "commit", side_effect=Stopped), pytest.raises(Stopped):
        one.commit(stat)
    for number in range(2, 8):
        step(one, number)
    assert "files north" in metadata_of(one)
    assert not [key for key in metadata_of(one) if "k77" in key]
    assert before


def test_before_version_8_a_pending_action_holds_up_compaction_only_for_so_long(tmp_path: Path) -> None:
    """Beyond the limit the error names the action that holds it up."""
    one = history(tmp_path, 6, OFTEN, {"hoodie__metadata__max__deltacommits__when_pending": "5"})
    step(one, 0)
    one.begin()
    one.writer.table.pending(one.n)
    failed = tick(one.n)
    for number in range(1, 7):
        step(one, number)
    with pytest.raises(HudiError, match=failed) as caught:
        step(one, 7)
    assert caught.value.reason == "LIMIT_EXCEEDED"


def test_an_index_that_begins_after_archival_hides_nothing(tmp_path: Path) -> None:
    """Its beginning has another instant than the archived ones, and is not taken for the timeline's oldest write."""
    one = history(tmp_path, 9, OFTEN)
    for number in range(11):
        step(one, number)
        archived(one, 2)
    archived_ones = {"00000000000000000", "00000000000000001"}
    assert not archived_ones & {each.requested for each in own_timeline(one).instants}
    before = metadata_of(one)
    one.writer.options["hoodie.metadata.index.bloom.filter.enable"] = "true"
    one.begin()
    one.commit()
    assert own_timeline(one).instants[0].requested not in archived_ones
    assert {key: value for key, value in metadata_of(one).items() if not key.startswith("bloom_filters")} == before
    assert one.writer.findings() == ()
