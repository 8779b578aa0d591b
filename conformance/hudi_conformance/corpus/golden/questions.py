"""The questions that a recipe asks of its table, and the tables as recipes declare them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hudi_model.actions import Action, State
from hudi_model.tables import Table
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.layout import Layout
from hudi_conformance.corpus.golden.services import Services
from hudi_conformance.runner.manifest import WRITTEN_MS

Damage = Callable[[Path], None]

_WHEN = {
    "read_snapshot": "a snapshot is read",
    "read_as_of": "the table is read as of {instant}",
    "read_optimized": "the base files alone are read",
    "read_unmerged": "base files and logs are read without being merged",
    "read_incremental": "the rows that came after {begin} are read",
    "read_changes": "the changes after {begin} are read",
    "list_timeline": "the timeline is listed",
    "list_file_slices": "the file slices of a snapshot are listed",
    "table_info": "the table is described",
    "check_table": "the table is checked",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One case: an op with its parameters, what must come of it and which broken models it distinguishes."""

    id: str
    op: str
    then: str
    clauses: tuple[str, ...]
    kills: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What the case is about, in one line."""
        return self.then[0].upper() + self.then[1:]

    @property
    def when(self) -> str:
        """The question in words."""
        text = _WHEN[self.op].format(**self.params)
        rest = {name: value for name, value in self.params.items() if name not in {"instant", "begin"}}
        return text + (f", with {', '.join(f'{name} = {value}' for name, value in rest.items())}" if rest else "")


class QueryBuilder:
    """Collects questions; mixed into whatever a recipe is handed."""

    questions: list[Question]

    def query(self, op: str, name: str, then: str, clauses: str, kills: str, **params: Any) -> None:
        """One question; clauses and kills are names with blanks between."""
        self.questions.append(Question(name, op, then, tuple(clauses.split()), tuple(kills.split()), params))

    def snapshot(self, name: str, then: str, clauses: str, kills: str, **params: Any) -> None:
        """Read the latest completed state."""
        self.query("read_snapshot", name, then, clauses, kills, **params)

    def as_of(self, instant: str, name: str, then: str, clauses: str, kills: str) -> None:
        """Read the state as of an instant."""
        self.query("read_as_of", name, then, clauses, kills, instant=instant)

    def optimized(self, name: str, then: str, clauses: str, kills: str, **params: Any) -> None:
        """Read the rows of base files."""
        self.query("read_optimized", name, then, clauses, kills, **params)

    def incremental(  # noqa: PLR0917 - begin and end come first, as in the protocol
        self, begin: str, end: str | None, name: str, then: str, clauses: str, kills: str, **params: Any
    ) -> None:
        """Read the rows that writes of a range brought."""
        until = {} if end is None else {"end": end}
        self.query("read_incremental", name, then, clauses, kills, begin=begin, **until, **params)

    def changes(  # noqa: PLR0917 - likewise
        self, begin: str, end: str | None, name: str, then: str, clauses: str, kills: str
    ) -> None:
        """Read the changes that writes of a range made."""
        until = {} if end is None else {"end": end}
        self.query("read_changes", name, then, clauses, kills, begin=begin, **until)

    def slices(self, name: str, then: str, clauses: str, kills: str, **params: Any) -> None:
        """Ask which file slices a snapshot reads."""
        self.query("list_file_slices", name, then, clauses, kills, **params)

    def instants(self, name: str, then: str, clauses: str, kills: str) -> None:
        """Read the timeline."""
        self.query("list_timeline", name, then, clauses, kills)

    def full_timeline(self, name: str, then: str, clauses: str, kills: str) -> None:
        """Read the timeline, archived actions too."""
        self.query("list_timeline", name, then, clauses, kills, include_history=True)

    def info(self, name: str, then: str, clauses: str, kills: str) -> None:
        """Ask what the table says of itself."""
        self.query("table_info", name, then, clauses, kills)


@dataclass(slots=True)
class GoldenTable(Services, QueryBuilder):
    """A table under construction with its questions, and the damage done to its bytes once they are written.

    `written_ms` is the modification time of all its files.
    """

    questions: list[Question] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    written_ms: int = WRITTEN_MS

    @property
    def version(self) -> int:
        """The table version that it is written in."""
        return self.layout.version

    def damage(self, edit: Damage) -> None:
        """Do this to the stored table's folder."""
        self.damages.append(edit)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model-written table: how it is laid out and the function that writes it and asks."""

    id: str
    title: str
    layout: Layout
    features: tuple[str, ...]
    write: Callable[[GoldenTable], None]
    given: str

    @property
    def place(self) -> str:
        """Module and function."""
        return f"{self.write.__module__}:{self.write.__name__}"

    def made(self) -> GoldenTable:
        """The table and its questions, in memory."""
        table = GoldenTable(self.id, self.layout)
        self.write(table)
        return table


RECIPES: dict[str, Recipe] = {}
_NO_WORDS: Mapping[int, str] = MappingProxyType({})


def one_line(docstring: str | None) -> str:
    """The words of a docstring, without its line breaks."""
    return " ".join((docstring or "").split())


def golden(
    table_id: str,
    title: str,
    layout: Layout | Callable[[int], Layout],
    features: Iterable[str] = (),
    also: Iterable[int] = (),
    *,
    titles: Mapping[int, str] = _NO_WORDS,
    given: Mapping[int, str] = _NO_WORDS,
) -> Callable[[Callable[[GoldenTable], None]], Callable[[GoldenTable], None]]:
    """Register a recipe under the id that is its folder below golden_tables/; its docstring is the table in words.

    `also`: other table versions in which the same table is written, under ids that differ in the version alone.
    `layout` may follow from the version. `titles` and `given` are other words for the tables of some versions.
    """
    own, _, name = table_id.removeprefix("v").partition("/")

    def register(write: Callable[[GoldenTable], None]) -> Callable[[GoldenTable], None]:
        for version in (int(own), *also):
            made = replace(layout, version=version) if isinstance(layout, Layout) else layout(version)
            kind = "mor" if made.merge_on_read else "cow"
            traits = (f"table-version-{version}", kind, *features)
            recipe = Recipe(
                f"v{version}/{name}",
                titles.get(version, title),
                made,
                traits,
                write,
                given.get(version) or one_line(write.__doc__),
            )
            if recipe.id in RECIPES:
                raise ValueError(f"two recipes write {recipe.id}")
            RECIPES[recipe.id] = recipe
        return write

    return register


class WrittenTable(QueryBuilder):
    """A table that Apache Hudi wrote: only questions are declared, its bytes stand.

    `commits` are the instants of its completed data actions, as requested, oldest first.
    """

    def __init__(self, version: int, state: Table) -> None:
        self.version = version
        self.questions = []
        self.commits = _commits(state)

    def after(self, number: int) -> InstantTime:
        """The millisecond before the n-th commit but one was requested: what stood when the n-th had completed."""
        return InstantTime(str(int(self.commits[number + 1]) - 1))


def _commits(state: Table) -> tuple[InstantTime, ...]:
    actions = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
    done = {entry.requested for entry in state.timeline if entry.state is State.COMPLETED and entry.action in actions}
    return tuple(sorted(done))
