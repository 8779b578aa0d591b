"""What each table version changes: the one place where versions differ, read by every other module."""

from dataclasses import dataclass
from enum import StrEnum

from hudi_model.rejection import Reason, Rejection, Unsupported


class Verdict(StrEnum):
    """Whether a table of some version can be read."""

    READ = "read"
    NOT_YET = "not yet"
    REFUSED = "refused"


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


OVERLAYS = {
    6: Overlay(6, 1, logs_name_their_slice=True, blocks_decide_commit=True, mode_is_persisted=False),
    8: Overlay(8, 2, logs_name_their_slice=False, blocks_decide_commit=False, mode_is_persisted=True),
    9: Overlay(9, 2, logs_name_their_slice=False, blocks_decide_commit=False, mode_is_persisted=True),
}


def verdict(version: int) -> Verdict:
    """What a reader makes of a table version.

    Clauses: VR-001, VR-011.
    """
    if version in OVERLAYS:
        return Verdict.READ
    return Verdict.NOT_YET if version in (4, 5) else Verdict.REFUSED


def overlay(version: int) -> Overlay:
    """The rules of a table version.

    Raises: TABLE_VERSION_UNSUPPORTED; unsupported `table-version-4` and `-5`.

    Clauses: VR-001, VR-002, VR-010.
    """
    match verdict(version):
        case Verdict.READ:
            return OVERLAYS[version]
        case Verdict.NOT_YET:
            raise Unsupported(f"table-version-{version}")
        case Verdict.REFUSED:
            detail = f"table version {version} is none of {sorted(OVERLAYS)}"
            raise Rejection(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", "hoodie.properties", detail)
