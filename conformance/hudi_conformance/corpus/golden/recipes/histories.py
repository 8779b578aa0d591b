"""Tables whose old actions have moved to the timeline's history, sound and damaged."""

import io
from dataclasses import replace
from pathlib import Path

import fastavro
from hudi_format.avro.files import read_container
from hudi_format.avro.schemas import writing_schema
from hudi_format.timeline.archived_log import (
    ArchivedState,
    archived_log_name,
    read_archived_log,
    write_archived_log,
)
from hudi_format.timeline.history import (
    HistoryRow,
    parse_manifest,
    read_history_file,
    serialise_manifest,
    write_history_file,
)
from hudi_format.timeline.plans import CleanMetadata

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, ride, rides, second
from hudi_conformance.corpus.golden.usual import check

_HISTORY = ".hoodie/timeline/history"
_FEATURES = ("history",)
_MANIFEST = b'{\n  "files" : [ ]\n}'


def _archived(table: GoldenTable, batch: int, *, straddles: bool = False) -> None:
    table.insert(second(1), fleet(10))
    if straddles:
        table.compact(second(2.2), [table.home(ride("r03", 10))], done=second(2.4))
    for number in range(2, 6 if straddles else 8):
        done = second(2.7) if straddles and number == 2 else None
        table.upsert(second(number), rides(10 + number, (f"r0{number % 4 + 1}", "r11")), done)
        if number > 3 or not straddles:
            table.archive(2, batch)


def _add_queries(table: GoldenTable, clauses: str, kills: str) -> None:
    table.snapshot(
        "snapshot", "what was archived counts as committed", "TL-018 RD-002", "before-first-active-uncommitted"
    )
    table.instants("timeline", "only what is active is listed", "HS-008 TL-004", "lowest-state-rules")
    table.full_timeline("whole-timeline", "each action is listed once, archived ones too", clauses, kills)


# By version: clauses and kills of the question for the whole timeline.
_WHOLE = {
    6: ("HS-008 HS-010 TL-032", "history-not-listed"),
    8: ("HS-008 HS-001 HS-007 TL-030 TL-031", "history-not-listed history-forgets-completion-on-reading"),
    9: (
        "HS-008 HS-001 HS-002 HS-006 HS-007 HS-009 TL-030 TL-031",
        "history-not-listed any-file-of-the-folder-counts upper-levels-unread history-forgets-completion-on-reading",
    ),
}


@golden(
    "v9/mor_archived",
    "A history of several levels",
    merge_on_read(9),
    _FEATURES,
    also=(6, 8),
    titles={6: "An archived log", 8: "A history of one level"},
    given={
        6: "Seven writes, an archival after each.",
        8: "Five writes to logs, the second across a compaction, an archival after each of the last two.",
    },
)
def archived(table: GoldenTable) -> None:
    """Seven writes, an archival after each, two files a level before they are merged.

    A temporary manifest was left, and a file that no manifest names: of a write that has been restored away since.
    """
    _archived(table, 2 if table.version > 8 else 10, straddles=table.version == 8)
    if table.version > 8:
        undone = write_history_file([HistoryRow(second(0.5), second(0.7), "commit")])
        table.damage(corruption.write(f"{_HISTORY}/manifest_99.3f5a", _MANIFEST))
        table.damage(corruption.write(f"{_HISTORY}/{second(0.5)}_{second(0.5)}_0.parquet", undone))
    _add_queries(table, *_WHOLE[table.version])


@golden(
    "v9/mor_archived_before_an_upgrade",
    "A history whose rows hold bare records",
    merge_on_read(9),
    _FEATURES,
    also=(8,),
)
def archived_before_an_upgrade(table: GoldenTable) -> None:
    """Seven writes, an archival after each; the archived contents are Avro records without the head of a container.

    So an upgrade by Apache Hudi 1.0.2 leaves what had been archived in version 6.
    """
    _archived(table, 10)
    table.damage(_bare)
    _add_queries(table, "HS-008 HS-001 HS-007 TL-030", "history-not-listed")
    check(table, "the rows of the history are sound", "TL-030", "bare-records-refused")


def _bare(table: Path) -> None:
    """The contents of the history's rows without the container around them; manifests name the new lengths."""
    for file in table.glob(f"{_HISTORY}/*.parquet"):
        rows = read_history_file(file.read_bytes(), file.name)
        file.write_bytes(write_history_file([replace(one, metadata=_record(one.metadata)) for one in rows]))
    sizes = {file.name: file.stat().st_size for file in table.glob(f"{_HISTORY}/*.parquet")}
    for manifest in table.glob(f"{_HISTORY}/manifest_*"):
        entries = parse_manifest(manifest.read_bytes(), manifest.name)
        changed = [replace(one, file_length=sizes.get(one.file_name, one.file_length)) for one in entries]
        manifest.write_bytes(serialise_manifest(changed))


def _record(container: bytes | None) -> bytes | None:
    if not container:
        return container
    schema, (record,) = read_container(container, "history")
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, writing_schema(schema), record)
    return stream.getvalue()


@golden("v6/mor_several_archived_logs", "Several archived logs", merge_on_read(6), _FEATURES)
def several_archived_logs(table: GoldenTable) -> None:
    """Seven writes, an archival after each; the second log holds what came later, and both the write in the middle.

    They have cleans with the instants of an archived write and of an active one, as releases before 0.9 left them.
    """
    _archived(table, 10)
    table.damage(_split)
    kills = "archived-logs-after-the-first-unread history-not-listed cleans-hide-writes"
    _add_queries(table, "HS-010 HS-008 TL-032 TL-005", kills)


def _split(table: Path) -> None:
    """One archived log made into two, as where a storage cannot append; an action in the middle stands in both."""
    (first,) = table.glob(".hoodie/archived/.commits_.archive.1*")
    states = read_archived_log(first.read_bytes(), first.name)
    instants = sorted({one.instant for one in states})
    for number, part in enumerate((instants[:3], instants[2:]), start=1):
        instant = instants[1] if number == 1 else second(6)
        clean = ArchivedState(instant, "clean", "COMPLETED", None, CleanMetadata(instant))
        held = [*(one for one in states if one.instant in part), clean]
        (first.parent / archived_log_name(number)).write_bytes(write_archived_log(held, java_strings=True))


@golden("v9/mor_without_version_file", "The version file was being replaced", merge_on_read(9), _FEATURES, also=(8,))
def without_version(table: GoldenTable) -> None:
    """A history whose version file is gone: writers delete it before they write it anew."""
    _archived(table, 10)
    table.damage(corruption.remove(f"{_HISTORY}/_version_"))
    table.full_timeline("whole-timeline", "the newest manifest stands in", "HS-003 HS-008", "history-not-listed")


@golden(
    "v9/mor_history_older_version", "The version file names an older manifest", merge_on_read(9), _FEATURES, also=(8,)
)
def older_version(table: GoldenTable) -> None:
    """What a reader sees that began before the last archival: the manifest before the newest, its files all there."""
    _archived(table, 2)
    newest = max(one.version for one in table.history.manifests)
    table.damage(corruption.write(f"{_HISTORY}/_version_", str(newest - 1).encode()))
    table.full_timeline(
        "whole-timeline",
        "the version that the file names is read, and no file of it is gone",
        "HS-002 HS-006 HS-011 HS-008",
        "newest-manifest-ignores-the-version any-file-of-the-folder-counts upper-levels-unread",
    )
    table.snapshot(
        "snapshot", "what was archived counts as committed", "TL-018 RD-002", "before-first-active-uncommitted"
    )
    table.as_of(
        second(7.5),
        "as-of-the-end",
        "as of now the table is what a snapshot says, also where the history that is read lacks an action",
        "TL-018 AR-001 RD-010",
        "before-first-active-uncommitted",
    )


@golden("v9/bad_history_file_missing", "A file of the history is gone", merge_on_read(9), _FEATURES)
def history_file_missing(table: GoldenTable) -> None:
    """The manifest names a file that storage lacks."""
    _archived(table, 10)
    table.damage(corruption.remove(f"{_HISTORY}/{second(1)}_*.parquet"))
    table.full_timeline("whole-timeline", "it is refused", "HS-004", "missing-history-files-passed-over")
    table.snapshot("snapshot", "a snapshot needs no history", "TL-018 RD-002", "before-first-active-uncommitted")
    check(table, "the fault is reported", "HS-004", "violations-never missing-history-files-passed-over")


@golden("v9/bad_history_version", "The version file holds no number", merge_on_read(9), _FEATURES)
def history_version(table: GoldenTable) -> None:
    """The version file was overwritten by a careless hand."""
    _archived(table, 10)
    table.damage(corruption.write(f"{_HISTORY}/_version_", b"latest"))
    table.full_timeline(
        "whole-timeline", "it is refused, not guessed", "TL-031 HS-003", "newest-manifest-ignores-the-version"
    )


@golden("v9/bad_history_manifest", "The current manifest does not parse", merge_on_read(9), _FEATURES, also=(8,))
def history_manifest(table: GoldenTable) -> None:
    """The current manifest was cut off in the middle."""
    _archived(table, 10)
    table.damage(corruption.tear(f"{_HISTORY}/manifest_5", 20))
    table.full_timeline("whole-timeline", "it is refused", "TL-031 HS-004", "newest-manifest-ignores-the-version")
