"""The instants of a behaviour, from the step that brings each to the step that completes it or takes it away."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_model.time import tick

from hudi_conformance.drawing.moments import Drawn, readable, shortened
from hudi_conformance.verification.counterexamples.behaviour import Behaviour, Situation

EPOCH = tick(0)[:-4]


@dataclass(frozen=True, slots=True)
class Bar:
    """An instant as it stood last, and between which steps; `gone` where a step took it away.

    `timed` is the step that generated its completion time, where that is an earlier one than its completion.
    """

    instant: Drawn
    first: int
    last: int
    gone: bool = False
    timed: int = 0

    @property
    def label(self) -> str:
        """Action and times."""
        until = f" → {short_time(self.instant.completed)}" if self.instant.completed else ""
        return f"{shortened(self.instant.action, 14)} {short_time(self.instant.requested)}{until}"


def short_time(moment: str) -> str:
    """The last four digits of a time of the model, as steps tell them; any other in full."""
    return moment[-4:] if moment.startswith(EPOCH) else readable(moment)


def bars_of(behaviour: Behaviour) -> tuple[Bar, ...]:
    """Every instant that ever stood on the timeline, in the order of requests."""
    situations = (behaviour.start, *(step.after for step in behaviour.steps))
    held = [instants_by_request(one) for one in situations]
    known = sorted({requested for instants in held for requested in instants})
    clocks = [clock_of(one) for one in situations]
    return tuple(_bar(requested, held, clocks) for requested in known)


def clock_of(situation: Situation) -> str:
    """The greatest time that was generated so far; no text where the states do not tell."""
    clock = dict(situation.variables).get("clock", "")
    return tick(int(clock)) if clock.isdecimal() else ""


def instants_by_request(situation: Situation) -> dict[str, Mapping[str, Any]]:
    """The instants of a timeline by the time of their request."""
    return {str(one["requested"]): one for one in situation.timeline}


def _bar(requested: str, held: list[dict[str, Mapping[str, Any]]], clocks: list[str]) -> Bar:
    there = [number for number, instants in enumerate(held) if requested in instants]
    latest = held[there[-1]][requested]
    done = [number for number in there if held[number][requested]["state"] == "COMPLETED"]
    gone = there[-1] < len(held) - 1
    end = done[0] if done and not gone else there[-1] + gone
    completed = None if latest["completed"] is None else str(latest["completed"])
    instant = Drawn(requested, completed, str(latest["action"]), str(latest["state"]))
    generated = clocks.index(completed) if completed in clocks else end
    return Bar(instant, there[0], end, gone, timed=generated if generated < end else 0)
