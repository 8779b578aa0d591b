"""Where real tables lie: each in a folder of its own below an ignored one, with its answers and what they hang on."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.real_tables import fingerprints
from hudi_conformance.runner.resources import suite_root


def cache_root() -> Path:
    """The folder of all real tables."""
    return suite_root() / "build" / "real_tables"


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one real table."""

    folder: Path

    @property
    def table(self) -> Path:
        """The table itself."""
        return self.folder / "table"

    @property
    def beside(self) -> Path:
        """What a recipe keeps outside the table."""
        return self.folder / "beside"

    @property
    def answers(self) -> Path:
        """Rows files of the answers."""
        return self.folder / "answers"

    def note(self, name: str, text: str) -> None:
        """Remember a hash."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def noted(self, name: str) -> str:
        """A remembered hash; empty without one."""
        file = self.folder / name
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def save_questions(self, questions: list[dict[str, Any]]) -> None:
        """Keep the questions with their answers."""
        text = json.dumps(questions, indent=1, ensure_ascii=False)
        (self.folder / "questions.json").write_text(text, encoding="utf-8")

    def questions(self) -> list[dict[str, Any]]:
        """The questions, each with one of rows, value, rejected, unsupported, errored."""
        return list(json.loads((self.folder / "questions.json").read_text(encoding="utf-8")))


def place_of(identifier: str) -> Place:
    """The folder of a recipe's table."""
    return Place(cache_root() / identifier)


def is_written(made: Recipe) -> bool:
    """Whether the table is there as the recipe says now."""
    return place_of(made.id).noted("written") == fingerprints.written(made)


def is_answered(made: Recipe) -> bool:
    """Whether the answers are there, to the questions of now about the table of now."""
    return is_written(made) and place_of(made.id).noted("asked") == fingerprints.of_questions(made)
