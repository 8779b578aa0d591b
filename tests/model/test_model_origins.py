"""What files leave out: what a partition's path says of columns, and rows that lie in the sources of a bootstrap."""

import datetime as dt
from dataclasses import replace

import pytest
from hudi_model.actions import Action, CommitMetadata, State, TimelineEntry
from hudi_model.configuration import configure
from hudi_model.files import BaseFile, Damaged, Field, Record, Schema, SourceFile, Value
from hudi_model.origins import path_values, refuse_to_write, with_all_columns, with_columns_of_paths
from hudi_model.queries import Selection, read_as_of, read_snapshot
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.tables import Table
from hudi_model.time import BOOTSTRAPS, InstantTime
from model_states import at, properties, stat, table

_TWO = Schema((Field("city", "string"), Field("day", "date")))
_ENCODED = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
_DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}
_SLASHED = {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}


@pytest.mark.parametrize(
    ("path", "columns", "settings", "values"),
    [
        ("oslo/2024-02-29", _TWO, {}, ["oslo", dt.date(2024, 2, 29)]),
        ("city=oslo/day=__HIVE_DEFAULT_PARTITION__", _TWO, {}, ["oslo", None]),
        ("city=a/b=c/d/day=2024-02-29", _TWO, {}, ["a/b=c/d", dt.date(2024, 2, 29)]),
        ("a/b", Schema(_TWO.fields[:1]), {}, ["a/b"]),
        ("a%2Fb", Schema(_TWO.fields[:1]), {}, ["a%2Fb"]),
        ("a%2Fb%C3", Schema(_TWO.fields[:1]), _ENCODED, ["a/b\N{REPLACEMENT CHARACTER}"]),
        (
            "2024-02-29 10%3A00%3A00",
            Schema((Field("seen", "timestamp-micros"),)),
            {},
            [dt.datetime(2024, 2, 29, 10, tzinfo=dt.timezone.utc)],
        ),
        ("2024/02/29", Schema(_TWO.fields[1:]), _SLASHED, [dt.date(2024, 2, 29)]),
    ],
)
def test_each_folder_is_the_value_of_a_column(
    path: str, columns: Schema, settings: dict[str, str], values: list[Value]
) -> None:
    found = path_values(path, columns, configure({**properties(), **settings}))

    assert not isinstance(found, Damaged)
    assert list(found.values()) == values


@pytest.mark.parametrize("path", ["oslo", "oslo/someday", "oslo/2023-02-29", "a/b/2024-02-29", "city=a/b"])
def test_a_path_without_such_values_is_refused_where_its_rows_are_read(path: str) -> None:
    found = path_values(path, _TWO, configure(properties()))

    assert isinstance(found, Damaged)
    assert found.reason is Reason.SCHEMA_INCOMPATIBLE


def test_a_table_that_does_not_open_stays_as_it_is() -> None:
    """A check reports what is wrong with it; the columns of paths are no reason to stop."""
    closed = table([], settings={**properties(), **_DROPPED, "hoodie.table.version": "7"})

    assert with_columns_of_paths(closed) is closed


def test_writers_do_not_leave_columns_out() -> None:
    with pytest.raises(Unsupported, match="drop-partition-columns"):
        refuse_to_write(table([], settings={**properties(), **_DROPPED}))


def test_nothing_is_written_to_a_table_whose_rows_lie_elsewhere() -> None:
    with pytest.raises(Unsupported, match="bootstrap"):
        refuse_to_write(table([], settings={**properties(), **_BOOTSTRAPPED}))


_BOOTSTRAPPED = {"hoodie.bootstrap.base.path": "/elsewhere"}
_FIRST, _SECOND = (InstantTime(one) for one in BOOTSTRAPS)


def bootstrapped(sources: tuple[SourceFile, ...] | Damaged, *metas: str) -> Table:
    """A base file with the meta fields of these keys, and the sources that the index names."""
    rows = tuple(Record({"_hoodie_record_key": key, "_hoodie_commit_time": _FIRST}) for key in metas)
    file = BaseFile("p", "f1", "0-0-0", _FIRST, "parquet", f"f1_0-0-0_{_FIRST}.parquet", rows)
    schema = Schema((Field("id", "string"), Field("day", "date")))
    metadata = CommitMetadata("BOOTSTRAP", write_stats=(stat(file),), schema=schema)
    done = TimelineEntry(_FIRST, Action.COMMIT, State.COMPLETED, at(1), metadata, f"{_FIRST}_{at(1)}.commit")
    return replace(table([(done,)], [file], settings={**properties(), **_BOOTSTRAPPED}), sources=sources)


def source(*keys: str, folder: str = "day=2024-02-29", file_id: str = "f1") -> SourceFile:
    rows = tuple(Record({"id": key}) for key in keys)
    return SourceFile("p", file_id, folder, "/elsewhere/x.parquet", rows, Schema((Field("id", "string"),)))


@pytest.mark.parametrize(
    ("folder", "day"),
    [("day=2024-02-29", dt.date(2024, 2, 29)), ("day=__HIVE_DEFAULT_PARTITION__", None), ("other=1", None), ("", None)],
)
def test_a_bootstrapped_row_has_the_columns_of_its_source_and_of_its_folders(folder: str, day: Value) -> None:
    found = with_all_columns(bootstrapped((source("x", folder=folder),), "x"))

    (row,) = read_snapshot(found, selection=Selection(meta_columns=True)).rows
    assert (row["_hoodie_record_key"], row["id"], row["day"]) == ("x", "x", day)


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        ((), Reason.BASE_FILE_MISSING),
        ((source("x", file_id="f2"),), Reason.BASE_FILE_MISSING),
        ((source("x", "y"),), Reason.BASE_FILE_CORRUPT),
        ((source("x", folder="day=someday"),), Reason.SCHEMA_INCOMPATIBLE),
        (Damaged(Reason.BASE_FILE_CORRUPT, "BF-012", "index", "no index"), Reason.BASE_FILE_CORRUPT),
    ],
)
def test_a_source_that_does_not_fit_is_refused(sources: tuple[SourceFile, ...] | Damaged, reason: Reason) -> None:
    with pytest.raises(Rejection) as refused:
        read_snapshot(with_all_columns(bootstrapped(sources, "x")))

    assert refused.value.reason is reason


def test_the_instants_of_a_bootstrap_are_times_that_a_question_may_name() -> None:
    found = with_all_columns(bootstrapped((source("x"),), "x"))

    assert len(read_as_of(found, _FIRST).rows) == len(read_as_of(found, _SECOND).rows) == 1
