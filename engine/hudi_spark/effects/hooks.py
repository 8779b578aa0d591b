"""What may happen around a durable effect: a trace line after it, a scheduler before it."""

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

EffectName = str
"""A name of the vocabulary of effects: `create_instant`, `put_base_file`, ..."""

KILL_AT_VARIABLE: Final = "HUDI_SPARK_KILL_AT_EFFECT"
STOP_AT_VARIABLE: Final = "HUDI_SPARK_STOP_AT_EFFECT"
STOP_AFTER_VARIABLE: Final = "HUDI_SPARK_STOP_AFTER_EFFECT"
TRACE_VARIABLE: Final = "HUDI_SPARK_TRACE"
PROCESS_VARIABLE: Final = "HUDI_SPARK_TRACE_PROCESS"


@dataclass(frozen=True, slots=True)
class Effect:
    """One durable effect: its name, its parameters, and below which folder it happens (empty: the data table)."""

    name: EffectName
    parameters: Mapping[str, str] = field(hash=False)
    folder: str = ""

    def __str__(self) -> str:
        where = f" in {self.folder}" if self.folder else ""
        return f"{self.name}{where} {json.dumps(dict(self.parameters), sort_keys=True)}"


class Hook(Protocol):
    """Called around every effect; may raise, wait or end the process."""

    def before(self, effect: Effect) -> None:
        """The effect is about to happen."""

    def after(self, effect: Effect) -> None:
        """The effect has happened."""


@dataclass(frozen=True, slots=True)
class NoHook:
    """Nothing happens around effects."""

    def before(self, effect: Effect) -> None:
        """Nothing."""

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """Appends a line of JSON for each effect on the data table; tasks on other hosts append to a file of theirs.

    Effects inside the metadata table are parts of `commit_metadata_table`, which has a line of its own.
    """

    path: str
    process: str = "writer"

    def before(self, effect: Effect) -> None:
        """Nothing."""

    def after(self, effect: Effect) -> None:
        """Append the line in one write, so that lines of several processes never mix."""
        if effect.folder:
            return
        # Who holds a lock is a process; its threads and actions take turns inside it.
        holder = {"holder": self.process} if "holder" in effect.parameters else {}
        told = {"process": self.process, "effect": effect.name, **effect.parameters, **holder}
        line = json.dumps(told, ensure_ascii=False)
        with Path(self.path).open("ab", buffering=0) as stream:
            stream.write(line.encode() + b"\n")


@dataclass(slots=True)
class KillAt:
    """Ends this process, as `kill -9` does, before the effect of a number (from 0) happens."""

    number: int
    seen: int = 0

    def before(self, effect: Effect) -> None:  # noqa: ARG002 - the number decides
        """Count, and die at the number."""
        if self.seen == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen += 1

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass(slots=True)
class StopAt:
    """Stops this process, as `kill -STOP` does, before the effect of a number (from 0), or right after it."""

    number: int
    after_it: bool = False
    seen: int = 0

    def before(self, effect: Effect) -> None:  # noqa: ARG002 - the number decides
        """Stop at the number."""
        if self.seen == self.number and not self.after_it:
            os.kill(os.getpid(), signal.SIGSTOP)
        self.seen += 1

    def after(self, effect: Effect) -> None:  # noqa: ARG002 - the number decides
        """Stop at the number."""
        if self.seen == self.number + 1 and self.after_it:
            self.after_it = False
            os.kill(os.getpid(), signal.SIGSTOP)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Several hooks as one; those before an effect in order, those after it in reverse."""

    each: tuple[Hook, ...] = ()

    def before(self, effect: Effect) -> None:
        """Every hook, first to last."""
        for hook in self.each:
            hook.before(effect)

    def after(self, effect: Effect) -> None:
        """Every hook, last to first."""
        for hook in reversed(self.each):
            hook.after(effect)


def traced_process() -> str:
    """The name of this process in traces."""
    return os.environ.get(PROCESS_VARIABLE, "writer")


def hooks_of_environment() -> Hook:
    """The hooks that environment variables ask for: a trace file, and the number of the effect to die or stop at."""
    found: list[Hook] = []
    if trace := os.environ.get(TRACE_VARIABLE):
        found.append(TraceFile(trace, traced_process()))
    if number := os.environ.get(KILL_AT_VARIABLE):
        found.append(KillAt(int(number)))
    if number := os.environ.get(STOP_AT_VARIABLE):
        found.append(StopAt(int(number)))
    if number := os.environ.get(STOP_AFTER_VARIABLE):
        found.append(StopAt(int(number), after_it=True))
    return Hooks(tuple(found)) if found else NoHook()
