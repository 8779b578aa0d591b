"""Tables whose files leave the partition columns out: their values stand in the paths."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from hudi_model.files import Field, Schema

from hudi_conformance.bridge.schemas import avro_schema
from hudi_conformance.corpus.golden.layout import Layout
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.keys_and_paths import EncodedPaths
from hudi_conformance.corpus.golden.rides import RIDES, Row, fleet, ride, rides, second

_DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}
_ENCODED = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
_NOON, _NONE = "São Paulo 12:00 #1/é", "__HIVE_DEFAULT_PARTITION__"
_NAMED, _ONCE = "hoodie.table.keygenerator.class", "50%2Foff+1"


def _stored(*dropped: str) -> Schema:
    """The columns of base files."""
    return Schema(tuple(field for field in RIDES.fields if field.name not in dropped))


def _logged(*dropped: str) -> Schema:
    """The columns of log blocks: as text, what base files leave out."""
    return Schema((*_stored(*dropped).fields, *(Field(name, "string") for name in dropped)))


@dataclass(frozen=True, slots=True)
class CitiesInPaths(EncodedPaths):
    """An encoded city in hive style; no city is the default partition."""

    def partition_path(self, value: str) -> str:
        """`city=` and the encoded value."""
        return f"city={EncodedPaths.partition_path(self, _NONE if value == 'None' else value)}"


@dataclass(frozen=True, slots=True)
class CitiesAndDays(Layout):
    """Two columns make two bare folders."""

    def partition(self, row: Row) -> str:
        """City and day."""
        return f"{row['city']!s}/{row['day']!s}"


@dataclass(frozen=True, slots=True)
class NamedCitiesAndMoments(Layout):
    """Two columns make folders in hive style."""

    def partition(self, row: Row) -> str:
        """City and moment, each with its name; SQL encodes the colons of moments in every table."""
        return f"city={row['city']!s}/seen={row['seen']!s}".replace(":", "%3A")


@dataclass(frozen=True, slots=True)
class SlashedDays(Layout):
    """A day makes three folders."""

    def partition_path(self, value: str) -> str:
        """Year, month and day."""
        return value if value == _NONE else value.replace("-", "/")


def _slashed(version: int) -> SlashedDays:
    stated = {
        **_DROPPED,
        "hoodie.datasource.write.slash.separated.date.partitioning": "true",
    }
    return SlashedDays(version, merge_on_read=False, partition_by="day", properties=stated)


def _named(version: int) -> NamedCitiesAndMoments:
    stated = {**_typed(version).properties, "hoodie.table.partition.fields": "city,seen"}
    return NamedCitiesAndMoments(version, merge_on_read=False, hive_style=True, properties=stated)


def _encoded(version: int) -> CitiesInPaths:
    return CitiesInPaths(version, True, hive_style=True, properties={**_DROPPED, **_ENCODED})


def _percent(version: int) -> CitiesInPaths:
    return CitiesInPaths(version, False, hive_style=True, properties={**_DROPPED, **_ENCODED})


def _typed(version: int) -> CitiesAndDays:
    stated = {
        **_DROPPED,
        "hoodie.table.partition.fields": "city,day",
        "hoodie.table.create.schema": json.dumps(avro_schema(RIDES, "rides")),
        **(
            {"hoodie.table.keygenerator.type": "COMPLEX"}
            if version > 6
            else {_NAMED: "org.apache.hudi.keygen.ComplexKeyGenerator"}
        ),
    }
    return CitiesAndDays(version, merge_on_read=version != 8, properties=stated)


@golden(
    "v9/mor_dropped_column",
    "Base files leave the partition column out, log blocks hold it",
    _encoded,
    ("drop-partition-columns",),
    also=(6,),
)
def dropped_column(table: GoldenTable) -> None:
    """The city stands in encoded hive-style paths; one ride has none. Two updates, one of them late, and a delete."""
    cities = {"oslo": _NOON, "lima": "lima"}
    table.schema = _stored("city")
    rows = [{**row, "city": cities[str(row["city"])]} for row in fleet(10)]
    table.insert(second(1), [*rows, ride("r99", 10, city=None)])
    table.schema = _logged("city")
    table.upsert(second(2), rides(20, ("r01", "駅-06"), city=_NOON))
    table.upsert(second(3), rides(5, ("r02",), city=_NOON, rider="late"))
    table.delete(second(4), "lima", "r11")
    table.snapshot(
        "snapshot",
        "each row has the city of its path, decoded; the default partition is null",
        "DM-022 DM-032",
        "dropped-columns-are-null dropped-columns-encoded default-partition-is-text",
    )
    table.optimized("read-optimized", "the rows of base files have it too", "DM-022 RD-009", "dropped-columns-are-null")
    table.snapshot(
        "filter",
        "a filter on the column finds what its paths hold",
        "DM-022 RD-012",
        "dropped-columns-are-null dropped-columns-encoded",
        filter=["city", "=", _NOON],
        columns=["id", "city", "ts"],
    )
    table.snapshot(
        "filter-null",
        "a filter for null finds the default partition",
        "DM-022 RD-012",
        "default-partition-is-text",
        filter=["city", "is_null"],
        columns=["id", "city"],
    )
    table.as_of(
        second(1.7),
        "as-of-insert",
        "before a log was written the column follows the others",
        "DM-022 RD-010",
        "as-of-reads-everything dropped-columns-are-null",
    )
    table.incremental(
        second(1.7),
        None,
        "incremental",
        "rows of a range have the city of their path",
        "DM-022 IN-001",
        "dropped-columns-encoded",
    )


@golden(
    "v9/mor_dropped_typed_columns",
    "Base files leave two partition columns out, one of them a date",
    _typed,
    ("drop-partition-columns",),
)
def dropped_typed_columns(table: GoldenTable) -> None:
    """City and day stand in bare paths; the schema given at creation has the day as a date, log blocks have a text."""
    table.schema = _stored("city", "day")
    days = ("2024-02-29", "1999-12-31")
    table.insert(second(1), [{**row, "day": days[number % 2]} for number, row in enumerate(fleet(10))])
    table.schema = _logged("city", "day") if table.layout.merge_on_read else table.schema
    table.upsert(second(2), [ride("r01", 20, day=days[0]), ride("r12", 20, day=days[1]), ride("r03", 5, day=days[0])])
    table.snapshot(
        "snapshot",
        "each folder is the value of a column, in the type of the schema given at creation",
        "DM-022",
        "dropped-columns-are-null dropped-columns-are-text",
    )
    table.snapshot(
        "filter",
        "a filter compares the date, not its text",
        "DM-022 RD-012",
        "dropped-columns-are-null",
        filter=["day", ">", "2000-01-01"],
        columns=["day", "city", "id"],
    )
    table.info("table-info", "the columns have their types", "DM-022 DM-003", "dropped-columns-are-text")


@golden(
    "v8/cow_dropped_named_columns",
    "Files leave two partition columns out, whose values stand in named folders",
    _named,
    ("drop-partition-columns",),
)
def dropped_named_columns(table: GoldenTable) -> None:
    """Cities with slashes make several folders, the first with the name; moments follow; three rides are updated."""
    cities, moments = {"oslo": "oslo/frogner/øst", "lima": "lima"}, ("2024-02-29 10:00:00", "1969-12-31 23:59:59")
    table.schema = _stored("city", "seen")
    rows = [
        {**row, "city": cities[str(row["city"])], "seen": moments[number % 2]} for number, row in enumerate(fleet(10))
    ]
    _written(table, rows)
    table.snapshot(
        "snapshot",
        "folders without a name belong to the value before them; a moment is one, whose colons are encoded",
        "DM-022 DM-031",
        "named-folders-are-one-each dropped-columns-are-text moments-of-paths-encoded",
    )
    table.snapshot(
        "filter",
        "a filter finds the whole value",
        "DM-022 RD-012",
        "named-folders-are-one-each",
        filter=["city", "=", "oslo/frogner/øst"],
        columns=["id", "city", "seen"],
    )


def _written(table: GoldenTable, rows: Sequence[Row]) -> None:
    """Rides, of which three are updated."""
    table.insert(second(1), rows)
    updated = [row for row in rows if row["id"] in {"r01", "r12", "駅-06"}]
    table.upsert(second(2), [{**row, "ts": 20, "rider": "second"} for row in updated])


@golden(
    "v9/cow_dropped_slashed_days",
    "Files leave the partition column out, whose days stand as three folders",
    _slashed,
    ("drop-partition-columns",),
)
def dropped_slashed_days(table: GoldenTable) -> None:
    """Days with dashes are folders of years, months and days; some rides have none; three rides are updated."""
    table.schema = _stored("day")
    days = ("2024-02-29", "1999-12-31", "2024-02-01", _NONE)
    rows = [{**row, "day": days[number % 4]} for number, row in enumerate(fleet(10))]
    _written(table, rows)
    table.snapshot(
        "snapshot",
        "three folders are one day, the folder of nulls is null",
        "DM-022",
        "dropped-columns-are-null slashed-days-are-cut",
    )
    table.snapshot(
        "filter",
        "a filter compares the day",
        "DM-022 RD-012",
        "slashed-days-are-cut",
        filter=["day", ">", "2024-02-01"],
        columns=["day", "city", "id"],
    )


@golden(
    "v9/cow_percent_paths",
    "Files leave the partition column out, whose values hold signs that look encoded",
    _percent,
    ("drop-partition-columns",),
)
def percent_paths(table: GoldenTable) -> None:
    """Of two cities one is what the other's folder looks like; pluses are no blanks; one ride has no city."""
    table.schema = _stored("city")
    cities = {"oslo": _ONCE, "lima": "50/off+1"}
    rows = [{**row, "city": cities[str(row["city"])]} for row in fleet(10)]
    _written(table, [*rows, ride("r99", 10, city=None)])
    table.snapshot(
        "snapshot",
        "what a folder says is decoded once",
        "DM-022 DM-032",
        "dropped-columns-encoded dropped-columns-decoded-twice",
    )
    table.snapshot(
        "column-alone",
        "each row is there also where no column is read that its file holds",
        "DM-022 RD-012",
        "dropped-columns-are-null default-partition-is-text",
        columns=["city"],
    )
    table.snapshot(
        "filter",
        "a filter finds the one city and not the other",
        "DM-022 RD-012",
        "dropped-columns-decoded-twice",
        filter=["city", "=", _ONCE],
        columns=["id", "ts"],
    )


@golden(
    "v9/bad_dropped_column",
    "A path holds no value of the type of a column that files leave out",
    _typed,
    ("drop-partition-columns",),
)
def bad_dropped_column(table: GoldenTable) -> None:
    """The schema given at creation has the day as a date; one partition's folder names no day of any calendar."""
    table.schema = _stored("city", "day")
    table.insert(second(1), [{**row, "day": "2024-02-29"} for row in fleet(10)])
    table.insert(second(2), [ride("r99", 20, city="oslo", day="2024-02-30")])
    table.snapshot("snapshot", "the rows have no value that the column can hold", "DM-022", "dropped-columns-are-text")
