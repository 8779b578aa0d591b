"""Trace cases as values: traces, and one page that says of each by which clauses it is accepted, or where refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hudi_model_tools.accepts as acceptance
from hudi_format.compat import tomllib
from hudi_model_tools.accepts import Refusal

from hudi_conformance.corpus.mutants import Mutant, mutated
from hudi_conformance.corpus.traces import Line, TraceError, read_trace
from hudi_conformance.runner.resources import CorpusError

FOLDER = "conformance/trace_cases"
PAGE = "cases.toml"
ACCEPTED = 0


@dataclass(frozen=True, slots=True)
class TraceCase:
    """One trace: `refused` is the number of the first line that nothing explains, or 0 where all are explained."""

    name: str
    title: str
    clauses: tuple[str, ...]
    kills: tuple[str, ...]
    given: str
    when: str
    then: str
    refused: int
    lines: tuple[Line, ...]

    @property
    def id(self) -> str:
        """The id that never changes: `trace::<name>`."""
        return f"trace::{self.name}"

    def verdict(self) -> Refusal | None:
        """What the model says of the trace."""
        return acceptance.accepts(self.lines)

    def killed(self, mutants: Iterable[Mutant]) -> list[str]:
        """The names of the mutants that say otherwise than the case."""
        return [one.name for one in mutants if self._verdict_of(one) != self.refused]

    def _verdict_of(self, mutant: Mutant) -> int:
        with mutated(mutant):
            refused = self.verdict()
        return refused.number if refused else ACCEPTED


def load_trace_cases(root: Path) -> tuple[TraceCase, ...]:
    """All trace cases below a suite's root, by name.

    Raises:
        CorpusError: the page or a trace cannot be read, or there is none.

    """
    page = root / FOLDER / PAGE
    try:
        stored = tomllib.loads(page.read_text(encoding="utf-8"))["case"]
    except (OSError, KeyError, ValueError) as error:
        raise CorpusError(f"{page}: {error}") from error
    return tuple(_case(page.parent, one) for one in stored)


def _case(folder: Path, stored: Mapping[str, Any]) -> TraceCase:
    name = str(stored.get("id", "")).removeprefix("trace::")
    try:
        trace = (folder / f"{name}.ndjson").read_text(encoding="utf-8")
        return TraceCase(
            name=name,
            title=str(stored["title"]),
            clauses=tuple(stored["clauses"]),
            kills=tuple(stored["kills"]),
            given=str(stored["given"]),
            when=str(stored["when"]),
            then=str(stored["then"]),
            refused=_refused(stored),
            lines=read_trace(trace),
        )
    except (OSError, KeyError, ValueError, TraceError) as error:
        raise CorpusError(f"{name}: {error}") from error


def _refused(stored: Mapping[str, Any]) -> int:
    if stored.get("accept") is True and "reject" not in stored:
        return ACCEPTED
    number = int(stored["reject"]["line"])
    if number < 1 or "accept" in stored:
        raise ValueError("a case has `accept = true`, or `reject` with a line from 1 on")
    return number
