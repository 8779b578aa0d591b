"""File names: data files, timeline files, metafiles and markers.

base file   <fileId>_<writeToken>_<instant>.<extension>
log file    .<fileId>_<instant>.log.<version>[_<writeToken>][.cdc]
native log  <fileId>_<writeToken>_<instant>_<version>.<log|deletes|cdc>.<format>   (draft, version 10)
layout 1    T.<action>.requested | T.<action>.inflight | T.inflight (commit) | T.<action>
layout 2    the same, completed files T_C.<action>
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from hudi_format.errors import FormatError, Reason

TimelineState = Literal["REQUESTED", "INFLIGHT", "COMPLETED"]
TimelineLayout = Literal[1, 2]
NativeKind = Literal["log", "deletes", "cdc"]

PARTITION_METAFILE = ".hoodie_partition_metadata"
BASE_EXTENSIONS = ("parquet", "orc", "hfile")
ACTIONS = (
    "commit",
    "deltacommit",
    "replacecommit",
    "clean",
    "compaction",
    "logcompaction",
    "clustering",
    "indexing",
    "rollback",
    "savepoint",
    "restore",
)

# The one action of the folder `.hoodie/.schema`, whose files are named like a timeline's.
SCHEMA_COMMIT = "schemacommit"

# Names of the timeline folder that hold something else, in layout 1 beside the instants.
_FOREIGN_EXTENSIONS = ("properties", "backup", "crc", "parquet")
_MAXIMUM_VERSION_DIGITS = 9

_BASE_FILE = re.compile(
    r"(?P<id>[^._/][^_/]*)_(?P<token>[0-9]+-[0-9]+-[0-9]+)_(?P<instant>[0-9]+)\.(?P<extension>parquet|orc|hfile|lance)"
)
_LOG_FILE = re.compile(
    r"\.(?P<id>[^._/][^_/]*)_(?P<instant>[0-9]+)\.log\.(?P<version>[0-9]+)(?:_(?P<token>[0-9]+-[0-9]+-[0-9]+))?(?P<cdc>\.cdc)?"
)
_NATIVE_LOG = re.compile(
    r"(?P<id>[^._/]+)_(?P<token>[0-9]+-[0-9]+-[0-9]+)_(?P<instant>[0-9]+)_(?P<version>[0-9]+)"
    r"\.(?P<kind>log|deletes|cdc)\.(?P<format>[^./]+)"
)
_TIMELINE_FILE = re.compile(r"(?P<first>[^._]+)(?:_(?P<second>[^.]*))?\.(?P<action>[^.]+)(?:\.(?P<state>[^.]+))?")
# Bytes of a name that are no UTF-8, as Python has them; a partition may be named in any letters.
_NO_TEXT = re.compile("[\ud800-\udfff]")
# Where a file cannot be put at once, releases write beside it, under its name and a random id, and rename.
_UNFINISHED = re.compile(r"\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_MARKER = re.compile(r"(?P<name>.+)\.marker\.(?P<kind>CREATE|MERGE|APPEND)")


@dataclass(frozen=True, slots=True, order=True)
class BaseFileName:
    """The parts of a base file's name.

    Clauses: SL-004, SL-023, SL-025, BF-010.
    """

    file_id: str
    write_token: str
    instant: str
    extension: str

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}.{self.extension}"


@dataclass(frozen=True, slots=True)
class LogFileName:
    """The parts of a log file's name; old writers left the write token out.

    Clauses: SL-005, SL-023, SL-025.
    """

    file_id: str
    instant: str
    version: int
    write_token: str | None
    cdc: bool = False

    def __str__(self) -> str:
        token = "" if self.write_token is None else f"_{self.write_token}"
        return f".{self.file_id}_{self.instant}.log.{self.version}{token}{'.cdc' if self.cdc else ''}"


@dataclass(frozen=True, slots=True)
class NativeLogName:
    """The parts of the name of a native log, which is a whole file of another format.

    Clauses: NL-001.
    """

    file_id: str
    write_token: str
    instant: str
    version: int
    kind: NativeKind
    format: str

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}_{self.version}.{self.kind}.{self.format}"


@dataclass(frozen=True, slots=True)
class TimelineFileName:
    """The parts of a timeline file's name; `completed` is known for completed files of layout 2."""

    requested: str
    action: str
    state: TimelineState
    completed: str | None = None


@dataclass(frozen=True, slots=True)
class MarkerName:
    """A marker: the data file it announces and what the writer was about to do with it."""

    data_file: str
    kind: str

    def __str__(self) -> str:
        return f"{self.data_file}.marker.{self.kind}"


# Each query lists the names of the last one again.
@lru_cache(maxsize=1 << 16)
def parse_data_file_name(name: str) -> BaseFileName | LogFileName | None:
    """A base or log file name, or None for a name that belongs to neither, as one with bytes that are no text.

    Clauses: SL-004, SL-005, SL-006, BF-011.
    """
    if not name.isascii() and _NO_TEXT.search(name):
        return None
    if base := _BASE_FILE.fullmatch(name):
        return BaseFileName(base["id"], base["token"], base["instant"], base["extension"])
    log = _LOG_FILE.fullmatch(name)
    if log is None or len(log["version"]) > _MAXIMUM_VERSION_DIGITS:
        return None
    return LogFileName(log["id"], log["instant"], int(log["version"]), log["token"], log["cdc"] is not None)


def parse_native_log_name(name: str) -> NativeLogName | None:
    """The name of a native log, or None for any other: before version 10 it belongs to no table.

    Clauses: NL-001.
    """
    log = _NATIVE_LOG.fullmatch(name)
    if log is None or len(log["version"]) > _MAXIMUM_VERSION_DIGITS:
        return None
    kind: NativeKind = log["kind"]  # type: ignore[assignment]
    return NativeLogName(log["id"], log["token"], log["instant"], int(log["version"]), kind, log["format"])


def parse_timeline_file_name(name: str, layout: TimelineLayout, file: str | None = None) -> TimelineFileName | None:
    """A file name of the timeline folder, or None for a foreign file, or one that a writer is still at.

    `file` is the path that an error names.

    Raises:
        FormatError: INSTANT_MALFORMED when the name looks like an instant but is none.

    Clauses: TL-007, TL-008, TL-009, TL-016, TL-021.

    """
    match = _TIMELINE_FILE.fullmatch(name)
    if match is None or not _looks_like_an_instant(match) or _UNFINISHED.search(name):
        return None
    where = file or name
    _refuse_bad_times(match, where)
    if match["action"] == "inflight" and match["state"] is None and match["second"] is None:
        return TimelineFileName(match["first"], "commit", "INFLIGHT")
    if match["action"] not in ACTIONS:
        raise _malformed(where, f"{match['action']!r} is no action")
    return _named(match, layout, where)


def refuse_no_file(path: str, layout: TimelineLayout) -> None:
    """Nothing for what lies in the timeline's folder, is no file, and has the name of none of the timeline's files.

    Raises:
        FormatError: INSTANT_MALFORMED for any other: what it stands for may have changed anything.

    Clauses: TL-016.

    """
    if parse_timeline_file_name(path.rpartition("/")[2], layout, path) is not None:
        message = "this is a folder, a pipe or a link that leads nowhere, in the place of a file of the timeline"
        hint = "put the file itself back from a copy; remove this if no Hudi writer made it"
        raise FormatError(Reason.INSTANT_MALFORMED, "TL-016", path, None, message, hint)


def parse_schema_commit_name(name: str, layout: TimelineLayout, file: str | None = None) -> TimelineFileName | None:
    """A file name of the folder of schemas, or None for a foreign file.

    Raises:
        FormatError: INSTANT_MALFORMED when the name looks like a schema commit but is none.

    Clauses: DM-020, TL-007.

    """
    match = _TIMELINE_FILE.fullmatch(name)
    if match is None or match["action"] != SCHEMA_COMMIT:
        return None
    where = file or name
    _refuse_bad_times(match, where)
    return _named(match, layout, where)


def timeline_file_name(value: TimelineFileName, layout: TimelineLayout) -> str:
    """The file name of one timeline file.

    Raises:
        ValueError: a completed file of layout 2 without completion time.

    Clauses: TL-007, TL-008, TL-009.

    """
    if value.state == "REQUESTED":
        return f"{value.requested}.{value.action}.requested"
    if value.state == "INFLIGHT":
        return (
            f"{value.requested}.inflight" if value.action == "commit" else f"{value.requested}.{value.action}.inflight"
        )
    if layout == 1:
        return f"{value.requested}.{value.action}"
    if value.completed is None:
        raise ValueError("a completed instant of timeline layout 2 has a completion time")
    return f"{value.requested}_{value.completed}.{value.action}"


def parse_marker_name(name: str) -> MarkerName | None:
    """A marker file's name below `.hoodie/.temp/<instant>/<partition>/`, or None."""
    match = _MARKER.fullmatch(name)
    return None if match is None else MarkerName(match["name"], match["kind"])


def is_partition_metafile(name: str) -> bool:
    """Whether a file marks its folder as a partition, in text or in the table's base format.

    Clauses: SL-002, SL-020.
    """
    return name == PARTITION_METAFILE or name in {f"{PARTITION_METAFILE}.{extension}" for extension in BASE_EXTENSIONS}


def is_checksum_side_file(name: str) -> bool:
    """Whether a name is a local file system's `.<name>.crc`, which belongs to no table.

    Clauses: SL-006.
    """
    return name.startswith(".") and name.endswith(".crc")


def _looks_like_an_instant(match: re.Match[str]) -> bool:
    """Whether the name begins like a time or ends like an instant's file."""
    if match["state"] in ("requested", "inflight"):
        return True
    if match["action"] in _FOREIGN_EXTENSIONS:
        return False
    return match["first"][0].isdigit() or match["action"] in (*ACTIONS, "inflight")


def _refuse_bad_times(match: re.Match[str], where: str) -> None:
    for time in (match["first"], match["second"]):
        if time is not None and not re.fullmatch("[0-9]+", time):
            raise _malformed(where, f"{time!r} is no instant time")


def _named(match: re.Match[str], layout: TimelineLayout, where: str) -> TimelineFileName:
    state, completed = match["state"], match["second"]
    if state is not None:
        if state not in ("requested", "inflight"):
            raise _malformed(where, f"{state!r} is no state")
        if completed is not None:
            raise _malformed(where, "a pending instant has no completion time")
        return TimelineFileName(match["first"], match["action"], "REQUESTED" if state == "requested" else "INFLIGHT")
    if layout == 1 and completed is not None:
        raise _malformed(where, "timeline layout 1 has no completion time in names")
    if layout == 2 and completed is None:
        raise _malformed(where, "a completed instant of timeline layout 2 names its completion time")
    return TimelineFileName(match["first"], match["action"], "COMPLETED", completed)


def _malformed(where: str, message: str) -> FormatError:
    hint = "remove the file if no Hudi writer made it"
    return FormatError(Reason.INSTANT_MALFORMED, "TL-016", where, None, message, hint)
