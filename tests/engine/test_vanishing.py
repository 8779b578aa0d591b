"""Readers take no lock: what they listed may be archived before they read it, and they answer all the same."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cleaned_tables import timeline_of, upserted, work_on
from hudi_format.storage import LocalStorage
from hudi_spark.arrow_reading import read_query
from hudi_spark.changes.incremental import IncrementalQuery
from hudi_spark.clock import SystemClock
from hudi_spark.errors import HudiError
from hudi_spark.execution.planning import Query
from hudi_spark.services.archiving.running import archive
from hudi_spark.services.table_services import TableServices
from hudi_spark.writing.requests import WriteRequest
from written_tables import Written, rows

FEW = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}


class Overtaken(LocalStorage):
    """Before the first file of the timeline is read, `happens`."""

    def __init__(self, base: Path, happens: Callable[[], object]) -> None:
        super().__init__(base)
        self._happens = [happens]

    def read(self, path: str) -> bytes:
        if "commit" in path and self._happens:
            self._happens.pop()()
        return super().read(path)


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("of", [Query, IncrementalQuery])
def test_a_reader_that_archival_overtakes_answers_as_before(tmp_path: Path, version: int, of: type[Query]):
    table = upserted(tmp_path / "table", 5, version=version)
    before = read_query(LocalStorage(table.path), of()).rows
    storage = Overtaken(table.path, lambda: archive(work_on(table, FEW)))
    assert read_query(storage, of()).rows.sort_by("id").equals(before.sort_by("id"))
    assert len(completed_files(table)) < 5


class Cleaned(LocalStorage):
    """Before a data file is looked at for the first time, and again as often as `happens` has anything to do."""

    def __init__(self, base: Path, happens: Callable[[], bool]) -> None:
        super().__init__(base)
        self._happens = happens
        self._busy = False

    def resolve(self, path: str) -> str:
        self._look(path)
        return super().resolve(path)

    def _look(self, path: str) -> None:
        if not self._busy and not path.startswith(".hoodie") and path.endswith(".parquet"):
            self._busy = True
            self._busy = not self._happens()


LAST = {
    "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
    "hoodie.clean.fileversions.retained": "1",
    "hoodie.parquet.small.file.limit": "0",
}


def compacted_and_cleaned(table: Written) -> None:
    """A new slice of every file group, and the one before it goes."""
    table.clock = SystemClock()  # type: ignore[assignment]
    table.write("upsert", rows(range(4), ts=20, price=20.0))
    services = TableServices(table.writer())
    if table.table_type == "MERGE_ON_READ":
        services.run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    assert services.clean(LAST) is not None


def once(table: Written) -> Callable[[], bool]:
    """Cleaned before the first look, and left alone after that."""
    times = iter([True])

    def happens() -> bool:
        if next(times, False):
            compacted_and_cleaned(table)
        return False

    return happens


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Written:
    """A table whose slices are all about to go."""
    version = 6 if request.node.name.endswith("6]") else 9
    table = Written(tmp_path / "table", request.param, version, configs=LAST)
    table.write("insert", rows(range(4)))
    table.write("upsert", rows(range(4), ts=2, price=2.0))
    return table


@pytest.mark.parametrize("version", [9, 6])
def test_a_reader_from_whom_a_clean_took_the_slice_plans_again(served: Written, version: int):
    assert served.version == version
    found = read_query(Cleaned(served.path, once(served)), Query(columns=["id", "price"])).rows
    assert sorted(found.to_pylist(), key=str) == [{"id": f"k{n}", "price": 20.0} for n in range(4)]


@pytest.mark.parametrize("version", [9, 6])
def test_a_writer_from_whom_a_clean_took_the_slice_plans_again(served: Written, version: int):
    """What was written meanwhile is merged with, not overwritten; the conflict is with nobody."""
    assert served.version == version
    if (version, served.table_type) == (6, "MERGE_ON_READ"):
        pytest.skip("in version 6 no compaction is planned after a write that is pending")
    writer = served.writer(Cleaned(served.path, once(served)))
    done = writer.write(WriteRequest("upsert", rows([0, 9], ts=5, price=5.0), configs=LAST))
    assert load_timeline_of(served)[-1] == done.requested
    assert served.found() == [*((f"k{n}", 20.0) for n in range(4)), ("k9", 5.0)]
    assert [one for one in served.files() if ".temp/" in one or ".heartbeat/" in one] == []


def test_what_is_cleaned_each_time_is_refused_for_that(served: Written):
    """It ends, and does not say that a file was lost."""
    storage = Cleaned(served.path, lambda: compacted_and_cleaned(served) is None)
    with pytest.raises(HudiError, match="a clean deleted the file") as caught:
        read_query(storage, Query())
    assert caught.value.reason == "RANGE_NOT_RETAINED"
    assert "restore" not in caught.value.hint


def test_a_question_of_the_past_that_a_clean_overtakes_is_refused_for_that(served: Written):
    past = load_timeline_of(served)[0]
    with pytest.raises(HudiError) as caught:
        read_query(Cleaned(served.path, once(served)), Query(as_of=past))
    assert caught.value.reason == "RANGE_NOT_RETAINED"


def test_a_lost_file_is_still_a_lost_file(served: Written):
    """No clean has taken it."""
    found = [one for one in served.path.rglob("*.parquet") if ".hoodie" not in one.parts]
    gone = max(found, key=lambda one: one.name.rpartition("_")[2])
    storage = Cleaned(served.path, lambda: gone.unlink(missing_ok=True) is not None)
    with pytest.raises(HudiError, match="BASE_FILE_MISSING"):
        read_query(storage, Query())


def load_timeline_of(table: Written) -> list[str]:
    """The requested times of the completed writes."""
    return [one.requested for one in timeline_of(table).completed_data()]


@pytest.mark.parametrize("version", [8, 9])
def test_a_write_that_took_long_is_in_the_range_in_which_it_completed(tmp_path: Path, version: int):
    """Archival takes it first, as it was requested first; writes that completed before it stay."""
    table = upserted(tmp_path / "table", 1, version=version)
    request = WriteRequest("upsert", rows([90], ts=90))
    long = table.writer().begin(request)
    short = [table.write("upsert", rows([n], ts=n)) for n in range(11, 21, 2)]
    long.stage(request)
    done = long.commit()
    archive(work_on(table, FEW))
    assert done.requested not in [one.requested for one in timeline_of(table).instants]
    for begin, ids in ((short[-1].completed, ["k90"]), (short[-2].completed, ["k19", "k90"]), (done.completed, [])):
        found = read_query(LocalStorage(table.path), IncrementalQuery(begin=begin)).rows
        assert sorted(found.column("id").to_pylist()) == ids


def completed_files(table: Written) -> list[Path]:
    folder = table.path / ".hoodie" / ("" if table.version == 6 else "timeline")
    return list(folder.glob("*commit"))
