"""Markers against what a write names: what a failed or repeated task left behind goes before anybody sees it.

Clauses: MK-001, MK-003, OW-009.
"""

from collections.abc import Iterable, Iterator

from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER, Marker, batch_number, parse_marker_path, parse_markers
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.effects.helper import Effects, joined
from hudi_spark.state.named_files import is_data_file


def announced(storage: Storage, requested: str) -> tuple[Marker, ...]:
    """The data files that the markers of a write announce, whichever kind of markers it has.

    A marker of anything else than a data file of a partition announces nothing.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE for markers that are none.

    Clauses: MK-001, MK-002, SL-007.

    """
    found = _markers(storage, joined(MARKERS_FOLDER, requested))
    return tuple(sorted((one for one in found if is_data_file(one.partition, one.name.data_file)), key=str))


def _markers(storage: Storage, folder: str) -> Iterator[Marker]:
    for status in storage.list_files(folder):
        inside = status.path.removeprefix(f"{folder}/")
        if batch_number(inside) is not None:
            yield from parse_markers(storage.read(status.path), status.path)
        elif (found := parse_marker_path(inside, status.path)) is not None:
            yield found


def remove_unnamed(effects: Effects, requested: str, written: Iterable[WriteStat]) -> None:
    """Delete what tasks announced and no successful attempt named.

    Clauses: MK-003.
    """
    named = {path for stat in written for path in (stat.path or "", *(stat.cdc_stats or {}))}
    _remove(effects, requested, named)


def remove_announced(effects: Effects, requested: str) -> None:
    """Delete every file that a write announced.

    Clauses: MK-003, OW-009.
    """
    _remove(effects, requested, frozenset())


def _remove(effects: Effects, requested: str, kept: Iterable[str]) -> None:
    for marker in announced(effects.storage, requested):
        path = joined(marker.partition, marker.name.data_file)
        if path not in kept and effects.storage.exists(path):
            effects.delete_data_file(requested, marker.partition, marker.name.data_file)
