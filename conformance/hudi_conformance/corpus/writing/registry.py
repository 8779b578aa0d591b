"""Recipes of writing cases, by id; those of one family stand in one file below conformance/writing_cases."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hudi_conformance.corpus.table_shapes import TableShape
from hudi_conformance.corpus.writing.shapes import short_name
from hudi_conformance.corpus.writing.steps import WritingCase

RecipeFunction = Callable[[WritingCase], None]
_PART = re.compile(r"^(Given|When|Then)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WritingRecipe:
    """A function that states steps on a table of a shape, and what the case shows.

    `family` is what the ids of its shapes begin with; `begins_with` the golden table that the steps go on with, where
    they make none.
    """

    id: str
    shape: TableShape
    clauses: tuple[str, ...]
    kills: tuple[str, ...]
    features: tuple[str, ...]
    state: RecipeFunction
    family: str
    begins_with: str | None = None

    @property
    def title(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.state) or "").partition("\n")[0].rstrip(".")

    @property
    def given_when_then(self) -> Mapping[str, str]:
        """Given, when and then, as the docstring says.

        Raises:
            ValueError: one of the three is missing.

        """
        text = inspect.getdoc(self.state) or ""
        parts = _PART.split(text)[1:]
        parts_of_text = {
            name.lower(): " ".join(words.split()) for name, words in zip(parts[::2], parts[1::2], strict=True)
        }
        if set(parts_of_text) != {"given", "when", "then"}:
            raise ValueError(f"{self.id}: the docstring has a line each that begins with Given, When and Then")
        return parts_of_text

    @property
    def place(self) -> str:
        """Module and function."""
        return f"{self.state.__module__}:{self.state.__name__}"

    def made(self) -> WritingCase:
        """The steps; a case that ends with a write reads the rows."""
        case = WritingCase(self.shape, clauses=list(self.clauses), kills=list(self.kills))
        self.state(case)
        if not case.drafts or case.drafts[-1].writes:
            case.snapshot()
        return case


RECIPES: dict[str, WritingRecipe] = {}
_OF_A_VERSION = re.compile(r"(_by_listing)?_v\d+$")


def writing(  # noqa: PLR0917 - the parts of a recipe, in the order in which they are read
    name: str,
    shapes: Iterable[TableShape],
    clauses: str,
    kills: str,
    features: str = "",
    begins_with: str | None = None,
) -> Callable[[RecipeFunction], RecipeFunction]:
    """Register a recipe as `<area>/<name>`; one of several shapes is named after its type and version too."""
    chosen = tuple(shapes)

    def register(state: RecipeFunction) -> RecipeFunction:
        for shape in chosen:
            recipe_id = name if len(chosen) == 1 else f"{name}_{short_name(shape)}"
            if recipe_id in RECIPES:
                raise ValueError(f"two recipes state {recipe_id}")
            kind = "mor" if shape.table_type == "MERGE_ON_READ" else "cow"
            named = (f"table-version-{shape.version}", kind, *features.split())
            # Cases that begin with a golden table are registered version by version; one function is one file.
            family = _OF_A_VERSION.sub("", name)
            RECIPES[recipe_id] = WritingRecipe(
                recipe_id, shape, tuple(clauses.split()), tuple(kills.split()), named, state, family, begins_with
            )
        return state

    return register
