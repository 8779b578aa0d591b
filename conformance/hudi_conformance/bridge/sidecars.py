"""Markers and heartbeats: what a write leaves beside its files while it runs."""

import datetime as dt
from pathlib import PurePosixPath

from hudi_format.errors import FormatError
from hudi_format.storage import FileStatus, Storage
from hudi_model.files import Marker
from hudi_model.time import InstantTime, instant_of

MARKERS = ".hoodie/.temp"
HEARTBEATS = ".hoodie/.heartbeat"
_KINDS = ("CREATE", "MERGE", "APPEND")


def marker_path(marker: Marker) -> str:
    """Where a marker lies, relative to the table."""
    return "/".join(filter(None, (MARKERS, marker.instant, marker.partition, f"{marker.name}.marker.{marker.kind}")))


def load_markers(storage: Storage) -> frozenset[Marker]:
    """The markers of all writes. Those that a timeline server keeps in `MARKERS<n>` files are read too."""
    found: set[Marker] = set()
    for status in _listed(storage, MARKERS):
        _, _, *folders, name = PurePosixPath(status.path).parts
        if not folders:
            continue  # a stray file: markers lie in a folder of their write
        instant, *folders = folders
        if name.startswith("MARKERS") and not folders and name != "MARKERS.type":
            lines = storage.read(status.path).decode(errors="replace").split()
            found |= {marker for line in lines if (marker := _marker(instant, line))}
        elif marker := _marker(instant, "/".join((*folders, name))):
            found.add(marker)
    return frozenset(found)


def _marker(instant: str, path: str) -> Marker | None:
    file, _, kind = path.rpartition(".marker.")
    partition, _, name = file.rpartition("/")
    return Marker(InstantTime(instant), partition, name, kind) if name and kind in _KINDS else None


def load_heartbeats(storage: Storage) -> frozenset[tuple[InstantTime, InstantTime]]:
    """The writes that update their heartbeats, and when each did last: the file's modification time."""
    statuses = _listed(storage, HEARTBEATS)
    named = ((PurePosixPath(status.path).name, status) for status in statuses)
    return frozenset((InstantTime(name), _moment(status)) for name, status in named if name.isdigit())


def _moment(status: FileStatus) -> InstantTime:
    return instant_of(dt.datetime.fromtimestamp(status.modified_ms / 1000, dt.UTC))


def _listed(storage: Storage, folder: str) -> list[FileStatus]:
    try:
        return storage.list_files(folder)
    except FormatError:
        return []
