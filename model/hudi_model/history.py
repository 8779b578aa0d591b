"""The timeline's history: what archival moved off the active timeline, as a log-structured merge tree of files."""

from dataclasses import dataclass

from hudi_model.actions import Action
from hudi_model.contents import Content
from hudi_model.time import InstantTime


@dataclass(frozen=True, slots=True)
class ArchivedInstant:
    """One completed action in the history: what it did, and the plan it had."""

    requested: InstantTime
    completed: InstantTime | None
    action: Action
    metadata: Content
    plan: Content = None


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """One file of the history, its instants by requested time; level 0 holds the youngest."""

    name: str
    level: int
    instants: tuple[ArchivedInstant, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files that make up the history as of one version of it."""

    version: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class History:
    """Files and manifests in storage, and the version that readers follow; None before the first archival.

    Before version 8 the archived log is one sequence of instants and needs no manifest.
    """

    files: tuple[HistoryFile, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    current: int | None = None
    archived_log: tuple[ArchivedInstant, ...] = ()
