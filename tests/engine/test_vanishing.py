"""Readers take no lock: what they listed may be archived before they read it, and they answer all the same."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cleaned_tables import timeline_of, upserted, work_on
from hudi_format.storage import LocalStorage
from hudi_spark.arrow_reading import read_query
from hudi_spark.changes.incremental import IncrementalQuery
from hudi_spark.execution.planning import Query
from hudi_spark.services.archiving.running import archive
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
