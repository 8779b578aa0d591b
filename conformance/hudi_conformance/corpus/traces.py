"""Traces: the effects of processes as lines of JSON, in the words of specs/effects.toml."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

import jsonschema
from hudi_model.actions import TimelineEntry
from hudi_model.effects import (
    AppendArchivedLog,
    CommitMetadataTable,
    CreateInstant,
    DeleteDataFile,
    DeleteHistoryFile,
    DeleteInstant,
    DeleteMarkers,
    PutBaseFile,
    PutHistoryFile,
    PutLogFile,
    PutManifest,
    PutMarker,
    PutPartitionMetafile,
    SwapVersion,
    WriteHeartbeat,
)
from hudi_model.time import tick
from hudi_model_tools.accepts import Refusal, accepts
from hudi_model_tools.programs import Act, Unstored
from hudi_model_tools.protocol import Move, World

Line = dict[str, str]
SCHEMA = "trace_line.json"


def effect_name(act: Act) -> str:
    """An effect as traces call it."""
    return act.name if isinstance(act, Unstored) else snake_case(type(act).__name__)


def snake_case(name: str) -> str:
    """A class name as traces spell it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def lines_of(start: World, steps: Iterable[Move]) -> tuple[Line, ...]:
    """The trace of moves from a world on. Of a death and of a pause only the end of a lease shows, as a release."""
    lines: list[Line] = []
    for move in steps:
        lines += lines_of_move(start, move)
        start = move.world
    return tuple(lines)


def lines_of_move(before: World, move: Move) -> Iterator[Line]:
    """The lines of one move."""
    holder = before.shared.holder
    for act in move.acts:
        name = effect_name(act)
        if name == "pause" or (name == "release_lock" and holder != move.process.name):
            continue
        if name == "take_lock" and holder is not None:
            yield released(holder)
        holder = {"take_lock": move.process.name, "release_lock": None}.get(name, holder)
        yield {"process": move.process.name, "effect": name, **parameters(act, before, move)}
    if move.is_crash and holder == move.process.name:
        yield released(holder)


def released(holder: str) -> Line:
    """The lock is free again."""
    return {"process": holder, "effect": "release_lock", "holder": holder}


def parameters(act: Act, before: World, move: Move) -> Line:  # noqa: PLR0911, PLR0912, C901 - one line for each effect
    """The parameters of an effect."""
    name = move.process.name
    after = next(one.local.value for one in move.world.processes if one.name == name)
    match act:
        case Unstored("pick_snapshot", (upto,)):
            return {"upto": upto}
        case Unstored("read_slice", (partition, file_id, base_instant)):
            return {"partition": partition, "file_id": file_id, "base_instant": base_instant}
        case Unstored("generate_time"):
            return {"time": tick(move.world.shared.clock)}
        case Unstored():
            return {"holder": name}
        case CreateInstant(entry):
            return instant_line(entry)
        case DeleteInstant(file):
            there = (one for one in before.shared.table.value.timeline if one.name == file)
            return next(map(instant_line, there), None) or named_instant_line(file)
        case PutMarker(marker):
            line = {"requested": marker.instant, "partition": marker.partition}
            return {**line, "file": marker.name, "io_type": marker.kind}
        case DeleteMarkers(instant) | WriteHeartbeat(instant):
            return {"requested": instant}
        case PutBaseFile(file) | PutLogFile(file):
            return {"requested": after.instant, "partition": file.partition, "file": file.name}
        case DeleteDataFile(partition, file):
            return {"requested": after.instant, "partition": partition, "file": file}
        case PutPartitionMetafile(partition):
            return {"requested": after.instant, "partition": partition}
        case CommitMetadataTable():
            return {"requested": after.instant, "completed": tick(move.world.shared.clock)}
        case PutHistoryFile(file):
            return {"file": file.name, "level": str(file.level)}
        case DeleteHistoryFile(file):
            return {"file": file}
        case PutManifest(manifest):
            return {"version": str(manifest.version)}
        case SwapVersion(version):
            return {"version": str(version)}
        case AppendArchivedLog(rows):
            return {"actions": str(len(rows))}
    return {"file": "hoodie.properties"}


def instant_line(entry: TimelineEntry) -> Line:
    """A timeline file as traces tell of it."""
    line = {"action": entry.action.value, "state": entry.state.name, "requested": entry.requested}
    return line | ({"completed": entry.completed} if entry.completed else {})


def named_instant_line(file: str) -> Line:
    """The same by the name of the file, which may be gone already.

    Clauses: TL-007, TL-008, TL-009.
    """
    times, *words = file.split(".")
    requested, _, completed = times.partition("_")
    action, state = (words[0], "COMPLETED") if len(words) == 1 else (words[0], words[1].upper())
    if words == ["inflight"]:
        action, state = "commit", "INFLIGHT"
    line = {"action": action, "state": state, "requested": requested}
    return line | ({"completed": completed} if completed else {})


@cache
def schema() -> Mapping[str, Any]:
    """The JSON Schema of a line."""
    found: Mapping[str, Any] = json.loads(resources.files("hudi_adapter").joinpath(f"schemas/{SCHEMA}").read_text())
    return found


@cache
def validator_of(effect: str) -> jsonschema.Draft202012Validator:
    """The schema of the lines of one effect; of no line where there is no such effect."""
    found = next((one for one in schema()["oneOf"] if one["title"] == effect), False)
    return jsonschema.Draft202012Validator(found)


def fault_of_line(line: Any) -> str:
    """What is wrong with the form of a line."""
    if not isinstance(line, dict):
        return "a line is a JSON object"
    if validator_of(str(line.get("effect"))).is_valid(line):
        return ""
    known = any(one["title"] == line.get("effect") for one in schema()["oneOf"])
    error = next(validator_of(str(line.get("effect"))).iter_errors(line), None)
    return str(error.message) if known and error else f"there is no effect {line.get('effect')!r}"


class TraceError(ValueError):
    """A text is no trace."""


def read_trace(text: str) -> tuple[Line, ...]:
    """The lines of a trace.

    Raises:
        TraceError: one of them is no JSON, or not of the agreed form.

    """
    lines: list[Line] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise TraceError(f"line {number}: {error}") from error
        fault = fault_of_line(lines[-1])
        if fault:
            raise TraceError(f"line {number}: {fault}")
    return tuple(lines)


def check_trace(text: str) -> str:
    """What is wrong with a trace of JSON lines; the empty text where every line is explained."""
    try:
        refused = accepts(read_trace(text))
    except TraceError as error:
        return str(error)
    return describe_refusal(refused) if refused else ""


def describe_refusal(refused: Refusal) -> str:
    """A refusal in one sentence."""
    return f"line {refused.number}: {json.dumps(dict(refused.line))}: {refused.wrong}; allowed: {refused.allowed}"
