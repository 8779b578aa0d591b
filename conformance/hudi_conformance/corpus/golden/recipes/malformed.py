"""Tables that must be refused, each with one fault, and one that looks broken and is not."""

import struct

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import check
from hudi_conformance.corpus.golden.writer import Written, data_path

_TIMELINE = ".hoodie/timeline"
# Magic, block length and log format version stand before a block's type.
_TYPE_OFFSET = 6 + 8 + 4


def _updates_of(table: GoldenTable) -> tuple[Written, Written]:
    return table.insert(second(1), fleet(10)), table.upsert(second(2), rides(20, ("r01", "r11")))


def _updates(table: GoldenTable) -> Written:
    return _updates_of(table)[1]


def _refused(table: GoldenTable, then: str, clauses: str, kills: str) -> None:
    table.snapshot("snapshot", then, clauses, kills)
    check(table, "the fault is reported", clauses, "violations-never")


def _second_write(table: GoldenTable) -> str:
    """The completed file of the second write."""
    action = "deltacommit" if table.layout.merge_on_read else "commit"
    return f"{table.layout.timeline_folder}/{second(2)}{'' if table.version == 6 else f'_{second(2.5)}'}.{action}"


def _restate_version(table: GoldenTable, version: int) -> None:
    stated, wrong = (f"hoodie.table.version={number}".encode() for number in (table.version, version))
    table.damage(corruption.substitute(".hoodie/hoodie.properties", stated, wrong))


@golden("v9/bad_not_a_table", "Data files without hoodie.properties are no table", merge_on_read(9), also=(6, 8))
def not_a_table(table: GoldenTable) -> None:
    """All files of a table but hoodie.properties."""
    _updates(table)
    table.damage(corruption.remove(".hoodie/hoodie.properties"))
    _refused(table, "it is refused as no table", "SL-001", "properties-never-refused")


@golden(
    "v9/bad_table_version",
    "A table version that no text knows",
    merge_on_read(9),
    also=(6, 8),
)
def table_version(table: GoldenTable) -> None:
    """A table whose properties say version 77."""
    _updates(table)
    _restate_version(table, 77)
    _refused(table, "the version is refused", "VR-002 VR-001", "unknown-version-accepted")


@golden("v8/bad_table_version_seven", "The version between 6 and 8", merge_on_read(8), also=(6, 9))
def version_seven(table: GoldenTable) -> None:
    """A table whose properties say version 7, which no release leaves behind."""
    _updates(table)
    _restate_version(table, 7)
    _refused(table, "the version is refused", "VR-021 VR-002", "unknown-version-accepted")


@golden("v8/bad_properties", "Properties that lack the table's type", copy_on_write(8), also=(6, 9))
def broken_properties(table: GoldenTable) -> None:
    """hoodie.properties was cut off in the middle."""
    table.insert(second(1), fleet(10))
    table.damage(corruption.substitute(".hoodie/hoodie.properties", b"hoodie.table.type=", b"hoodie.table.tipo="))
    _refused(table, "the properties are refused", "PR-002", "properties-never-refused")


@golden("v9/bad_checksum", "The checksum is that of another table", merge_on_read(9))
def checksum(table: GoldenTable) -> None:
    """The table's name was changed by hand, its checksum was not."""
    _updates(table)
    table.damage(
        corruption.substitute(".hoodie/hoodie.properties", b"hoodie.table.name=v9_", b"hoodie.table.name=renamed_")
    )
    _refused(table, "the checksum is refused", "PR-003", "checksum-not-verified")


@golden(
    "v6/bad_empty_commit",
    "A completed commit without content",
    copy_on_write(6),
    given={6: "The second commit's completed file has no byte: a crash of the file system, not a commit."},
)
@golden("v9/bad_empty_commit", "A completed deltacommit without content", merge_on_read(9), also=(8,))
def empty_commit(table: GoldenTable) -> None:
    """The second deltacommit's completed file has no byte."""
    _updates(table)
    table.damage(corruption.empty(_second_write(table)))
    then = "the empty deltacommit is refused"
    if table.version == 6:
        then = "the empty commit is refused, not taken for one that wrote nothing"
    _refused(table, then, "TL-015 TL-014", "empty-commit-accepted")


@golden(
    "v6/bad_commit_json",
    "A completed commit whose JSON breaks off",
    merge_on_read(6),
    given={6: "The second deltacommit's JSON lost its last hundred bytes."},
)
@golden("v9/bad_commit_avro", "A completed deltacommit whose Avro does not decode", merge_on_read(9), also=(8,))
def unparsable_commit(table: GoldenTable) -> None:
    """The second deltacommit's container lost its last hundred bytes."""
    _updates(table)
    table.damage(corruption.tear(_second_write(table), 100))
    what, clause = ("commit", "TL-019") if table.version == 6 else ("deltacommit", "TL-020")
    _refused(table, f"the torn {what} is refused", f"TL-015 {clause}", "damaged-commit-accepted")


@golden(
    "v6/bad_schema_field_twice",
    "A commit's schema has two fields of one name",
    merge_on_read(6),
    given={6: "The schema of the second deltacommit, which is JSON, calls its last column as it calls the fourth."},
)
@golden("v9/bad_schema_field_twice", "A commit's schema has two fields of one name", copy_on_write(9), also=(8,))
def field_twice(table: GoldenTable) -> None:
    """The schema of the second commit, which is Avro, calls its last column as it calls the fourth."""
    quote = b'\\"' if table.version == 6 else b'"'
    _updates(table)
    old, new = (b"%bname%b:%b%b%b" % (quote, quote, quote, name, quote) for name in (b"ratio", b"rider"))
    table.damage(corruption.substitute(_second_write(table), old, new))
    _refused(table, "the schema is refused", "DM-003", "damaged-commit-accepted")


@golden("v9/bad_action", "A timeline file names an unknown action", merge_on_read(9))
def unknown_action(table: GoldenTable) -> None:
    """A completed file with the action `teleport` stands among the others."""
    _updates(table)
    table.damage(corruption.write(f"{_TIMELINE}/{second(3)}_{second(3.5)}.teleport", b"{}"))
    _refused(table, "the action is refused", "TL-016 TL-001", "malformed-names-ignored")


@golden("v6/bad_instant", "An instant that is not made of digits", merge_on_read(6), also=(8,))
def malformed_instant(table: GoldenTable) -> None:
    """A completed deltacommit whose time has a letter in it."""
    _updates(table)
    table.damage(
        corruption.copy(f"{table.layout.timeline_folder}/{second(2)}*.deltacommit", f"{second(3)[:-1]}x.deltacommit")
    )
    _refused(table, "the instant is refused", "TL-016 TM-001", "malformed-names-ignored")


@golden("v9/bad_two_completions", "Two completion times for one instant", merge_on_read(9), also=(8,))
def two_completions(table: GoldenTable) -> None:
    """The second deltacommit has two completed files, half a second apart."""
    _updates(table)
    name = f"{_TIMELINE}/{second(2)}_{second(2.5)}.deltacommit"
    table.damage(corruption.copy(name, f"{second(2)}_{second(3)}.deltacommit"))
    _refused(table, "an instant cannot complete twice", "TL-012 TL-005", "two-completions-accepted")


@golden("v6/bad_two_completions", "Two actions that were requested at one instant have completed", merge_on_read(6))
def two_actions(table: GoldenTable) -> None:
    """Beside the second deltacommit stands a completed commit of the same instant."""
    _updates(table)
    table.damage(corruption.copy(f".hoodie/{second(2)}.deltacommit", f"{second(2)}.commit"))
    _refused(table, "an instant cannot complete twice", "TL-012 TL-005", "two-completions-accepted")


@golden("v9/bad_block_content", "A block's frame is whole, its content does not decode", merge_on_read(9))
def undecodable_block(table: GoldenTable) -> None:
    """The record lengths inside one Avro block are overwritten; the block's own lengths agree."""
    written = _updates(table)
    table.damage(corruption.garble_content(data_path(written.log_files[0])))
    _refused(table, "the content is refused: skipping it would lose rows", "LF-013", "undecodable-block-skipped")
    table.as_of(
        second(1.7),
        "as-of-before",
        "questions that need not read the block are answered",
        "LF-013 RD-010",
        "as-of-reads-everything",
    )
    table.optimized("read-optimized", "base files alone are answered", "LF-013 RD-009", "optimized-reads-logs")


@golden("v6/bad_delete_content", "A delete block whose list does not decode", merge_on_read(6))
def undecodable_delete(table: GoldenTable) -> None:
    """The list inside one delete block is overwritten; the block's own lengths agree."""
    _updates(table)
    written = table.delete(second(3), "oslo", "r01")
    table.damage(corruption.garble_content(data_path(written.log_files[0])))
    _refused(
        table,
        "the deletes are refused: skipping them would bring rows back",
        "LF-013 LF-008",
        "undecodable-block-skipped",
    )


@golden("v9/bad_block_count", "A block declares two thousand million records", merge_on_read(9), also=(8,))
def declared_count(table: GoldenTable) -> None:
    """The record count inside one Avro block is the greatest number that fits; the block's own lengths agree."""
    written = _updates(table)
    table.damage(corruption.overwrite_content(data_path(written.log_files[0]), 4, struct.pack(">i", 2**31 - 1)))
    _refused(table, "the count is refused before anything is made of it", "LF-013 LF-007", "undecodable-block-skipped")


@golden("v9/bad_missing_base_file", "Storage lacks a base file that the timeline names", copy_on_write(9))
@golden(
    "v6/bad_missing_base_file",
    "Storage lacks a base file that the timeline names",
    merge_on_read(6),
    given={6: "One base file below log files is gone."},
)
def missing_base_file(table: GoldenTable) -> None:
    """One base file of the second commit is gone."""
    first, second_write = _updates_of(table)
    written = first if table.layout.merge_on_read else second_write
    table.damage(corruption.remove(data_path(written.base_files[0])))
    _refused(table, "rows are not lost silently", "RD-011", "missing-base-file-skipped")
    if not table.layout.merge_on_read:
        then = "the first commit's files are all there"
        table.as_of(second(1.7), "as-of-before", then, "RD-011 RD-010", "as-of-reads-everything")


@golden(
    "v9/bad_missing_log_file",
    "Storage lacks a log file that the timeline names",
    merge_on_read(9),
    also=(6, 8),
    given={6: "One log file of the update is gone."},
)
def missing_log_file(table: GoldenTable) -> None:
    """One log file of an update is gone; its group's other files are all there."""
    written = _updates(table)
    table.damage(corruption.remove(data_path(written.log_files[0])))
    _refused(table, "changes are not lost silently", "RD-018", "missing-log-file-skipped")
    if table.version > 6:
        then = "the insert's files are all there"
        table.as_of(second(1.7), "as-of-before", then, "RD-018 RD-010", "as-of-reads-everything")


@golden("v9/bad_lost_timeline", "Data files are there and the timeline is gone", merge_on_read(9))
def lost_timeline(table: GoldenTable) -> None:
    """Every file of the timeline folder was deleted."""
    _updates(table)
    table.damage(corruption.remove(".hoodie/timeline/*.*"))
    _refused(table, "a lost timeline is not a new table", "TL-022", "lost-timeline-is-a-new-table")


@golden("v8/bad_base_file", "A base file whose footer is cut off", copy_on_write(8), also=(6, 9))
def truncated_base_file(table: GoldenTable) -> None:
    """One base file of the second commit lost its last forty bytes."""
    written = _updates(table)
    table.damage(corruption.tear(data_path(written.base_files[0]), 40))
    _refused(table, "the file is refused", "BF-004", "damaged-base-file-empty")
    table.as_of(second(1.7), "as-of-before", "older files are whole", "BF-004 RD-010", "as-of-reads-everything")


@golden("v9/bad_path_escapes", "Commit metadata names a file outside of the table", copy_on_write(9), also=(6, 8))
def path_escapes(table: GoldenTable) -> None:
    """One write stat's path climbs out of the table's folder."""
    _updates(table)
    table.redirect(second(2), "../../elsewhere/")
    _refused(table, "the path is refused", "SL-007 SL-008", "escaping-path-accepted")


@golden("v9/bad_merger", "A custom merge mode whose merger is unknown", merge_on_read(9, merge_mode="CUSTOM"))
def unknown_merger(table: GoldenTable) -> None:
    """The merge mode is CUSTOM and the strategy id belongs to no known merger."""
    _updates(table)
    table.snapshot("snapshot", "rows are not merged by guess", "MG-001", "mode-always-event-time")
    table.optimized("read-optimized", "base files need no merger", "RD-009 MG-001", "optimized-reads-logs")


@golden(
    "v9/mor_properties_backup",
    "An update of the properties broke off: the backup stands in",
    merge_on_read(9),
    also=(6, 8),
)
def properties_backup(table: GoldenTable) -> None:
    """hoodie.properties is gone, hoodie.properties.backup is there, as between two steps of an update."""
    _updates(table)
    table.damage(corruption.move(".hoodie/hoodie.properties", "hoodie.properties.backup"))
    table.snapshot("snapshot", "the table is read by its backup", "PR-004 PR-008", "backup-ignored")
    table.info("table-info", "the backup's properties are reported", "PR-004", "backup-ignored")


@golden("v6/mor_foreign_files", "Files that are no part of the format", merge_on_read(6), also=(8, 9))
def foreign_files(table: GoldenTable) -> None:
    """Side files, markers, notes, a stray commit file inside a partition and a folder of copies lie about."""
    written = _updates(table)
    table.upsert(second(3), rides(5, ("r02", "r12"), rider="late"))
    table.damage(corruption.write(f"oslo/.{written.log_files[0].name}.crc", b"crc!"))
    table.damage(corruption.write("oslo/notes.txt", b"not a base file"))
    # Object stores leave such files while a log is being written.
    for city, prefix in (("oslo", "_GCS_SYNCABLE_TEMPFILE_"), ("lima", "GCS_SYNCABLE_TEMPFILE")):
        table.damage(corruption.write(f"{city}/{prefix}{written.log_files[0].name}", b"#HUDI#"))
    table.damage(corruption.write(f"oslo/{second(9)}.commit"))
    table.damage(corruption.write(".hoodie/hoodie.properties.tmp", b"\x00"))
    table.damage(corruption.write(f".hoodie/.temp/{second(2)}/oslo/x.marker.APPEND"))
    base = table.base_files[0]
    table.damage(corruption.copy(data_path(base), f"../copies/{base.name}"))
    table.snapshot("snapshot", "they change nothing", "SL-006 SL-020 TL-021", "event-time-ignores-ordering")
    table.instants("timeline", "they are no instants", "TL-021", "lowest-state-rules")
    meaning = "a side file is no log, even of a file of another folder, and a folder without metafile no partition"
    table.slices("slices", meaning, "SL-006 SL-020", "side-files-are-data")


@golden("v9/bad_block_type", "A block of a type that no text knows", merge_on_read(9))
def unknown_block_type(table: GoldenTable) -> None:
    """The type of one whole block is overwritten by 9; its lengths agree."""
    written = _updates(table)
    table.damage(corruption.overwrite(data_path(written.log_files[0]), _TYPE_OFFSET, struct.pack(">i", 9)))
    _refused(table, "the block is refused: it may hold rows", "LF-014 LF-005", "damaged-log-skipped")


@golden("v8/bad_log_version", "A log format version that no text knows", merge_on_read(8), also=(6,))
def unknown_log_version(table: GoldenTable) -> None:
    """The log format version of one whole block is overwritten by 2; its lengths agree."""
    written = _updates(table)
    table.damage(corruption.overwrite(data_path(written.log_files[0]), _TYPE_OFFSET - 4, struct.pack(">i", 2)))
    _refused(table, "the block is refused: its layout is not known", "LF-014", "damaged-log-skipped")
