"""Properties: statements about the model that are checked by exhaustion or by random search, never weakened."""

from collections.abc import Callable
from dataclasses import dataclass

from hudi_format.compat import StrEnum
from hudi_model.tables import Table
from hudi_model_tools.protocol import Move, World
from hypothesis import HealthCheck, Phase, settings

Check = Callable[[], None]
"""Raises `Counterexample` where the statement does not hold."""

EXAMPLES = 150


class Verdict(StrEnum):
    """Whether a statement holds under its readings and assumptions."""

    PROVED = "proved"
    REFUTED = "refuted"


class Counterexample(AssertionError):  # noqa: N818 - it is no error of a program
    """The shortest case found in which a statement does not hold: what happened, the table left, the moves if known."""

    def __init__(
        self,
        message: str,
        table: Table | None = None,
        steps: tuple[str, ...] = (),
        way: tuple[World, tuple[Move, ...]] | None = None,
    ) -> None:
        super().__init__("\n".join((message, *steps)))
        self.message = message
        self.table = table
        self.steps = steps
        self.way = way


@dataclass(frozen=True, slots=True)
class ModelProperty:
    """One statement. A proved one names mutants that break it; a refuted one names its finding and what does hold."""

    id: str
    title: str
    clauses: tuple[str, ...]
    verdict: Verdict
    assumptions: str
    """The readings and assumptions under which it is stated."""
    broken_by: tuple[str, ...]
    """Mutants under which the check must fail."""
    holds_instead: str
    """For a refuted statement: the id of the property that states what does hold."""
    exhaustive: bool
    """Whether every case within stated bounds is tried, or a random sample."""
    check: Check


MODEL_PROPERTIES: dict[str, ModelProperty] = {}


def model_property(
    identifier: str,
    title: str,
    clauses: str,
    *,
    broken_by: str = "",
    refuted: bool = False,
    holds_instead: str = "",
    assumptions: str = "released readings",
    exhaustive: bool = False,
) -> Callable[[Check], Check]:
    """Register the check of a statement.

    Raises:
        ValueError: the id is taken, or the statement names neither a mutant that breaks it nor a refutation.

    """

    def register(check: Check) -> Check:
        if identifier in MODEL_PROPERTIES:
            raise ValueError(f"two properties are numbered {identifier}")
        if refuted == bool(broken_by):
            raise ValueError(f"{identifier}: a proved statement names mutants that break it, a refuted one none")
        verdict = Verdict.REFUTED if refuted else Verdict.PROVED
        MODEL_PROPERTIES[identifier] = ModelProperty(
            identifier,
            title,
            tuple(clauses.split()),
            verdict,
            assumptions,
            tuple(broken_by.split()),
            holds_instead,
            exhaustive,
            check,
        )
        return check

    return register


def property_check(function: Callable[..., None]) -> Check:
    """A Hypothesis property as a check: the same examples each time, shrunk to the smallest counterexample."""
    tuned = settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )
    checked: Check = tuned(function)
    return checked
