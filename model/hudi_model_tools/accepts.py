"""Traces: what processes did to a table, line by line, held to the orders that every sound behaviour keeps.

A line is {"process": ..., "effect": ..., and the parameters that specs/effects.toml names}.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.timeline import DATA_ACTIONS, completed_action

from hudi_model_tools.transitions import is_legal_move

Line: TypeAlias = Mapping[str, str]
Complaint: TypeAlias = tuple[bool, str, str]
"""Whether it applies, what is wrong, what could have stood there."""
ROLLBACK_ACTIONS = frozenset({Action.ROLLBACK, Action.RESTORE})
PLANNED = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT})
"""What any worker may begin anew after a failed attempt; before version 8 a clustering is a replacecommit."""
FILED = DATA_ACTIONS | {Action.ROLLBACK, Action.CLEAN}
"""What changes which files there are: the metadata table has it before it completes; a restore may drop that table."""
BOUNDS = re.compile(r"(\d+)_(\d+)_\d+\.parquet")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first line that no behaviour explains, counted from 1; what is wrong, and what could have stood there."""

    number: int
    line: Line
    wrong: str
    allowed: str


@dataclass(frozen=True, slots=True)
class Known:
    """An action as the lines so far have it: of each state that has a file its name, and who put it there."""

    files: Mapping[State, tuple[Action, str]]

    @property
    def state(self) -> State:
        """The highest."""
        return max(self.files)

    @property
    def action(self) -> Action:
        """As the highest state calls it."""
        return self.files[self.state][0]

    def is_of(self, process: str) -> bool:
        """Whether a process has put one of its files."""
        return any(maker == process for _, maker in self.files.values())


@dataclass(frozen=True, slots=True)
class Archive:
    """The history by the bounds of its files: those that no manifest names yet, those of the next one, the current.

    `version`: the current manifest's; `following`: the one that is not current yet. `logged`: how many actions the log
    of old versions holds that have not left.
    """

    unnamed: frozenset[tuple[str, str]] = frozenset()
    named: frozenset[tuple[str, str]] = frozenset()
    current: frozenset[tuple[str, str]] = frozenset()
    version: int = 0
    following: int = 0
    logged: int = 0

    def holds(self, requested: str) -> bool:
        """Whether an action may be in it.

        Clauses: HS-005, HS-010.
        """
        return self.logged > 0 or any(first <= requested <= last for first, last in self.current)


@dataclass(frozen=True, slots=True)
class Past:
    """What the lines so far amount to."""

    holder: str = ""
    latest: str = ""
    """The greatest time that was generated, and what its holder generated since it took the lock."""
    within: str = ""
    times: Mapping[str, str] = field(default_factory=dict)
    """What each process generated last and did not complete with."""
    actions: Mapping[tuple[str, bool], Known] = field(default_factory=dict)
    """By requested time, savepoints apart."""
    markers: frozenset[tuple[str, str, str]] = frozenset()
    indexed: frozenset[str] = frozenset()
    """The actions that the metadata table has."""
    archive: Archive = Archive()
    readers: frozenset[str] = frozenset()

    def pending(self, requested: str) -> Known | None:
        """The action of a requested time, as long as it has not completed; savepoints are none."""
        found = self.actions.get((requested, False))
        return found if found and found.state is not State.COMPLETED else None

    def rolls_back(self, *actions: Action) -> bool:
        """Whether one of some actions is on the timeline and has not completed: whoever finds it may carry it out.

        Clauses: RB-004.
        """
        found = (one for one in self.actions.values() if one.state is not State.COMPLETED)
        return any(one.action in actions for one in found)


def accepts(trace: Iterable[Line], timeline: Iterable[TimelineEntry] = ()) -> Refusal | None:
    """The first line that no behaviour explains, or None; `timeline` is what the table had before.

    Clauses: TM-003, TM-005, TL-003, TL-006, TL-013.
    """
    past, number = past_of(timeline), 0
    for line in trace:
        number += 1
        for applies, wrong, allowed in complaints(past, line):
            if applies:
                return Refusal(number, line, wrong, allowed)
        past = after(past, line)
    return None if number else Refusal(1, {}, "the trace is empty", "at least one line")


def past_of(timeline: Iterable[TimelineEntry]) -> Past:
    """What a timeline amounts to that was there before the first line."""
    past = Past()
    for entry in timeline:
        latest = max(past.latest, entry.requested, entry.completed or "")
        past = replace(moved(past, entry.requested, entry.action, entry.state, ""), latest=latest)
    return past


def moved(past: Past, requested: str, action: Action, state: State, process: str) -> Past:
    """The past with an action in one more state."""
    place = requested, action is Action.SAVEPOINT
    files = past.actions[place].files if place in past.actions else {}
    return replace(past, actions={**past.actions, place: Known({**files, state: (action, process)})})


def complaints(past: Past, line: Line) -> Iterator[Complaint]:  # noqa: C901 - one case for each effect
    """What may be wrong with a line.

    Clauses: TM-003, TM-005, LK-001, HS-003, RD-001.
    """
    process = line["process"]
    match line["effect"]:
        case "take_lock":
            yield past.holder != "", f"{past.holder} holds the lock", "waiting until the lock is released"
            yield line["holder"] != process, "a process takes the lock for itself", f"take_lock by {line['holder']}"
        case "release_lock":
            held = past.holder == line["holder"] == process
            yield not held, f"{line['holder']} does not hold the lock", "nothing to release"
        case "generate_time":
            yield line["time"] <= past.latest, f"{past.latest} was generated before", f"a time after {past.latest}"
        case "create_instant":
            yield from creation_complaints(past, line)
        case "delete_instant":
            yield from deletion_complaints(past, line)
        case "put_marker" | "put_partition_metafile" | "put_base_file" | "put_log_file" | "delete_data_file":
            yield from file_complaints(past, line)
        case "delete_markers":
            known = past.pending(line["requested"])
            free = (
                known is None or known.is_of(process) or known.action in PLANNED or past.rolls_back(*ROLLBACK_ACTIONS)
            )
            yield not free, f"{line['requested']} is pending", "its completion, its abort or its rollback"
        case "commit_metadata_table":
            absent = past.pending(line["requested"]) is None
            yield absent, f"{line['requested']} is not pending", "the metadata of an action before it completes"
            yield past.holder != process, f"{process} does not hold the lock", "take_lock"
        case "put_manifest":
            after_it = past.archive.version + 1
            other = past.archive.version != 0 and int(line["version"]) != after_it
            yield other, f"the current manifest is {past.archive.version}", f"put_manifest of {after_it}"
        case "swap_version":
            other = int(line["version"]) != past.archive.following
            yield other, "no such manifest waits", f"put_manifest of {line['version']}"
        case "read_slice":
            yield process not in past.readers, "the reader has no snapshot", "pick_snapshot"


def file_complaints(past: Past, line: Line) -> Iterator[Complaint]:
    """What may be wrong with a file that appears or goes.

    Clauses: TL-026, MK-001.
    """
    requested = line["requested"]
    known = past.pending(requested)
    yield known is None, f"{requested} is not pending", "files of an action that is on the timeline, not completed"
    marker = (requested, line["partition"], line.get("file", ""))
    unmarked = line["effect"] in ("put_base_file", "put_log_file") and marker not in past.markers
    is_write = known is not None and completed_action(known.action) in DATA_ACTIONS
    yield unmarked and is_write, "no marker announces the file", f"put_marker of {line.get('file')}"


def creation_complaints(past: Past, line: Line) -> Iterator[Complaint]:
    """What may be wrong with a timeline file that appears.

    Clauses: TL-003, TL-006, TL-013, OW-004, SR-001.
    """
    action, state, requested = Action(line["action"]), State[line["state"]], line["requested"]
    before = past.actions.get((requested, action is Action.SAVEPOINT))
    present = f"{requested} is {before.action} {before.state.name}" if before else f"{requested} is not on the timeline"
    legal = is_legal_move(action, before.state if before else None, state)
    # Back to requested it goes as its inflight file disappears.
    again = before is not None and state is State.REQUESTED
    yield not legal or again, present, "a legal next state"
    done = state is State.COMPLETED
    names = {name for name, _ in before.files.values()} if before else set()
    wanted = {completed_action(name) for name in names} if done else names
    yield bool(wanted) and wanted != {action}, present, f"{', '.join(sorted(wanted))} in the state"
    yield action is Action.SAVEPOINT and not is_saveable(past, requested), present, "a savepoint of a completed write"
    needs_request = before is None and action is not Action.SAVEPOINT
    given = past.times.get(line["process"], "no time")
    yield needs_request and requested != given, f"the process generated {given} last", f"requested {given}"
    locked = done or (needs_request and action not in DATA_ACTIONS)
    yield locked and past.holder != line["process"], f"{line['process']} does not hold the lock", "take_lock"
    late = done and line.get("completed", past.within) != past.within
    yield late, "the completion time was not generated under this lock", "generate_time, then completion"
    lacks = done and action in FILED and bool(past.indexed) and requested not in past.indexed
    yield lacks, "the metadata table lacks the action", "commit_metadata_table"


def is_saveable(past: Past, requested: str) -> bool:
    """Whether an action is a completed write of the active timeline.

    Clauses: SR-001.
    """
    known = past.actions.get((requested, False))
    return known is not None and known.state is State.COMPLETED and known.action in DATA_ACTIONS


def deletion_complaints(past: Past, line: Line) -> Iterator[Complaint]:
    """What may be wrong with a timeline file that disappears.

    Where several carry out one rollback, a file may be gone already, and the rollback may have completed.

    Clauses: RB-004, RB-005, RB-009, SR-003, SR-006, AR-010, AR-011.
    """
    saved, state, requested = line["action"] == Action.SAVEPOINT, State[line["state"]], line["requested"]
    known = past.actions.get((requested, saved))
    if known is None or state not in known.files:
        undone = any(one.action in ROLLBACK_ACTIONS for one in past.actions.values())
        yield not undone, f"{requested} has no such file", "a file that is there"
        return
    done = known.state is State.COMPLETED
    given_up = known.is_of(line["process"]) or (state is State.INFLIGHT and State.REQUESTED in known.files)
    free = saved or done or given_up or past.rolls_back(*ROLLBACK_ACTIONS)
    yield not free, f"{requested} is pending", "its abort, or its rollback first"
    archived = done and not saved and not may_undo(past, Action(line["action"]))
    yield (
        archived and not past.archive.holds(requested),
        f"{requested} has completed",
        "its archival or a restore first",
    )
    early = archived and state is State.COMPLETED and len(known.files) > 1
    yield early, f"{requested} would be pending again", "its earlier states first"
    lower = not archived and state is not known.state
    yield lower, f"{requested} is {known.state.name}", "the highest state first"


def may_undo(past: Past, action: Action) -> bool:
    """Whether a completed action may leave without being archived: undone by a restore, or a rollback that it removes.

    Clauses: RB-005, SR-006, SR-009.
    """
    restored = any(one.action is Action.RESTORE for one in past.actions.values())
    return past.rolls_back(Action.RESTORE) or (action is Action.ROLLBACK and restored)


def after(past: Past, line: Line) -> Past:  # noqa: PLR0911 - one for each effect that later lines build on
    """The past with a line that is in order."""
    process, requested = line["process"], line.get("requested", "")
    match line["effect"]:
        case "take_lock" | "release_lock" as effect:
            return replace(past, holder=line["holder"] if effect == "take_lock" else "", within="")
        case "generate_time":
            within = line["time"] if past.holder == process else past.within
            return replace(past, latest=line["time"], within=within, times={**past.times, process: line["time"]})
        case "create_instant":
            return created(past, line)
        case "delete_instant":
            return deleted(past, line)
        case "put_marker":
            return replace(past, markers=past.markers | {(requested, line["partition"], line["file"])})
        case "delete_markers":
            return replace(past, markers=frozenset(one for one in past.markers if one[0] != requested))
        case "commit_metadata_table":
            return replace(past, indexed=past.indexed | {requested})
        case "pick_snapshot":
            return replace(past, readers=past.readers | {process})
    return replace(past, archive=archived_further(past.archive, line))


def created(past: Past, line: Line) -> Past:
    """The past with one more timeline file: a time of completion is used up, a restore may drop the metadata table.

    Clauses: TL-012, SR-012.
    """
    action, state = Action(line["action"]), State[line["state"]]
    past = moved(past, line["requested"], action, state, line["process"])
    if line.get("completed"):
        times = {name: one for name, one in past.times.items() if name != line["process"]}
        past = replace(past, times=times, within="" if past.holder == line["process"] else past.within)
    restored = action is Action.RESTORE and state is State.COMPLETED
    return replace(past, indexed=frozenset()) if restored else past


def deleted(past: Past, line: Line) -> Past:
    """The past with one timeline file less, if it was there."""
    place, state = (line["requested"], line["action"] == Action.SAVEPOINT), State[line["state"]]
    if place not in past.actions or state not in past.actions[place].files:
        return past
    files = {one: files_of for one, files_of in past.actions[place].files.items() if one is not state}
    rest = {key: one for key, one in past.actions.items() if key != place}
    undone = place[1] or may_undo(past, Action(line["action"]))
    logged = past.archive.logged - (state is State.COMPLETED and not undone)
    kept = replace(past, archive=replace(past.archive, logged=max(0, logged)))
    return replace(kept, actions={**rest, place: Known(files)} if files else rest)


def archived_further(archive: Archive, line: Line) -> Archive:
    """The history with a line that changes it.

    Clauses: AR-010, HS-002, HS-003, HS-010.
    """
    match line["effect"]:
        case "put_history_file" if found := BOUNDS.fullmatch(line["file"]):
            return replace(archive, unnamed=archive.unnamed | {(found[1], found[2])})
        case "put_manifest":
            return replace(archive, named=archive.unnamed, following=int(line["version"]))
        case "swap_version":
            current, left = archive.current | archive.named, archive.unnamed - archive.named
            return Archive(unnamed=left, current=current, version=int(line["version"]), logged=archive.logged)
        case "append_archived_log":
            return replace(archive, logged=archive.logged + int(line["actions"]))
    return archive
