"""Columns that files leave out: what a partition's path says of them."""

import datetime as dt

import pytest
from hudi_model.configuration import configure
from hudi_model.files import Damaged, Field, Schema, Value
from hudi_model.origins import path_values, refuse_dropped_columns, with_columns_of_paths
from hudi_model.rejection import Reason, Unsupported
from model_states import properties, table

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
            [dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)],
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
        refuse_dropped_columns(table([], settings={**properties(), **_DROPPED}))
