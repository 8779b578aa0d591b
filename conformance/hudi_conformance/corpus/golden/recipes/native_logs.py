"""The draft of version 10: logs that are Parquet files of their own."""

from collections.abc import Mapping

import pyarrow as pa
from hudi_format.log.native import RECORD_KEY
from hudi_model.actions import State
from hudi_model.files import Ordering

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import Layout, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, ride, rides, second
from hudi_conformance.corpus.golden.usual import check
from hudi_conformance.corpus.golden.writer import data_path

_UPGRADED = {"hoodie.table.initial.version": "9"}


def _logged(table: GoldenTable) -> None:
    """An insert; rows and deletes of one write, some of the same rides; and late rows."""
    table.insert(second(1), fleet(10))
    deletes = {("oslo", "r01"): 0, ("oslo", "r02"): 30, ("lima", "r12"): 5, ("lima", "r13"): 0}
    table.upsert(second(2), rides(20, ("r01", "r02", "r03", "r11", "r12", "🚲-16")), deletes=deletes)
    table.upsert(second(3), [*rides(15, ("r03", "r11"), rider="late"), *rides(30, ("r04", "r14"), rider="last")])


@golden("v10/mor_native_logs", "Rows and deletes of a write are two native logs", merge_on_read(10))
def native_logs(table: GoldenTable) -> None:
    """One write logs rows and deletes of the same rides, with and without ordering values; late rows follow."""
    _logged(table)
    table.snapshot(
        "snapshot",
        "deletes count after the rows of their write: those without ordering value always, others by it",
        "NL-001 NL-002 NL-004 NL-005 NL-006",
        "native-logs-are-foreign native-logs-change-nothing native-deletes-without-ordering native-deletes-before-rows",
    )
    table.slices(
        "slices", "the log of deletes comes after that of rows", "NL-001 NL-006 NL-009", "native-deletes-before-rows"
    )
    table.as_of(second(2.7), "as-of", "the last write is not there yet", "NL-002 RD-010", "as-of-reads-everything")
    table.optimized("read-optimized", "base files alone", "RD-009", "optimized-reads-logs")
    table.incremental(
        second(2.5),
        None,
        "range",
        "what the last write brought and did not lose",
        "NL-002 IN-001",
        "range-begin-ignored",
    )
    table.snapshot(
        "filter",
        "a filter is asked of merged rows",
        "NL-002 RD-012",
        "filter-before-merge",
        filter=["rider", "=", "late"],
    )
    check(table, "native logs are no violation", "NL-001 NL-002", "native-logs-are-foreign")


@golden(
    "v10/mor_inline_and_native",
    "A slice with logs of blocks from version 9 and native logs after them",
    merge_on_read(10, properties=_UPGRADED),
)
def inline_and_native(table: GoldenTable) -> None:
    """A table of version 9 with an update and deletes in blocks became one of version 10, which logs natively."""
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    blocks = (
        table.data_block(group, second(2), rides(20, ("r01", "r03"), rider="in a block")),
        table.delete_block(group, second(2), {"fähre-05": 30}),
    )
    table.finish(second(2), table.inline_log(group, second(2), *blocks), "UPSERT")
    table.upsert(second(3), [ride("r01", 30, rider="in a file"), ride("r03", 15, rider="late"), ride("r11", 20)])
    table.snapshot(
        "snapshot",
        "the blocks are merged, and the native logs upon them",
        "NL-006 LF-001",
        "inline-logs-left-behind native-logs-change-nothing",
    )
    table.slices("slices", "the slice has both", "NL-006 RD-005", "inline-logs-left-behind native-logs-are-foreign")
    table.as_of(second(2.7), "as-of", "blocks alone", "NL-006", "inline-logs-left-behind")


def _last_log(table: GoldenTable, kind: str = "log") -> str:
    return data_path([one for one in table.log_files if one.native == kind][-1])


@golden("v10/bad_native_log_torn", "A native log of a committed write is torn", merge_on_read(10))
def torn(table: GoldenTable) -> None:
    """The last bytes of a native log are lost, as a file system leaves it that does not put files whole."""
    _logged(table)
    table.damage(corruption.tear(_last_log(table), 23))
    table.snapshot("snapshot", "the slice is refused", "NL-007", "torn-native-log-skipped")
    table.as_of(
        second(2.7), "as-of-before", "before that write all is whole", "NL-007 RD-010", "as-of-reads-everything"
    )
    table.optimized("read-optimized", "base files alone are whole", "RD-009", "optimized-reads-logs")


@golden("v10/bad_native_log_empty", "A native log without a byte", merge_on_read(10))
def empty(table: GoldenTable) -> None:
    """A native log of deletes is empty: where blocks are logged that is a log without blocks."""
    _logged(table)
    table.damage(corruption.empty(_last_log(table, "deletes")))
    table.snapshot("snapshot", "the slice is refused", "NL-007", "torn-native-log-skipped")


@golden("v10/mor_native_log_torn_and_failed", "A torn native log of a write that failed", merge_on_read(10))
def torn_and_failed(table: GoldenTable) -> None:
    """The native log of a write that never completed is torn."""
    _logged(table)
    table.upsert(second(4), rides(40, ("r03",)), state=State.INFLIGHT)
    table.damage(corruption.tear(_last_log(table), 23))
    table.snapshot("snapshot", "nobody reads it", "NL-007 RD-002", "inflight-counts-as-committed")


@golden("v10/bad_native_log_without_schema", "A footer without the log's schema", merge_on_read(10))
def without_schema(table: GoldenTable) -> None:
    """The entry that holds the schema has another name."""
    _logged(table)
    table.damage(corruption.substitute(_last_log(table), b"hudi.log.format.SCHEMA", b"hudi.log.format.SKHEMA"))
    table.snapshot("snapshot", "the log is refused", "NL-003", "native-log-without-schema-read")


@golden("v10/bad_native_log_later_format", "A later version of the log format", merge_on_read(10))
def later_format(table: GoldenTable) -> None:
    """A footer states version 3 of the format of native logs."""
    _logged(table)
    # In the footer a value stands behind the mark of its field and its length.
    stated, later = (b"hudi.log.format.VERSION\x18\x01" + number for number in (b"2", b"3"))
    table.damage(corruption.substitute(_last_log(table), stated, later))
    table.snapshot("snapshot", "the log is refused", "NL-008", "later-native-format-read")


@golden("v10/mor_native_log_unknown_entry", "An entry in a footer that nobody knows", merge_on_read(10))
def unknown_entry(table: GoldenTable) -> None:
    """A footer has an unknown entry in place of the log's instant."""
    _logged(table)
    entries = (b"hudi.log.format.INSTANT_TIME", b"hudi.log.format.INSTANT_MOOD")
    table.damage(corruption.substitute(_last_log(table), *entries))
    table.snapshot(
        "snapshot", "it says nothing, and the instant is that of the name", "NL-003", "native-instant-required"
    )


@golden("v10/bad_native_deletes_without_column", "A log of deletes that lacks an ordering field", merge_on_read(10))
def deletes_without_column(table: GoldenTable) -> None:
    """The properties name another ordering field than the one that deletes were logged with."""
    _logged(table)
    fields = b"hoodie.table.ordering.fields="
    table.damage(corruption.substitute(".hoodie/hoodie.properties", fields + b"ts", fields + b"ratio"))
    table.snapshot("snapshot", "the log is refused", "NL-004", "native-deletes-lack-columns")


def _without_first_key(rows: pa.Table) -> pa.Table:
    keys = rows.column(RECORD_KEY).to_pylist()
    return rows.set_column(rows.column_names.index(RECORD_KEY), RECORD_KEY, pa.array([None, *keys[1:]], pa.string()))


@golden("v10/bad_native_deletes_of_no_key", "A native delete without a key", merge_on_read(10))
def deletes_of_no_key(table: GoldenTable) -> None:
    """The key of the first delete in a log is null."""
    _logged(table)
    table.damage(corruption.change_rows(_last_log(table, "deletes"), _without_first_key))
    table.snapshot("snapshot", "the log is refused", "NL-004", "native-deletes-of-no-key")


@golden(
    "v10/mor_native_two_ordering_fields",
    "Native deletes of two ordering fields",
    merge_on_read(10, ordering=("ts", "ratio")),
)
def two_ordering_fields(table: GoldenTable) -> None:
    """Deletes with two ordering values tie in the first; one has none."""
    table.insert(second(1), [{**row, "ratio": 5.0} for row in fleet(10)])
    deletes: Mapping[tuple[str, str], Ordering] = {
        ("oslo", "r01"): (10, 4.0),
        ("oslo", "r02"): (10, 6.0),
        ("lima", "r11"): (0, 9.0),
        ("lima", "r12"): 0,
    }
    table.upsert(second(2), rides(20, ("r03",)), deletes=deletes)
    table.snapshot(
        "snapshot",
        "the second value decides where the first ones are equal",
        "NL-004 MG-007",
        "native-deletes-without-ordering first-ordering-field-only",
    )


def _without_meta(version: int) -> Layout:
    properties = {"hoodie.meta.fields.mode": "NONE"}
    return merge_on_read(version, properties=properties, ordering=("ts",))


@golden("v10/mor_meta_fields_none", "A mode of meta fields against their switch", _without_meta)
def meta_fields_none(table: GoldenTable) -> None:
    """The mode says that no meta fields are kept, the switch that they are; files have none."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.without_meta_values()
    table.snapshot("snapshot", "keys come of the rows' own columns", "NL-015 MF-014 DM-002", "meta-fields-mode-ignored")


@golden(
    "v10/mor_native_overlapping_writers",
    "Two writers overlap, and a third straddles a compaction",
    merge_on_read(10, merge_mode="COMMIT_TIME_ORDERING", groups_per_partition=1),
)
def overlapping(table: GoldenTable) -> None:
    """Of two overlapping writes the first requested completes last; a third straddles a compaction."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="asked first, done last"), done=second(6))
    table.upsert(
        second(3), rides(30, ("r01",), rider="asked last, done first"), done=second(4), deletes={("lima", "r11"): 0}
    )
    table.compact(second(8), [table.group("oslo", 0)], done=second(8.5))
    table.upsert(second(7), rides(35, ("r02",), rider="straddles the compaction"), done=second(9))
    table.snapshot(
        "snapshot", "a native log belongs to the slice that its commit found", "NL-006 RD-005", "v8-log-by-name"
    )
    table.slices("slices", "the straddling log is in the newest slice", "NL-001 RD-005", "v8-log-by-name")
    table.as_of(
        second(7.5), "as-of", "the order of native logs has two readings", "RD-007 MG-002", "as-of-reads-everything"
    )
