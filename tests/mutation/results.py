"""What became of each mutant, recorded; the page is made from it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

from hudi_conformance.runner.recorded_results import load_recorded, save_recorded
from mutation_targets import ROOT

SOURCE: Final = "mutation-testing"
SPECS: Final = "mutation-testing-of-specs"
NOT_TRIED: Final = ""
SURVIVED: Final = "survived"
UNCHANGED: Final = "unchanged"
"""Of a TLA+ module: every run that must pass has as many states and levels as before, a small one the same graph."""


@dataclass(frozen=True, slots=True)
class Result:
    """A mutant and what killed it: `case ...`, `test ...`, `run ...`, an error or the time limit; or that nothing did.

    `text`: the line as it stands in the module; `nth`: which it is of those of one operator on equal lines.
    """

    module: str
    text: str
    operator: str
    nth: int
    line: int
    becomes: str
    outcome: str = NOT_TRIED

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What names it, also when lines above it come or go."""
        return self.module, self.text, self.operator, self.nth

    @property
    def tried(self) -> bool:
        """Whether it was drawn."""
        return self.outcome != NOT_TRIED

    @property
    def survived(self) -> bool:
        """Whether nothing killed it."""
        return self.outcome == SURVIVED

    @property
    def unchanged(self) -> bool:
        """Whether it changes nothing that a run reaches."""
        return self.outcome == UNCHANGED


def keep(results: Iterable[Result], source: str = SOURCE) -> None:
    """Record the results."""
    save_recorded(ROOT, source, [asdict(one) for one in sorted(results, key=_place)])


def _place(one: Result) -> tuple[str, int, str, int]:
    return one.module, one.line, one.operator, one.nth


def kept(source: str = SOURCE) -> list[Result]:
    """The results of the last run."""
    return [Result(**one) for one in load_recorded(ROOT, source) or ()]
