"""Columns: all logical types, columns that came later, tables without meta columns."""

import datetime as dt
from decimal import Decimal
from typing import Any

from hudi_model.files import Field, Schema, Value

from hudi_conformance.corpus.golden import block_types, corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import CITIES, RIDES, fleet, ride, rides, second
from hudi_conformance.corpus.golden.writer import data_path

ALL_TYPES = Schema(
    (
        Field("id", "string"),
        Field("city", "string"),
        Field("ts", "int64"),
        Field("flag", "boolean"),
        Field("small", "int32"),
        Field("single", "float32"),
        Field("double", "float64"),
        Field("amount", "decimal(20,4)"),
        Field("bytes", "binary"),
        Field("day", "date"),
        Field("noon", "time-micros"),
        Field("seen", "timestamp-micros"),
        Field("seen_ms", "timestamp-millis"),
        Field("local", "local-timestamp-micros"),
        Field("tags", "list<string>"),
        Field("counts", "map<string,int64>"),
        Field("place", "struct<name:string,height:int32>"),
    )
)
_LATER = Schema((*RIDES.fields, Field("tip", "decimal(8,2)"), Field("note", "string")))
_SHORTER = Schema(tuple(Field(one.name, "int32") if one.name == "ts" else one for one in RIDES.fields))
_MOMENT = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.timezone.utc)


def row_of_all_types(key: str, city: str, ts: int, number: int) -> dict[str, Value]:
    """A row by its number, which decides what of it is null, unusual or at the end of a range."""
    odd = number % 2 == 1
    moment = _MOMENT + dt.timedelta(days=number * 400, microseconds=number)
    return {
        "id": key,
        "city": city,
        "ts": ts,
        "flag": None if number % 3 == 0 else odd,
        "small": None if number == 4 else (-(2**31), 2**31 - 1, number)[number % 3],
        "single": (float("nan"), -0.0, 0.0, float("inf"), 1.5)[number % 5],
        "double": (-0.0, float("nan"), float("-inf"), 1e-300, None)[number % 5],
        "amount": None if number % 4 == 3 else Decimal("-1234567890123456.7890") * (1 if odd else -1),
        "bytes": None if number % 4 == 2 else bytes([0, number, 255]),
        "day": dt.date(1582, 10, 15) if odd else dt.date(9999, 12, 31),
        "noon": None if number % 5 == 4 else dt.time(23, 59, 59, 999_999 - number),
        "seen": moment,
        "seen_ms": moment.replace(microsecond=number * 1000),
        "local": moment.replace(tzinfo=None),
        "tags": None if number % 4 == 1 else list[Value](["a", None, "é🚲"])[:number],
        "counts": None if number % 4 == 0 else {"ä": number, "z": None, "": 0},
        "place": None if number % 6 == 5 else {"name": f"p{number}", "height": None if odd else number},
    }


_ALL = "Eight rows with nulls, NaN, minus zero, the ends of ranges, nested values and dates before 1600."


@golden("v9/mor_all_types", "Every logical type, in base files and in log blocks", merge_on_read(9, schema=ALL_TYPES))
@golden("v6/cow_all_types", "Every logical type in base files", copy_on_write(6, schema=ALL_TYPES), given={6: _ALL})
def all_types(table: GoldenTable) -> None:
    """Eight rows with nulls, NaN, minus zero, the ends of ranges, nested values and dates before 1600.

    The schema of one of the logs, as another engine's, gives other names to the records and to those in them.
    """
    keys = [(f"t{number}", ("oslo", "lima")[number % 2]) for number in range(8)]
    table.insert(second(1), [row_of_all_types(key, city, 10, number) for number, (key, city) in enumerate(keys)])
    written = table.upsert(
        second(2),
        [
            row_of_all_types(key, city, 20 - 15 * (number % 2), number + 3)
            for number, (key, city) in enumerate(keys[:5])
        ],
    )
    then = "values come back in their logical types"
    table.snapshot(
        "finer-moment",
        "a moment finer than the column's unit is after the one that the column holds",
        "RD-012 DM-004",
        "filter-ignored",
        filter=["and", ["seen_ms", "<", "1973-04-15T00:00:00.003001Z"], ["double", "!=", 1]],
    )
    if table.layout.merge_on_read:
        table.damage(
            block_types.under_another_name(data_path(written.log_files[0]), "v9_mor_all_types", "written_by_flink")
        )
        table.snapshot("snapshot", then, "BF-001 LF-007 LF-022", "event-time-ignores-ordering")
        table.snapshot(
            "columns",
            "a projection of nested and plain columns",
            "RD-012",
            "event-time-ignores-ordering projection-ignored",
            columns=["counts", "id", "double"],
        )
        table.info("table-info", "the schema names every type", "DM-003", "mode-always-commit-time")
    else:
        table.snapshot("snapshot", then, "BF-001", "oldest-base-file")
        null = ["flag", "is_null"]
        table.snapshot("filter-null", "a filter for null finds nulls only", "RD-012", "filter-ignored", filter=null)


_ADDED = "Two columns came with the second write"


@golden(
    "v9/mor_added_columns",
    _ADDED,
    merge_on_read(9),
    also=(6,),
    given={
        9: "Base files lack two columns that log blocks have; a write without them was requested before the one that "
        "brings them, and completed after it."
    },
)
@golden(
    "v8/cow_added_columns", _ADDED, copy_on_write(8), given={8: "Some base files lack two columns that others have."}
)
def added_columns(table: GoldenTable) -> None:
    """Base files lack two columns that log blocks have."""
    table.insert(second(1), fleet(10))
    overlaps = table.version > 8
    if overlaps:
        table.upsert(second(1.8), rides(15, ("r02",)), done=second(3))
    table.schema = _LATER
    table.upsert(second(2), rides(20, ("r01", "r12", "駅-06"), tip=Decimal("1.50"), note="später"))
    table.snapshot(
        "snapshot",
        "rows of older files have nulls in the new columns",
        "DM-003 DM-004",
        "schema-of-oldest-commit missing-column-refused",
    )
    table.as_of(second(1.7), "as-of-before", "the columns of then", "DM-003 RD-010", "as-of-reads-everything")
    if overlaps:
        # Where no other write is under way, the later versions have a reading in which this one has not completed then.
        then = (
            "the columns are there from the instant of the write that brings them; by the text from its completion on"
        )
        table.as_of(second(2), "as-of-exactly", then, "DM-003 RD-010", "as-of-exclusive")
    table.snapshot(
        "filter-new-column",
        "a filter on the new column finds rows of new files only",
        "DM-004 RD-012",
        "filter-ignored",
        filter=["tip", "is_not_null"],
        columns=["id", "tip", "note"],
    )
    table.snapshot(
        "new-column-alone",
        "rows are as many where no column is read that their file has",
        "DM-004 RD-012",
        "missing-column-refused",
        columns=["tip"],
    )
    table.info(
        "table-info",
        "the schema is that of the commit requested last" if overlaps else "the schema is that of the newest commit",
        "DM-003",
        "schema-of-oldest-commit" + (" columns-of-last-completed" if overlaps else ""),
    )
    first = "earliest", second(1) if table.version < 8 else second(1.5)
    table.incremental(
        *first, "range-before", "the range has the new columns too, as nulls", "IN-009", "range-has-columns-of-its-end"
    )
    table.incremental(
        *first,
        "range-before-in-its-columns",
        "the range has the columns as of its end, as requested",
        "IN-009",
        "range-has-the-newest-columns",
        configs={"hoodie.datasource.read.schema.use.end.instanttime": "true"},
    )


@golden("v8/mor_older_log_schema", "A log block of before two columns came", merge_on_read(8), also=(6,))
def older_log_schema(table: GoldenTable) -> None:
    """A log block lacks two columns that a later one has, and like base files it has shorter ordering values.

    Of the rides that the later one brings two are late.
    """
    table.schema = _SHORTER
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.schema = _LATER
    late = [*rides(15, ("r01",), rider="late"), *rides(5, ("r03",), rider="late")]
    table.upsert(second(3), [*rides(30, ("r02", "r12", "r11"), tip=Decimal("1.50"), note="später"), *late])
    table.snapshot(
        "snapshot",
        "each block is read by its own schema, new columns of the older one are null, ordering values are compared",
        "LF-022 DM-004 MG-003",
        "columns-in-order-of-names missing-column-refused event-time-ignores-ordering",
    )


@golden(
    "v9/mor_virtual_keys",
    "Meta columns without values: keys come from the key field",
    merge_on_read(9, properties={"hoodie.populate.meta.fields": "false"}),
    also=(6, 8),
)
def virtual_keys(table: GoldenTable) -> None:
    """All five meta columns hold the empty text, in base files and in log blocks; late data and a delete."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "fähre-05", "r11")))
    table.upsert(second(3), [*rides(15, ("r01", "r12"), rider="late"), *rides(5, ("r04",), rider="beaten")])
    table.delete(second(4), "oslo", "r02")
    table.without_meta_values()
    table.snapshot("snapshot", "keys are taken from the key field", "BF-003 DM-002", "event-time-ignores-ordering")
    table.optimized("read-optimized", "base files alone", "BF-003 RD-009", "optimized-reads-logs")
    if table.version > 8:
        table.snapshot(
            "beaten",
            "a row that does not match beats one that does, whatever is filtered where",
            "RD-012 MG-003 DM-002",
            "event-time-ignores-ordering",
            filter=["rider", "in", ["beaten", "late"]],
        )
        table.optimized(
            "optimized-keys",
            "keys are sought in files without bloom filters, too",
            "BF-003 RD-012",
            "filter-ignored",
            filter=["id", "in", ["r01", "r03", "fähre-05"]],
        )


@golden(
    "v9/mor_virtual_composite_keys",
    "Meta columns without values: keys come from two fields, one of them null or empty",
    merge_on_read(9, record_key=("id", "rider"), properties={"hoodie.populate.meta.fields": "false"}),
    also=(6, 8),
)
def virtual_composite_keys(table: GoldenTable) -> None:
    """One ride with a rider, without, and with one of no name: updates of each, and tombstones of two of them."""
    riders = ("ann", None, "")
    table.insert(second(1), [ride("r01", 10, rider=rider) for rider in riders])
    table.upsert(second(2), [ride("r01", 20, rider=rider) for rider in riders])
    table.delete(second(3), "oslo", "id:r01,rider:__null__", "id:r01,rider:__empty__")
    table.without_meta_values()
    stated = "a null and an empty text have words of their own in a key"
    table.snapshot("snapshot", stated, "DM-002 BF-003", "nulls-in-keys-unnamed empty-texts-in-keys-unnamed")


@golden("v9/mor_same_key_twice", "A key lives once in each partition", merge_on_read(9))
def same_key_twice(table: GoldenTable) -> None:
    """Both cities have rides with the same keys; one city's is updated, the other's deleted."""
    both = [row for city in CITIES for row in rides(10, ("s1", "s2", "s3", "schlüssel"), city=city)]
    table.insert(second(1), both)
    table.upsert(second(2), rides(20, ("s1", "schlüssel"), city="lima"))
    table.delete(second(3), "oslo", "s1", "s3")
    table.upsert(second(4), rides(5, ("s2",), city="oslo", rider="late"))
    table.snapshot(
        "snapshot", "what happens to a key in one partition leaves the other alone", "DM-001", "deletes-ignored"
    )
    table.snapshot("keys", "seven of eight keys have a row", "DM-001", "deletes-ignored", columns=["id", "city"])


_ELSEWHERE = {
    "hoodie.timeline.path": "moments",
    "hoodie.timeline.history.path": "moments_of_old",
    "hoodie.archivelog.folder": "moments_of_6",
}


@golden(
    "v8/cow_named_timeline",
    "A timeline folder of another name, and a table whose name is not ASCII",
    copy_on_write(8, properties=_ELSEWHERE, name="fahrten_für_alle: 100 %"),
    also=(6, 9),
    titles={
        6: "A table whose name is not ASCII, and the name of a timeline folder that version 6 has none of",
    },
    given={6: "Properties need escapes, the checksum is over UTF-8 bytes, the timeline lies in .hoodie all the same."},
)
def named_timeline(table: GoldenTable) -> None:
    """Properties need escapes, the checksum is over UTF-8 bytes, the timeline lies where the properties say."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r12")))
    table.upsert(second(3), rides(30, ("r01", "r13")))
    table.archive(2)
    table.snapshot("snapshot", "the table is read", "PR-007 PR-001", "oldest-base-file")
    table.info("table-info", "the name comes back unescaped", "PR-001 PR-003 PR-020", "lowest-state-rules")
    folder, layout = ("folder .hoodie", "TL-007") if table.version == 6 else ("named folder", "TL-008")
    table.instants("timeline", f"the instants of the {folder}", f"PR-007 {layout}", "lowest-state-rules")
    then = "what was archived lies where the properties say"
    table.full_timeline("whole-timeline", then, "PR-007 HS-008", "history-not-listed")


@golden("v9/mor_change_feed", "Logs of the change feed lie beside data", merge_on_read(9))
def change_feed(table: GoldenTable) -> None:
    """Beside a log file lies one of the same name that ends in .cdc, as a table with a change feed has them."""
    table.insert(second(1), fleet(10))
    written = table.upsert(second(2), rides(20, ("r01", "r11"), rider="before the late one"))
    table.upsert(second(3), rides(15, ("r01", "r02"), rider="late"))
    for log in written.log_files:
        table.damage(corruption.copy(data_path(log), f"{log.name.replace(second(2), second(3))}.cdc"))
    table.snapshot("snapshot", "change feed logs are in no slice", "LF-018", "event-time-ignores-ordering")
    table.slices("slices", "change feed logs are not listed", "LF-018 SL-005", "change-feed-logs-read")


_DELTAS = {"ts": "DELTA_BINARY_PACKED", "rider": "DELTA_BYTE_ARRAY"}


@golden("v9/mor_parquet_forms", "Parquet files and blocks in forms that other writers give them", merge_on_read(9))
def parquet_forms(table: GoldenTable) -> None:
    """Base files and a log block packed by four codecs, with moments of 96 bits, decimals as integers, groups of one or
    two rows, pages of the second version and encodings by difference; moments of the years 2300 and 9000, late data.
    """
    far = {
        "r01": dt.datetime(2300, 2, 28, tzinfo=dt.timezone.utc),
        "r11": dt.datetime(9000, 1, 1, 0, 0, 0, 1, tzinfo=dt.timezone.utc),
    }
    table.insert(second(1), [{**row, "seen": far.get(str(row["id"]), row["seen"])} for row in fleet(10)])
    late = [*rides(5, ("r03", "r13"), rider="late"), *rides(20, ("r02", "año-15"), seen=far["r01"])]
    written = table.upsert(second(2), late)
    forms: tuple[dict[str, Any], ...] = (
        {"compression": "ZSTD", "row_group_size": 2, "data_page_version": "2.0", "use_dictionary": False}
        | {"column_encoding": _DELTAS},
        {"compression": "SNAPPY", "use_deprecated_int96_timestamps": True, "store_decimal_as_integer": True},
        {"compression": "LZ4", "use_deprecated_int96_timestamps": True, "row_group_size": 1},
        {"compression": "GZIP", "store_decimal_as_integer": True, "row_group_size": 2},
    )
    for file, form in zip(sorted(table.base_files, key=data_path), forms, strict=True):
        table.damage(block_types.in_another_form(data_path(file), **form))
    table.damage(block_types.as_parquet_blocks(data_path(written.log_files[0]), **forms[3]))
    table.snapshot(
        "snapshot",
        "values are those that were written, whatever their form",
        "BF-001 LF-027 MG-003",
        "event-time-ignores-ordering first-row-group-only far-moments-wrap",
    )
    table.optimized("read-optimized", "base files alone", "BF-001 RD-009", "optimized-reads-logs first-row-group-only")
    table.snapshot(
        "filter-moment",
        "moments of 96 bits are compared as moments",
        "BF-001 RD-012",
        "filter-ignored",
        filter=["seen", ">", "2299-01-01T00:00:00.000000Z"],
        columns=["id", "seen"],
    )
    table.snapshot(
        "filter-decimal",
        "decimals that are integers in a file are compared as decimals",
        "BF-001 RD-012",
        "filter-ignored",
        filter=["fare", ">=", "50"],
        columns=["id", "fare"],
    )
