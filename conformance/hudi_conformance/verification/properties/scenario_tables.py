"""Copy-on-write tables built event by event, and what a crash leaves of them: for properties about the timeline."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from hudi_model.actions import (
    Action,
    CleanMetadata,
    CommitMetadata,
    Content,
    RollbackMetadata,
    RollbackPlan,
    SavepointMetadata,
    State,
    TimelineEntry,
    WriteStat,
)
from hudi_model.effects import Effects, base_file_name, perform, timeline_file_name
from hudi_model.files import BaseFile, Field, Marker, Record, Schema
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import COMPLETES_AS

SETTINGS = {
    "hoodie.keep.max.commits": "3",
    "hoodie.keep.min.commits": "2",
    "hoodie.timeline.compaction.batch.size": "2",
    "hoodie.clean.policy": "KEEP_LATEST_COMMITS",
    "hoodie.clean.commits.retained": "1",
}
GROUPS = 6
BEYOND = {**SETTINGS, "hoodie.archive.beyond.savepoint": "true"}
BY_VERSIONS = {**SETTINGS, "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS"}
SCHEMA = Schema((Field("id", "string"), Field("note", "string")))
SCENARIOS = ("wwwwww", "wwpwwww", "wwcwwwcw", "wwfwwww", "wzwwwww", "wRwwwww", "wwRcwwww", "wwswwww", "wwwkwwwwww")
"""w write, p pending write, c clean, f write that was rolled back, z the same with a file left behind,
R write that replaces a group, s savepoint of the last write, k compaction."""


@dataclass(slots=True)
class TableBuilder:
    """A copy-on-write table built event by event; groups are written in turn."""

    version: int
    entries: list[TimelineEntry]
    files: list[BaseFile]
    clock: int = 0
    group: int = -1

    def now(self) -> InstantTime:
        """The next time."""
        self.clock += 1
        return tick(self.clock)

    def enter(self, requested: InstantTime, action: Action, state: State, content: Content = None) -> None:
        """A file of the timeline."""
        name = COMPLETES_AS.get(action, action) if state is State.COMPLETED else action
        completed = self.now() if state is State.COMPLETED and self.version >= 8 else None
        layout = 2 if self.version >= 8 else 1
        full_name = timeline_file_name(requested, name, state, completed, layout)
        self.entries.append(TimelineEntry(requested, name, state, completed, content, full_name))

    def put(self, requested: InstantTime) -> BaseFile:
        """A base file of the next group."""
        self.group = (self.group + 1) % GROUPS
        file_id = f"group-{self.group}"
        record = Record(
            {"_hoodie_commit_time": requested, "_hoodie_record_key": file_id, "id": file_id, "note": requested}
        )
        name = base_file_name(file_id, "0-1-0", requested)
        self.files.append(BaseFile("", file_id, "0-1-0", requested, "parquet", name, (record,)))
        return self.files[-1]

    def write(self, action: Action = Action.COMMIT, *, replaces: bool = False, kind: str = "done") -> None:
        """A write, which completes by default."""
        requested = self.now()
        self.enter(
            requested, action, State.REQUESTED, RollbackPlan(requested, "plan") if action in COMPLETES_AS else None
        )
        self.enter(requested, action, State.INFLIGHT)
        file = self.put(requested)
        if replaces:
            file = replace(file, file_id="other", name=base_file_name("other", "0-1-0", requested))
            self.files[-1] = file
        if kind == "done":
            replaced = frozenset({("", "group-0")} if replaces else ())
            stat = WriteStat("", file.file_id, file.name)
            self.enter(
                requested, action, State.COMPLETED, CommitMetadata("UPSERT", False, (stat,), replaced, SCHEMA, {})
            )

    def rolled_back(self, *, leftover: bool) -> None:
        """A write that failed and was rolled back, perhaps not in whole."""
        self.write(kind="failed")
        target, started = self.entries[-1].requested, self.now()
        self.entries = [one for one in self.entries if one.requested != target]
        if not leftover:
            self.files.pop()
        self.enter(started, Action.ROLLBACK, State.REQUESTED, RollbackPlan(target, "commit"))
        self.enter(started, Action.ROLLBACK, State.INFLIGHT)
        self.enter(started, Action.ROLLBACK, State.COMPLETED, RollbackMetadata((target,)))

    def clean(self) -> None:
        """A clean that leaves the newest base file of each group that was not replaced."""
        newest = {one.file_id: one for one in self.files}
        replaced = {file_id for one in self.entries for file_id in _replaced(one)}
        gone = [one for one in self.files if newest[one.file_id] is not one or one.file_id in replaced]
        self.files = [one for one in self.files if one not in gone]
        started = self.now()
        self.enter(started, Action.CLEAN, State.REQUESTED)
        self.enter(started, Action.CLEAN, State.INFLIGHT)
        done = CleanMetadata(None, frozenset(("", one.name) for one in gone))
        self.enter(started, Action.CLEAN, State.COMPLETED, done)

    def save(self) -> None:
        """A savepoint of the last completed action."""
        saved = max(one.requested for one in self.entries if one.state is State.COMPLETED)
        self.enter(saved, Action.SAVEPOINT, State.INFLIGHT)
        self.enter(saved, Action.SAVEPOINT, State.COMPLETED, SavepointMetadata(frozenset()))

    def add_event(self, event: str) -> None:
        """What a letter of a scenario stands for."""
        match event:
            case "p":
                self.write(kind="pending")
            case "f" | "z":
                self.rolled_back(leftover=event == "z")
            case "R":
                self.write(Action.REPLACE_COMMIT, replaces=True)
            case "c":
                self.clean()
            case "s":
                self.save()
            case _:
                self.write(Action.COMPACTION if event == "k" else Action.COMMIT)

    def table(self) -> Table:
        """The table so far."""
        layout = {"hoodie.table.name": "t", "hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.recordkey.fields": "id"}
        properties = {**layout, "hoodie.table.version": str(self.version)}
        markers = frozenset(Marker(one.requested, "", "a", "CREATE") for one in self.entries[:1])
        return Table(properties, None, tuple(self.entries), tuple(self.files), (), markers=markers)


def _replaced(entry: TimelineEntry) -> Iterator[str]:
    if isinstance(entry.content, CommitMetadata):
        yield from (file_id for _, file_id in entry.content.replaced)


@cache
def table_of_events(events: str, version: int = 9) -> Table:
    """The table to which the events of a scenario happened."""
    builder = TableBuilder(version, [], [])
    for event in events:
        builder.add_event(event)
    return builder.table()


def grown(table: Table, events: str) -> Table:
    """The table after more events; `events` distinguishes it from its beginning."""
    before, after = table_of_events(events[:-2], version_of(table)), table_of_events(events, version_of(table))
    fresh = after.timeline[len(before.timeline) :]
    return replace(table, timeline=(*table.timeline, *fresh), base_files=after.base_files)


def version_of(table: Table) -> int:
    """The table's version."""
    return int(table.properties["hoodie.table.version"]) if isinstance(table.properties, Mapping) else 0


def layout_of(table: Table) -> int:
    """The layout of the table's timeline."""
    return open_table(table).configuration.rules.timeline_layout


def stages(table: Table, effects: Effects) -> Iterator[tuple[int, Table]]:
    """The table after each prefix of effects: what a crash leaves."""
    yield 0, table
    for number, effect in enumerate(effects, start=1):
        table = perform(table, (effect,))
        yield number, table


def scenario_tables() -> Iterator[Table]:
    """Every scenario, in two versions."""
    for events, version in product(SCENARIOS, (9, 6)):
        yield table_of_events(events, version)


def steps_of(effects: Effects, number: int) -> tuple[str, ...]:
    """Effects in words, with a crash after the first so many."""
    names = [f"{type(one).__name__} {getattr(one, 'name', '')}".strip() for one in effects]
    return (*names[:number], "-- crash --", *names[number:]) if number < len(names) else tuple(names)
