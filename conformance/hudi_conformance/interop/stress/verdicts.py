"""A stress run judged: its reads against the replay, its table at the end, its trace."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_adapter.rows import Rows

from hudi_conformance.bridge.loading import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.corpus.traces import check_trace
from hudi_conformance.interop.stress.records import Read, Record, Written
from hudi_conformance.interop.stress.replaying import Committed, Replay, replay
from hudi_conformance.interop.stress.settings import Setting
from hudi_conformance.runner.comparison import compare_rows


@dataclass(frozen=True, slots=True)
class StressVerdict:
    """What is wrong, and what was compared: `rows` are those that the table has at the end by the replay.

    `trace_lines`: how many of the trace are explained.
    """

    wrong: tuple[str, ...]
    committed: int
    reads: int
    trace_lines: int
    rows: Rows


def check_run(setting: Setting, record: Record, table: Path, trace: Path) -> StressVerdict:
    """Everything that a stress run at rest can be held to."""
    text = complete_trace(trace.read_text(encoding="utf-8"), record.killed)
    committed = committed_writes(setting, record, table, text)
    done = replay(setting, committed)
    wrong = [*record.wrong, *_promises(record, committed), *_reads(record, done), *_end(table, done)]
    fault = check_trace(text)
    if fault:
        wrong.append(f"trace: {fault}")
    lines = 0 if fault else text.count("\n")
    return StressVerdict(tuple(wrong), len(committed), len(record.reads), lines, done.last())


def committed_writes(setting: Setting, record: Record, table: Path, trace: str) -> tuple[Committed, ...]:
    """The writes that the timeline has as completed, in the order in which they completed."""
    known = {one.requested: one for one in record.written}
    listed = evaluate(load(table), "list_timeline", {"include_history": True}).content
    done = {one["requested"]: one for one in listed if one["state"] == "COMPLETED" and one["requested"] in known}
    if setting.has_completion_times:
        completed = {requested: str(one["completed"]) for requested, one in done.items()}
    else:
        completed = {requested: place for requested, place in completions(trace).items() if requested in done}
    times = sorted(completed.items(), key=lambda pair: pair[1])
    return tuple(Committed(known[requested], when) for requested, when in times)


def completions(trace: str) -> dict[str, str]:
    """When actions completed, as places in the trace: before version 8 no file that stays shows it."""
    lines_of_trace = [json.loads(line) for line in trace.splitlines()]
    made = ((place, one) for place, one in enumerate(lines_of_trace) if one["effect"] == "create_instant")
    return {one["requested"]: f"{place:020d}" for place, one in made if one["state"] == "COMPLETED"}


def _promises(record: Record, committed: Sequence[Committed]) -> Iterator[str]:
    """Every write that was answered as committed is there, and none that was refused."""
    there = {one.written.requested for one in committed}
    for one in record.written:
        if one.outcome == "committed" and one.requested not in there:
            yield f"{one.process} was informed that {one.requested} is committed, and it is not on the timeline"
        if one.outcome.startswith("refused") and one.requested in there:
            yield f"{one.process} was informed that {one.requested} is {one.outcome}, and it has completed"


def _reads(record: Record, done: Replay) -> Iterator[str]:
    for read in record.reads:
        first, last = _range(read, done)
        difference = _difference(read, done, range(first, last + 1))
        if difference:
            yield f"{read.op} {dict(read.params)} after {first} to {last} writes: {'; '.join(difference[:6])}"


def _difference(read: Read, done: Replay, numbers: Iterable[int]) -> tuple[str, ...]:
    """What sets a read apart from the answer after the fewest writes; nothing where it is one of the answers."""
    difference: tuple[str, ...] = ()
    for number in numbers:
        found = compare_rows(done.answer(number, read.op, read.params), read.rows)
        if not found:
            return ()
        difference = difference or tuple(found)
    return difference


def _range(read: Read, done: Replay) -> tuple[int, int]:
    """The numbers of writes after which the read may stand: those completed before it, up to those after it."""
    places = [one.written.requested for one in done.committed]
    before = [number for number, requested in enumerate(places, start=1) if requested in read.before]
    after = [number for number, requested in enumerate(places, start=1) if requested in read.after]
    return max(before, default=0), max(after, default=0)


def _end(table: Path, done: Replay) -> Iterator[str]:
    """The model reads the bytes that are there: the same rows as the replay, and no clause violated."""
    left = load(table)
    rows = evaluate(left, "read_snapshot", {}).content
    differences = compare_rows(done.last(), rows)
    if differences:
        yield f"the table at the end: {'; '.join(differences[:6])}"
    for one in evaluate(left, "check_table", {}).content:
        if one["severity"] == "error":
            yield f"check_table: {one['clause']} {one['where']}: {one['message']}"


def complete_trace(text: str, killed: Sequence[str]) -> str:
    """The trace, in which failed processes release their lock, as its provider sees to it."""
    lines: list[str] = []
    holder = ""
    for line in text.splitlines():
        effect = json.loads(line)
        if effect["effect"] == "take_lock" and holder in killed:
            lines.append(json.dumps({"process": holder, "effect": "release_lock", "holder": holder}))
        if effect["effect"] in {"take_lock", "release_lock"}:
            holder = effect["holder"] if effect["effect"] == "take_lock" else ""
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def describe_writes(written: Sequence[Written]) -> str:
    """How many writes ended how, in words."""
    outcomes: dict[str, int] = {}
    for one in written:
        outcomes[one.outcome] = outcomes.get(one.outcome, 0) + 1
    return ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
