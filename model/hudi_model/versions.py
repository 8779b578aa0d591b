"""What each table version changes: the one place where versions differ, read by every other module."""

from dataclasses import dataclass, replace

from hudi_model.rejection import Reason, Rejection


@dataclass(frozen=True, slots=True)
class Overlay:
    """The rules that depend on the table version."""

    version: int
    timeline_layout: int
    """1: files beside `hoodie.properties`. [Modified in v8] 2: files in a folder of their own."""
    logs_name_their_slice: bool
    """True: a log's name holds the base instant of its slice. [Modified in v8] False: its own commit's instant."""
    blocks_decide_commit: bool
    """True: names do not tell the commit, only blocks do. [Modified in v8] False: names do."""
    mode_is_persisted: bool
    """[New in v8] The merge mode stands in the properties; before, the payload class decides."""


V6 = Overlay(6, 1, logs_name_their_slice=True, blocks_decide_commit=True, mode_is_persisted=False)
V8 = Overlay(8, 2, logs_name_their_slice=False, blocks_decide_commit=False, mode_is_persisted=True)

OVERLAYS = {4: replace(V6, version=4), 5: replace(V6, version=5), 6: V6, 8: V8, 9: replace(V8, version=9)}
"""Versions 4 and 5 are read as 6 is: they differ in what writers keep beside the timeline."""

NO_RULES = {
    7: "no release left a table of it: it stands between two steps of an upgrade",
    10: "it is being prepared and has not been released",
}
"""Why other versions have no rules; the older ones are those before the first text, 1 to 3."""


def is_read(version: int, reader: int = 9) -> bool:
    """Whether a reader that was made for a version reads a table of another: it does if the table's is no newer.

    Clauses: VR-001, VR-003, VR-020, VR-021.
    """
    return version in OVERLAYS and version <= reader


def overlay(version: int) -> Overlay:
    """The rules of a table version.

    Raises: TABLE_VERSION_UNSUPPORTED.

    Clauses: VR-001, VR-002, VR-020.
    """
    if is_read(version):
        return OVERLAYS[version]
    reason = NO_RULES.get(version, "newer than any known" if version > max(OVERLAYS) else "older than the first text")
    detail = f"table version {version} is none of {sorted(OVERLAYS)}: {reason}"
    raise Rejection(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", "hoodie.properties", detail)
