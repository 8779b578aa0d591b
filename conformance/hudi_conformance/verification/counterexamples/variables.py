"""What a state of a TLA+ module says of the timeline, the lock and the processes.

The modules call the timeline `timeline`, or `files` where there are no others; who holds the lock `lock`; and how far
the processes have come `step`, or `processes`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hudi_model.time import tick

from hudi_conformance.verification.tla.expressions import Function, Value

STATES = ("REQUESTED", "INFLIGHT", "COMPLETED")
NOBODY = ("nobody", "none", "")


def instants_of(values: Mapping[str, Value]) -> tuple[Mapping[str, Any], ...]:
    """The instants of the timeline, each in the highest state that one of its files records."""
    found = next((files for name in ("timeline", "files") if (files := _records(values.get(name, 0)))), ())
    by_instant: dict[str, list[Mapping[Any, Value]]] = {}
    for one in found:
        by_instant.setdefault(_time(one["requested"]), []).append(one)
    return tuple(_instant(requested, files) for requested, files in sorted(by_instant.items()))


def _records(value: Value) -> tuple[Mapping[Any, Value], ...]:
    """The files of a timeline, where the value is a set of them."""
    members = value if isinstance(value, frozenset) else ()
    records = tuple(one.mapping() for one in members if isinstance(one, Function))
    return tuple(one for one in records if {"requested", "action", "state"} <= one.keys())


def _instant(requested: str, files: Iterable[Mapping[Any, Value]]) -> Mapping[str, Any]:
    highest = max(files, key=lambda one: STATES.index(str(one["state"])) if one["state"] in STATES else -1)
    completed = _time(highest["completed"]) if highest.get("completed") else None
    return {
        "requested": requested,
        "completed": completed,
        "action": str(highest["action"]),
        "state": str(highest["state"]),
    }


def _time(value: Value) -> str:
    """A tick as the time that the model calls so."""
    return tick(value) if isinstance(value, int) else str(value)


def holder_of(values: Mapping[str, Value]) -> str:
    """Who holds the lock."""
    holder = values.get("lock")
    return holder if isinstance(holder, str) and holder not in NOBODY else ""


def processes_of(values: Mapping[str, Value]) -> tuple[str, ...]:
    """The names of the processes."""
    for name in ("step", "processes"):
        value = values.get(name)
        if isinstance(value, Function):
            return tuple(sorted(str(key) for key, _ in value.pairs))
    return ()


def who_moved(before: Mapping[str, Value], after: Mapping[str, Value], processes: Iterable[str]) -> str:
    """The process of which something has changed, or who has the lock or had it; nobody where that is not one."""
    known = frozenset(processes)
    moved = {who for name in after for who in _changed(before.get(name, 0), after[name], known)}
    holders = {holder_of(before), holder_of(after)} - {""} if holder_of(before) != holder_of(after) else set()
    return next((one.pop() for one in (moved, moved & holders, holders) if len(one) == 1), "")


def word_of(who: str, values: Mapping[str, Value]) -> str:
    """The word for how far a process has come; none where the module has none."""
    step = values.get("step")
    return str(step.mapping().get(who, "")) if isinstance(step, Function) else ""


def _changed(before: Value, after: Value, processes: frozenset[str]) -> Iterator[str]:
    """The processes for which a variable that is a function of them changes."""
    if not isinstance(before, Function) or not isinstance(after, Function):
        return
    old, new = before.mapping(), after.mapping()
    if new and processes.issuperset(map(str, new)):
        yield from (str(key) for key in new if old.get(key) != new[key])
