"""What completed actions say of the files that they wrote, against the files."""

from collections.abc import Iterable, Iterator, Mapping

from hudi_model.actions import (
    Action,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Instant,
    ReplacePlan,
    State,
    TimelineEntry,
    WriteStat,
)
from hudi_model.files import BaseFile, CorruptBlock, Damaged, GroupId, LogFile
from hudi_model.rejection import Rejection
from hudi_model.retention import inner_path, instant_of_log
from hudi_model.slicing import data_files, group_of, path_of
from hudi_model.tables import Evidence, Footer, OpenTable
from hudi_model.timeline import completed_data

from hudi_model_tools.checks.finding import Violation, error

BASE_EXTENSIONS, BASE_PARTS = (".parquet", ".orc", ".hfile"), 3
Files = Mapping[str, BaseFile | LogFile]


def commit_violations(opened: OpenTable, evidence: Evidence) -> Iterator[Violation]:
    """Every fault of what the completed data actions on the timeline say; unparsable ones are reported elsewhere.

    Clauses: SL-002, SL-004, SL-007, SL-008, OW-017, CD-003, CD-010, CP-006, LC-006, CL-006.
    """
    files = {path_of(one): one for one in data_files(opened.state)}
    requested = {one.requested: one for one in opened.timeline.entries if one.state is State.REQUESTED}
    for one in completed_data(opened.timeline):
        if isinstance(one.content, CommitMetadata):
            for stat in one.content.write_stats:
                yield from stat_violations(one, stat, files, evidence)
            if one.requested in requested:
                yield from outcome_violations(one, one.content, requested[one.requested])


def stat_violations(one: Instant, stat: WriteStat, files: Files, evidence: Evidence) -> Iterator[Violation]:
    """A file that a commit states otherwise than it is; one that is gone may have been cleaned.

    Clauses: SL-002, SL-004, SL-007, SL-008, OW-017, CD-003.
    """
    try:
        path = inner_path(stat.path or "")
    except Rejection as found:
        yield error(found.clause, f"{one.requested}.{one.action}: {stat.path}", found.detail)
        return
    where = f"{one.requested}.{one.action}: {path}"
    if path and not is_data_file(path.rpartition("/")[2]):
        yield error("SL-004", where, "the name is neither that of a base file nor of a log")
    if path and path.rpartition("/")[0] != stat.partition:
        yield error("SL-008", where, f"the path does not begin with the partition {stat.partition!r}")
    if path in evidence.unplaced:
        yield error("SL-002", where, "the file is there, its folder is not marked as a partition")
    if path in files:
        yield from file_violations(one, stat, files[path], where)
        yield from size_violations(stat, files[path], where, evidence.footers.get(path))
        yield from change_log_violations(one, stat, where, files)


def is_data_file(name: str) -> bool:
    """Whether a name is that of a base file or of a log; commits of version 10 go on naming native logs in 9.

    Clauses: SL-004, SL-005, NL-001, NL-021.
    """
    parts = name.rpartition(".")[0].split("_")
    is_base = len(parts) == BASE_PARTS and name.endswith(BASE_EXTENSIONS)
    return is_base or instant_of_log(name) is not None


def file_violations(one: Instant, stat: WriteStat, file: BaseFile | LogFile, where: str) -> Iterator[Violation]:
    """A file whose name is not that of this write, or of this file group.

    Clauses: SL-004, SL-025, RD-005, RD-006.
    """
    if file.file_id != stat.file_id:
        yield error("SL-025", where, f"the commit has it in file group {stat.file_id!r}")
    if isinstance(file, BaseFile) and file.instant != one.requested:
        yield error("SL-004", where, "a base file bears the instant of the action that wrote it")
    if isinstance(file, LogFile) and file.instant > one.requested:
        yield error("SL-005", where, f"the log is named after the later instant {file.instant}")


def size_violations(
    stat: WriteStat, file: BaseFile | LogFile, where: str, footer: Footer | None
) -> Iterator[Violation]:
    """A file that has not the length or the rows that its commit counted; 0 stands for not counted.

    Others may have appended to a log. What does not parse, and what a torn block lacks, is reported on its own.

    Clauses: SA-001, OW-017.
    """
    if isinstance(file, LogFile):
        torn = isinstance(file.blocks, Damaged) or any(isinstance(one, CorruptBlock) for one in file.blocks)
        differs = file.size < stat.size and bool(file.size or not file.blocks) and not torn
    elif isinstance(file.records, Damaged):
        return
    else:
        differs = bool(stat.size and file.size and file.size != stat.size)
    if differs:
        yield error("SA-001", where, f"the file has {file.size} bytes, the write put {stat.size}")
    if footer and stat.writes and footer.rows != stat.writes:
        yield error("OW-017", where, f"the file has {footer.rows} rows, the commit counts {stat.writes}")


def change_log_violations(one: Instant, stat: WriteStat, where: str, files: Files) -> Iterator[Violation]:
    """Change logs that are named and not there, or that lie elsewhere than with their file.

    Clauses: CD-003, CD-010.
    """
    for path in stat.change_logs:
        found = files.get(path)
        if found is None:
            yield error("CD-003", where, f"names the change log {path}, which storage lacks")
        elif group_of(found) != (stat.partition, stat.file_id) or found.instant != one.requested:
            yield error("CD-010", path, f"the change log of {where} lies elsewhere or is named otherwise")


def outcome_violations(one: Instant, done: CommitMetadata, requested: TimelineEntry) -> Iterator[Violation]:
    """A service that did not do what it was to do.

    Clauses: CP-006, LC-006, CL-006.
    """
    where = f"{one.requested}.{one.action}"
    if isinstance(requested.content, CompactionPlan):
        clause = "CP-006" if requested.action is Action.COMPACTION else "LC-006"
        # Logs alone may leave no row, and then no base file is written.
        planned = groups_of(one for one in requested.content.operations if one.base_file)
        written = groups_of(done.write_stats)
        for partition, file_id in sorted(planned - written) if clause == "CP-006" else ():
            yield error(clause, where, f"no file of the planned group {partition}/{file_id}")
        for partition, file_id in (
            sorted(written - groups_of(requested.content.operations)) if clause == "CP-006" else ()
        ):
            yield error(clause, where, f"the group {partition}/{file_id} was not planned")
        wanted = "COMPACT" if clause == "CP-006" else "LOG_COMPACT"
        if (done.operation or wanted).upper() != wanted:
            yield error(clause, where, f"the operation is {done.operation}")
    if isinstance(requested.content, ReplacePlan) and requested.content.groups and done.operation == "CLUSTER":
        planned = groups_of(one for group in requested.content.groups for one in group.slices)
        for partition, file_id in sorted(planned - done.replaced):
            yield error("CL-006", where, f"the clustered group {partition}/{file_id} is not replaced")
        for partition, file_id in sorted(done.replaced - planned):
            yield error("CL-006", where, f"the replaced group {partition}/{file_id} was not planned")


def groups_of(many: Iterable[CompactionOperation | WriteStat]) -> set[GroupId]:
    """The file groups that some are of."""
    return {group_of(one) for one in many}
