"""What a change moves: answers, tables, properties, laws, agreements and runs that give another result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hudi_conformance.verification.counterexamples.behaviour import Behaviour, behaviour_of_json
from hudi_conformance.verification.impact.kept import Line
from hudi_conformance.verification.impact.touching import Touched


@dataclass(frozen=True, slots=True)
class Moved:
    """An answer that moves, under the reading named where there are two; a case that comes or goes has one side."""

    case: str
    title: str
    clauses: tuple[str, ...]
    reading: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Changed:
    """A statement that held and is broken, or the other way round; or a run of TLC that violates something else."""

    kind: str
    id: str
    title: str
    clauses: tuple[str, ...]
    before: str
    after: str
    words: tuple[str, ...] = ()
    behaviour: Behaviour | None = None

    @property
    def breaks(self) -> bool:
        """Whether it held before."""
        return self.before == HOLDS


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything that differs, and how much was asked to find it."""

    base: str
    tree: str
    touched: Touched
    answers: tuple[Moved, ...] = ()
    tables: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    requested: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By kind how many were asked, of how many there are."""
    seconds: float = 0.0
    equal: bool = False
    """Whether the sources are equal byte for byte, so that nothing was asked."""

    @property
    def changes(self) -> bool:
        """Whether anything gives another result."""
        return bool(self.answers or self.tables or self.changed)

    def as_json(self) -> dict[str, Any]:
        """The same in plain values."""
        return {**asdict(self), "changes": self.changes}


HOLDS = "holds"


def moved_answers(before: Iterable[Line], after: Iterable[Line]) -> tuple[Moved, ...]:
    """The cases whose answer differs, by table."""
    old, new = _cases(before), _cases(after)
    return tuple(one for case in sorted(old.keys() | new.keys()) for one in _moved(case, old.get(case), new.get(case)))


def rewritten_tables(before: Iterable[Line], after: Iterable[Line]) -> tuple[str, ...]:
    """The tables that the model writes otherwise, or on one side alone."""
    old, new = ({line["table"]: line["sum"] for line in lines} for lines in (before, after))
    return tuple(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))


def doubtful(lines: Iterable[Line]) -> list[str]:
    """What does not come out as it is registered, and what is registered as refuted: the base is asked about these."""
    return [line["id"] for line in lines if not (line["holds"] and line["expected"])]


def changed_statements(kind: str, before: Iterable[Line], after: Iterable[Line]) -> Iterator[Changed]:
    """The statements that held and do not, or the other way round; what the base was not asked about holds there.

    A statement that is refuted on both sides is no news, whatever counterexample is found first.
    """
    old = {line["id"]: line for line in before}
    for line in after:
        was = old.get(line["id"])
        first, second = (outcome(was) if was else HOLDS), outcome(line)
        if (first == HOLDS) != (second == HOLDS):
            behaviour = behaviour_of_json(line["behaviour"]) if line["behaviour"] else None
            yield Changed(
                kind, line["id"], line["title"], tuple(line["clauses"]), first, second, tuple(line["words"]), behaviour
            )


def outcome(line: Line) -> str:
    """A statement's outcome in words."""
    return HOLDS if line["holds"] else str(line["message"]) or "is broken"


def _cases(lines: Iterable[Line]) -> dict[str, Line]:
    return {f"{line['table']}::{name}": case for line in lines for name, case in line["cases"].items()}


def _moved(case: str, old: Line | None, new: Line | None) -> Sequence[Moved]:
    some = new or old or {}
    head = case, str(some["title"]), tuple(some["clauses"])
    if old is None or new is None:
        sides = (str(one["released"]) if one else None for one in (old, new))
        return [Moved(*head, "", *sides)]
    return [
        Moved(*head, reading if old["text"] or new["text"] else "", str(old[reading]), str(new[reading]))
        for reading in ("released", "text")
        if old[reading] != new[reading]
    ]
