"""Tables for the tests of checks: a base file, and what else a timeline or a history says."""

from collections.abc import Iterable
from dataclasses import replace

from hudi_model.actions import (
    Action,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Content,
    SavepointMetadata,
    TimelineEntry,
)
from hudi_model.files import BaseFile, LogFile
from hudi_model.history import history_file
from hudi_model.tables import ArchivedInstant, History, Manifest, Table
from hudi_model_tools.violations import violations
from model_states import GROUP, PARTITION, at, base, entry, properties, table

ROW = ("a", 1, "x")
FIRST = base(1, ROW)
PLACE = f"{PARTITION}/{FIRST.name}"


def violations_of(state: Table) -> set[tuple[str, str]]:
    return {(one.clause, one.severity.value) for one in violations(state)}


def with_files(timeline: Iterable[tuple[TimelineEntry, ...]], *files: BaseFile | LogFile, **settings: str) -> Table:
    return table(timeline, files, {**properties(), **{f"hoodie.{key}": one for key, one in settings.items()}})


def waiting(number: float, action: str, content: Content) -> tuple[TimelineEntry, ...]:
    return (entry(number, action, "REQUESTED", content=content),)


def done(number: float, action: str, content: Content) -> tuple[TimelineEntry, ...]:
    return (
        entry(number, action, "REQUESTED"),
        entry(number, action, "INFLIGHT"),
        entry(number, action, "COMPLETED", number + 0.5, content),
    )


def saved(number: float, *names: str) -> tuple[TimelineEntry, ...]:
    kept = SavepointMetadata(frozenset((PARTITION, name) for name in names))
    return entry(number, "savepoint", "INFLIGHT"), entry(number, "savepoint", "COMPLETED", number + 9, kept)


def planned(*names: str, base_file: str | None = None) -> CompactionPlan:
    return CompactionPlan((CompactionOperation(PARTITION, GROUP, at(1), base_file, names),))


def archived(number: float, content: Content = None, action: str = "commit") -> ArchivedInstant:
    return ArchivedInstant(at(number), at(number + 0.5), Action(action), content or CommitMetadata())


def with_history(state: Table, *rows: ArchivedInstant) -> Table:
    file = history_file(rows, 0)
    return replace(state, history=History((file,), (Manifest(1, (file.name,)),), 1))
