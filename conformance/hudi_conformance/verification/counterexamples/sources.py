"""Where behaviours come from: searches of the model, traces of TLC, ITF files of Apalache."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hudi_model.queries import list_timeline
from hudi_model.rejection import Rejection
from hudi_model.tables import Table
from hudi_model_tools.protocol import Move, World

from hudi_conformance.corpus.traces import lines_of_move
from hudi_conformance.verification.agreement.projecting import VARIABLES, Projection
from hudi_conformance.verification.counterexamples.behaviour import (
    Behaviour,
    Instants,
    Situation,
    Step,
    behaviour_of_states,
    changes,
)
from hudi_conformance.verification.properties.concurrency import is_lease, short
from hudi_conformance.verification.properties.registry import Counterexample
from hudi_conformance.verification.tla.expressions import ExpressionError, Function, Value, parse_value, show
from hudi_conformance.verification.tla.output import Finding

AGAIN = re.compile(r"and so on again: (\d+): Back to state")
SHOWN = ("clock", "lock", "timeline", "files", "markers", "heartbeats", "plans", "step")


class CounterexampleError(ValueError):
    """A file holds no counterexample that can be read."""


def of_moves(wrong: str, place: str, start: World, moves: Iterable[Move]) -> Behaviour:
    """The way that the explorer found, the state after each move in the variables of the TLA+ modules."""
    names = tuple(one.name for one in start.processes)
    projection = Projection((), names)
    steps, before = [], start
    known = values_of(projection, before)
    for move in moves:
        after = values_of(projection, move.world)
        what = tuple(
            short(line) for line in lines_of_move(before, move) if not (move.is_crash and is_lease(line, move))
        )
        steps.append(
            Step(move.process.name, what, situation_of_world(move.world, after), changes(known, after), move.is_crash)
        )
        before, known = move.world, after
    return Behaviour(
        wrong, place, "the explorer", names, situation_of_world(start, values_of(projection, start)), tuple(steps)
    )


def of_counterexample(found: Counterexample, place: str) -> Behaviour:
    """What a property found: its moves, or its words where there are none."""
    if found.way:
        return of_moves(found.message, place, *found.way)
    return of_words(found.message, place, found.steps, found.table)


def of_words(wrong: str, place: str, words: Sequence[str], table: Table | None) -> Behaviour:
    """A counterexample of which no states but the last are known."""
    last = Situation(instants_of_table(table)) if table is not None else Situation()
    *lines, end = words or ("",)
    steps = (*(Step("", (one,), Situation()) for one in lines), Step("", (end,), last))
    return Behaviour(wrong, place, "a search", (), Situation(), steps)


def values_of(projection: Projection, world: World) -> Mapping[str, Value]:
    """A world in the variables of the modules, those left out for which they have no word."""
    found: dict[str, Value] = {}
    for name in SHOWN:
        try:
            found[name] = VARIABLES[name](projection, world)
        except (KeyError, ValueError, AssertionError):
            continue
    return found


def situation_of_world(world: World, values: Mapping[str, Value]) -> Situation:
    """A state of the model."""
    variables = tuple((name, show(value)) for name, value in values.items())
    return Situation(instants_of_table(world.shared.table.value), world.shared.holder or "", variables)


def instants_of_table(table: Table) -> Instants:
    """The timeline of a table; none where it cannot be read."""
    try:
        return tuple(list_timeline(table))
    except Rejection:
        return ()


def of_finding(finding: Finding, place: str) -> Behaviour | None:
    """What TLC printed; None where it printed no states."""
    if not finding.trace:
        return None
    states = [(led_by(step.action), _parsed(dict(step.values))) for step in finding.trace]
    return behaviour_of_states(f"{finding.violated} is violated", place, "TLC", states)


def led_by(words: str) -> str:
    """What led to a state; of a way that goes round, the step after which it begins anew (TLC counts states)."""
    again = AGAIN.search(words)
    return f"and so on again, as after step {int(again[1]) - 1}" if again else words


def _parsed(texts: Mapping[str, str]) -> dict[str, Value]:
    """Values as far as they can be read; what cannot stays the text that it is."""
    found: dict[str, Value] = {}
    for name, text in texts.items():
        try:
            found[name] = parse_value(text)
        except ExpressionError:
            found[name] = text
    return found


def of_itf(file: Path, violated: str = "an invariant") -> Behaviour:
    """The counterexample in a file of the Informal Trace Format, which does not say what it violates.

    Raises:
        CounterexampleError: the file cannot be read, or holds no states; or itf-py is not installed.

    """
    try:
        from itf_py import trace_from_json  # noqa: PLC0415 - of the extra that checks the modules
    except ImportError as error:
        raise CounterexampleError("itf-py is not installed: it comes with the extra hudi-conformance[dev]") from error
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        trace = trace_from_json(document)
        states = [(_action(one.meta), _values(one.values)) for one in trace.states]
    except OSError as error:
        raise CounterexampleError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CounterexampleError(f"{file.name} is no trace in the Informal Trace Format: {error!r}") from error
    if not states:
        raise CounterexampleError(f"{file.name} holds no state")
    return behaviour_of_states(f"{violated} is violated", file.name, "Apalache", states)


def _action(meta: Mapping[str, Any]) -> str:
    """What led to a state, where the writer of the trace states it."""
    return str(meta.get("action", ""))


def _values(values: Mapping[str, Any]) -> dict[str, Value]:
    return {name: of_python(value) for name, value in values.items()}


def of_python(value: Any) -> Value:
    """A value of itf-py as the project holds values of TLA+."""
    match value:
        case bool() | int() | str():
            return value
        case frozenset():
            return frozenset(map(of_python, value))
        case Mapping():
            return Function(frozenset((of_python(key), of_python(one)) for key, one in value.items()))
        case tuple() if hasattr(value, "_asdict"):
            return Function(frozenset((key, of_python(one)) for key, one in value._asdict().items()))
        case list() | tuple():
            return tuple(map(of_python, value))
    return str(value)
