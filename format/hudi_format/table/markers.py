"""What a write leaves while it lasts: markers of its files, and its heartbeat.

direct            .hoodie/.temp/<instant>/<partition>/<data file>.marker.<kind>, empty
timeline server   .hoodie/.temp/<instant>/MARKERS.type, and MARKERS0, MARKERS1, … with a marker's path a line
heartbeat         .hoodie/.heartbeat/<instant>, empty: the time it was changed is the beat
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hudi_format.errors import FormatError, Reason
from hudi_format.names import MarkerName, parse_marker_name

MarkerType = Literal["DIRECT", "TIMELINE_SERVER_BASED"]

MARKERS_FOLDER: Final = ".hoodie/.temp"
HEARTBEATS_FOLDER: Final = ".hoodie/.heartbeat"
MARKER_TYPE_FILE: Final = "MARKERS.type"
MARKER_TYPES: Final[Sequence[MarkerType]] = ("DIRECT", "TIMELINE_SERVER_BASED")
MAXIMUM_BYTES: Final = 512 * 1024 * 1024

_CLAUSE: Final = "MK-002"
_BATCH_FILE = re.compile("MARKERS(?P<number>[0-9]{1,9})")
_INSTANT = re.compile("[0-9]+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker and the partition that its file belongs to; the partition of a table without partitions is empty.

    Clauses: MK-001, MK-002.
    """

    partition: str
    name: MarkerName

    def __str__(self) -> str:
        return f"{self.partition}/{self.name}" if self.partition else str(self.name)


def parse_marker_path(path: str, file: str) -> Marker | None:
    """A marker by its path below the instant's folder, or None for another file.

    Raises:
        FormatError: PATH_ESCAPES_TABLE for a path that steps out of its folder.

    Clauses: MK-001, MK-002.

    """
    partition, _, last = path.rpartition("/")
    name = parse_marker_name(last)
    if name is None:
        return None
    if path.startswith("/") or "\0" in path or ".." in path.split("/"):
        message = f"the marker {path[:200]!r} leaves its folder"
        raise FormatError(Reason.PATH_ESCAPES_TABLE, "SL-007", file, None, message)
    return Marker(partition, name)


def batch_number(name: str) -> int | None:
    """The number of a file of markers, or None for another file."""
    match = _BATCH_FILE.fullmatch(name)
    return None if match is None else int(match["number"])


def parse_marker_type(data: bytes, file: str) -> MarkerType:
    """How the markers of an instant are kept.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for another text.

    Clauses: MK-002.

    """
    text = _text(data, file).strip()
    for known in MARKER_TYPES:
        if text == known:
            return known
    raise FormatError(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, None, f"the marker type is {text[:40]!r}")


def parse_markers(data: bytes, file: str) -> tuple[Marker, ...]:
    """The markers of one file of them, in its order.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for a line that is no marker; PATH_ESCAPES_TABLE; LIMIT_EXCEEDED.

    Clauses: MK-001, MK-002.

    """
    markers = []
    for line in _text(data, file).split("\n"):
        if not line:
            continue
        marker = parse_marker_path(line, file)
        if marker is None:
            raise FormatError(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, None, f"{line[:200]!r} is no marker")
        markers.append(marker)
    return tuple(markers)


def serialise_markers(markers: Iterable[Marker]) -> bytes:
    """The bytes of a file of markers."""
    return "".join(f"{marker}\n" for marker in markers).encode()


def heartbeat_instant(name: str) -> str | None:
    """The instant whose writer keeps this file of the heartbeats' folder alive, or None for another file."""
    return name if _INSTANT.fullmatch(name) else None


def _text(data: bytes, file: str) -> str:
    if len(data) > MAXIMUM_BYTES:
        raise FormatError(Reason.LIMIT_EXCEEDED, _CLAUSE, file, None, f"{len(data)} bytes of markers")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, error.start, "no UTF-8 text") from error
