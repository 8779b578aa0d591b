"""What became of each mutant, kept as a file from which the page is made."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from mutation_targets import ROOT

KEPT: Final = ROOT / "tests" / "mutation" / "result.json"
NOT_TRIED: Final = ""
SURVIVED: Final = "survived"


@dataclass(frozen=True, slots=True)
class Result:
    """A mutant and what told it: `case ...`, `test ...`, an error or the time limit; or that nothing did.

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
        """Whether nothing told it."""
        return self.outcome == SURVIVED


def keep(results: Iterable[Result]) -> None:
    """Write the results down, one a line."""
    lines = ",\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in sorted(results, key=_place))
    KEPT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _place(one: Result) -> tuple[str, int, str, int]:
    return one.module, one.line, one.operator, one.nth


def kept(path: Path = KEPT) -> list[Result]:
    """The results of the last run.

    Raises:
        OSError: there are none.

    """
    return [Result(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
