"""Traces: what processes did to a table, line by line, held to the orders that every sound behaviour keeps.

A line is {"process": ..., "effect": ..., and the parameters that specs/effects.toml names}.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.timeline import DATA_ACTIONS, completed_action
from hudi_model.transitions import is_legal_move

Line: TypeAlias = Mapping[str, str]
Complaint: TypeAlias = tuple[bool, str, str]
"""Whether it applies, what is wrong, what could have stood there."""
UNDOING = frozenset({Action.ROLLBACK, Action.RESTORE})
PLANNED = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT})
"""What whoever comes may begin anew after a dead attempt; before version 8 a clustering is told as a replacecommit."""
FILED = DATA_ACTIONS | UNDOING | {Action.CLEAN}
"""The actions that change which files there are: the metadata table has them before they complete."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first line that no behaviour explains, counted from 1; what is wrong, and what could have stood there."""

    number: int
    line: Line
    wrong: str
    allowed: str


@dataclass(frozen=True, slots=True)
class Known:
    """An action as the lines so far have it: its name, who moved it last, the states that have a file."""

    action: Action
    process: str
    states: frozenset[State]

    @property
    def state(self) -> State:
        """The highest."""
        return max(self.states)


@dataclass(frozen=True, slots=True)
class Past:
    """What the lines so far amount to."""

    holder: str = ""
    latest: str = ""
    """The greatest time that was generated, and what its holder generated since it took the lock."""
    within: str = ""
    times: Mapping[str, str] = field(default_factory=dict)
    """What each process generated last."""
    actions: Mapping[tuple[str, bool], Known] = field(default_factory=dict)
    """By requested time, savepoints apart."""
    seen: frozenset[tuple[str, ...]] = frozenset()
    """What else a later line builds on: markers, metadata commits, manifests, snapshots, a history in use."""

    def pending(self, requested: str) -> Known | None:
        """The action of a requested time, as long as it has not completed."""
        found = (self.actions.get((requested, saved)) for saved in (False, True))
        return next((one for one in found if one and one.state is not State.COMPLETED), None)


def accepts(trace: Iterable[Line], timeline: Iterable[TimelineEntry] = ()) -> Refusal | None:
    """The first line that no behaviour explains, or None; `timeline` is what the table had before.

    Clauses: TM-003, TM-005, TL-003, TL-006, TL-013.
    """
    past, number = Past(), 0
    for entry in timeline:
        past = moved(past, entry.requested, Known(entry.action, "", frozenset({entry.state})))
    for line in trace:
        number += 1
        for applies, wrong, allowed in complaints(past, line):
            if applies:
                return Refusal(number, line, wrong, allowed)
        past = after(past, line)
    return None if number else Refusal(1, {}, "the trace is empty", "at least one line")


def moved(past: Past, requested: str, known: Known) -> Past:
    """The past with an action in one more state."""
    place = requested, known.action is Action.SAVEPOINT
    states = known.states | (past.actions[place].states if place in past.actions else frozenset())
    return replace(past, actions={**past.actions, place: replace(known, states=states)})


def complaints(past: Past, line: Line) -> Iterator[Complaint]:  # noqa: C901 - one case for each effect
    """What may be wrong with a line.

    Clauses: TM-003, TM-005, MK-001, HS-003, RD-001.
    """
    process, requested = line["process"], line.get("requested", "")
    known = past.pending(requested)
    owned = undoes(past, process) or (known is not None and known.process == process)
    match line["effect"]:
        case "take_lock":
            yield past.holder != "", f"{past.holder} holds the lock", "waiting until the lock is released"
        case "release_lock":
            yield past.holder != line["holder"], f"{line['holder']} does not hold the lock", "nothing to release"
        case "generate_time":
            yield line["time"] <= past.latest, f"{past.latest} was generated before", f"a time after {past.latest}"
        case "create_instant":
            yield from creation_complaints(past, line)
        case "delete_instant":
            yield from deletion_complaints(past, line, owned=owned)
        case "put_marker" | "put_partition_metafile" | "put_base_file" | "put_log_file" | "delete_data_file":
            yield (
                known is None,
                f"{requested} is not pending",
                "files of an action that is on the timeline, not completed",
            )
            marker = ("marker", requested, line["partition"], line.get("file", ""))
            unmarked = line["effect"] in ("put_base_file", "put_log_file") and marker not in past.seen
            is_write = known is not None and completed_action(known.action) in DATA_ACTIONS
            yield unmarked and is_write, "no marker announces the file", f"put_marker of {line.get('file')}"
        case "delete_markers":
            stays_planned = known is not None and known.action in PLANNED
            taken = bool(known) and not (owned or stays_planned)
            yield taken, f"{requested} is pending", "its completion, its abort or its rollback"
        case "commit_metadata_table":
            yield known is None, f"{requested} is not pending", "the metadata of an action before it completes"
            yield past.holder != process, f"{process} does not hold the lock", "take_lock"
        case "swap_version":
            yield (
                ("manifest", line["version"]) not in past.seen,
                "no such manifest",
                f"put_manifest of {line['version']}",
            )
        case "read_slice":
            yield ("snapshot", process) not in past.seen, "the reader has no snapshot", "pick_snapshot"


def undoes(past: Past, process: str) -> bool:
    """Whether a process has a rollback or a restore of its own, or one is pending that anybody may carry out.

    Clauses: RB-004.
    """
    undoing = [one for one in past.actions.values() if one.action in UNDOING]
    return any(one.process == process or one.state is not State.COMPLETED for one in undoing)


def creation_complaints(past: Past, line: Line) -> Iterator[Complaint]:
    """What may be wrong with a timeline file that appears.

    Clauses: TL-003, TL-006, TL-013, OW-004.
    """
    action, state, requested = Action(line["action"]), State[line["state"]], line["requested"]
    before = past.actions.get((requested, action is Action.SAVEPOINT))
    told = f"{requested} is {before.action} {before.state.name}" if before else f"{requested} is not on the timeline"
    yield not is_legal_move(action, before.state if before else None, state), told, "a legal next state"
    same = before is None or completed_action(before.action) is completed_action(action)
    yield not same, told, "a state of the same action"
    done = state is State.COMPLETED
    yield done and action is not completed_action(action), told, f"completion as {completed_action(action)}"
    asked = before is None and action is not Action.SAVEPOINT
    given = past.times.get(line["process"], "no time")
    yield asked and requested != given, f"the process generated {given} last", f"requested {given}"
    locked = done or (asked and action not in DATA_ACTIONS)
    yield locked and past.holder != line["process"], f"{line['process']} does not hold the lock", "take_lock"
    late = done and line.get("completed", past.within) != past.within
    yield late, "the completion time was not generated under this lock", "generate_time, then completion"
    lacks = done and action in FILED and ("metadata",) in past.seen and ("metadata", requested) not in past.seen
    yield lacks, "the metadata table lacks the action", "commit_metadata_table"


def deletion_complaints(past: Past, line: Line, *, owned: bool) -> Iterator[Complaint]:
    """What may be wrong with a timeline file that disappears.

    Clauses: RB-009, AR-011.
    """
    saved, state, requested = line["action"] == Action.SAVEPOINT, State[line["state"]], line["requested"]
    known = past.actions.get((requested, saved))
    states = known.states if known else frozenset()
    yield state not in states, f"{requested} has no such file", "a file that is there"
    waits, back = State.COMPLETED not in states, state is State.INFLIGHT and State.REQUESTED in states
    yield waits and not owned and not back, f"{requested} is pending", "its abort, or its rollback first"
    free = saved or ("history",) in past.seen or undoes(past, line["process"])
    yield not waits and not free, f"{requested} has completed", "its archival or a restore first"


def after(past: Past, line: Line) -> Past:
    """The past with a line that is in order."""
    process, requested = line["process"], line.get("requested", "")
    match line["effect"]:
        case "take_lock" | "release_lock" as effect:
            return replace(past, holder=line["holder"] if effect == "take_lock" else "", within="")
        case "generate_time":
            within = line["time"] if past.holder == process else past.within
            return replace(past, latest=line["time"], within=within, times={**past.times, process: line["time"]})
        case "create_instant":
            return moved(past, requested, Known(Action(line["action"]), process, frozenset({State[line["state"]]})))
        case "delete_instant":
            place = requested, line["action"] == Action.SAVEPOINT
            left = replace(past.actions[place], states=past.actions[place].states - {State[line["state"]]})
            rest = {key: one for key, one in past.actions.items() if key != place}
            return replace(past, actions={**rest, place: left} if left.states else rest)
    return replace(past, seen=past.seen | set(built_on(line)))


def built_on(line: Line) -> tuple[tuple[str, ...], ...]:
    """What a line leaves for later lines to build on."""
    match line["effect"]:
        case "put_marker":
            return (("marker", line["requested"], line["partition"], line["file"]),)
        case "commit_metadata_table":
            return ("metadata",), ("metadata", line["requested"])
        case "put_manifest":
            return (("manifest", line["version"]),)
        case "swap_version" | "append_archived_log":
            return (("history",),)
        case "pick_snapshot":
            return (("snapshot", line["process"]),)
    return ()
