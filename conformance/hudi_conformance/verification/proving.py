"""`prove` and `explore`: what holds of the model, tried out, and the shortest case where it does not."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from hudi_format.compat import BaseExceptionGroup
from hudi_model_tools.explore import Exploration
from hudi_model_tools.store import Store
from rich.console import Console
from rich.markup import escape

from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_conformance.runner.console import Bars
from hudi_conformance.runner.identifiers import known_word, nearest_words, normal_number, unknown_number
from hudi_conformance.runner.markdown import markdown_table
from hudi_conformance.runner.recorded_results import write_run_page
from hudi_conformance.runner.resources import commit_of
from hudi_conformance.verification.counterexamples.page import write_behaviour
from hudi_conformance.verification.counterexamples.sources import of_counterexample, of_moves
from hudi_conformance.verification.counterexamples.terminal import print_behaviour
from hudi_conformance.verification.properties import MODEL_PROPERTIES, Counterexample, ModelProperty, Verdict
from hudi_conformance.verification.properties.scenarios import SCENARIOS, Scenario

SOAKED = {"two-crashes": 2, "writers-compaction": 1, "streams-compaction": 1}
"""Scenarios explored further than tests have time for, and how many processes may die."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a property came out: its counterexample, or None where the check found none."""

    model_property: ModelProperty
    found: Counterexample | None
    seconds: float

    @property
    def as_registered(self) -> bool:
        """Whether it is as the registry says."""
        return (self.found is not None) == (self.model_property.verdict is Verdict.REFUTED)


def broken(mutant: str | None) -> AbstractContextManager[None]:
    """The model with one rule broken, where one is named."""
    return mutated(MUTANTS[mutant]) if mutant else nullcontext()


def tried(model_property: ModelProperty) -> Outcome:
    """A property checked once."""
    started_at = time.perf_counter()
    found = None
    try:
        model_property.check()
    except Counterexample as error:
        found = error
    except BaseExceptionGroup as errors:
        found = next((one for one in errors.exceptions if isinstance(one, Counterexample)), None)
        if found is None:
            raise
    return Outcome(model_property, found, time.perf_counter() - started_at)


def prove(ids: Sequence[str], mutant: str | None, out: Console) -> int:
    """Check properties, all by default: exit 0 where each is as registered, 1 where not, 2 where none is named so.

    Under a mutant the counterexamples are the point, and the exit code is 0 where one was found.
    """
    wanted = list(dict.fromkeys(map(normal_number, ids)))
    unknown = [unknown_number("property", one, MODEL_PROPERTIES) for one in wanted if one not in MODEL_PROPERTIES]
    if mutant and mutant not in MUTANTS:
        unknown.append(f"there is no mutant {mutant!r}{nearest_words(mutant, MUTANTS)}")
    if unknown:
        out.print(f"error: {'; '.join(unknown)}", style="red", markup=False)
        return 2
    chosen = [MODEL_PROPERTIES[one] for one in wanted] or sorted(MODEL_PROPERTIES.values(), key=lambda one: one.id)
    outcomes = []
    with broken(mutant), Bars(out) as progress:
        task = progress.add_task("", total=len(chosen))
        for one in chosen:
            progress.update(task, description=one.id)
            outcomes.append(tried(one))
            print_outcome(outcomes[-1], out, shown=bool(ids) or bool(mutant))
            progress.advance(task)
    return verdict_of(outcomes, mutant, out)


def verdict_of(outcomes: Sequence[Outcome], mutant: str | None, out: Console) -> int:
    """The last line, and the exit code."""
    held = sum(one.found is None for one in outcomes)
    seconds = sum(one.seconds for one in outcomes)
    exhaustive = sum(one.model_property.exhaustive for one in outcomes)
    out.print(
        f"{held} hold, {len(outcomes) - held} refuted, {exhaustive} by exhaustion, in {seconds:.1f} s", markup=False
    )
    if mutant:
        return 0 if held < len(outcomes) else 1
    return 0 if all(one.as_registered for one in outcomes) else 1


def print_outcome(outcome: Outcome, out: Console, *, shown: bool) -> None:
    """One line, and the counterexample where it is wanted or unexpected."""
    one = outcome.model_property
    word, style = ("refuted", "yellow") if outcome.found else ("holds", "green")
    if not outcome.as_registered:
        style = "red"
    kind = "every case" if one.exhaustive else "random cases"
    out.print(f"{one.id} [{style}]{word:<7}[/{style}] {escape(one.title)} [dim]({kind}, {outcome.seconds:.1f} s)[/dim]")
    if outcome.found and (shown or not outcome.as_registered):
        print_behaviour(of_counterexample(outcome.found, one.id), out)
        if one.holds_instead:
            out.print(f"  what holds: {one.holds_instead} {escape(MODEL_PROPERTIES[one.holds_instead].title)}")
        out.print(f"  [dim]clauses {' '.join(one.clauses)}; under: {escape(one.assumptions)}[/dim]")


def explore(
    name: str, crashes: int | None, mutant: str | None, out: Console, *, whole: bool = False, draw: Path | None = None
) -> int:
    """Explore a scenario: exit 0 where all its laws hold in every state, 1 where not, 2 where there is none.

    `draw` is the page to write where one is broken.
    """
    if mutant:
        known_word("mutant", mutant, MUTANTS)
    if name not in SCENARIOS:
        for one in SCENARIOS.values():
            out.print(f"{one.name:<22}{one.sentence}", markup=False)
        near = nearest_words(name, SCENARIOS)
        if near:
            out.print(f"there is no scenario {name!r}{near}", markup=False)
        return 2
    scenario = SCENARIOS[name]
    with broken(mutant), Bars(out) as progress:
        task = progress.add_task(name, total=None)

        def report(states: int, transitions: int, depth: int) -> None:
            progress.update(task, description=f"{name}: {states} states, {transitions} transitions, depth {depth}")

        started_at = time.perf_counter()
        found = scenario.search(crashes=crashes, whole=whole, progress=report)
    out.print(counted(scenario, found, time.perf_counter() - started_at, crashes), markup=False, highlight=False)
    if not found.broken:
        return 0
    behaviour = of_moves(found.broken, f"scenario {name}", scenario.start(Store()), found.steps)
    print_behaviour(behaviour, out)
    if draw:
        out.print(f"drawn: {write_behaviour(behaviour, draw)}", markup=False, soft_wrap=True)
    return 1


def counted(scenario: Scenario, found: Exploration, seconds: float, crashes: int | None) -> str:
    """What a search saw, in one line."""
    deaths = scenario.crashes if crashes is None else crashes
    seen = f"{found.states} states, {found.transitions} transitions, depth {found.depth}"
    result = "broken" if found.broken else "all laws hold"
    return f"{scenario.name}: {seen}, up to {deaths} deaths, {seconds:.1f} s: {result}"


def soak(page: Path, out: Console) -> int:
    """Explore what tests have no time for, and write down what it came to: exit 1 where a law was broken."""
    rows, broken_laws = [], 0
    for name, crashes in SOAKED.items():
        started_at = time.process_time()
        found = SCENARIOS[name].search(crashes=crashes)
        line = counted(SCENARIOS[name], found, time.process_time() - started_at, crashes)
        out.print(line, markup=False, highlight=False)
        seconds = f"{time.process_time() - started_at:.0f} s"
        result = found.broken or "all laws hold"
        rows.append((f"`{name}`", crashes, found.states, found.transitions, found.depth, seconds, result))
        broken_laws += bool(found.broken)
    table = "\n".join(markdown_table(_SOAK_HEAD, rows))
    write_run_page(page, SOAK_PAGE.format(commit=commit_of(Path.cwd()), table=table))
    return 1 if broken_laws else 0


SOAK_PAGE = """# Explorations with larger bounds

Written by `make soak` (`hudi-conformance prove --soak`) at commit `{commit}`.
One process on one core; the scenarios are those of `hudi-conformance explore`.

{table}
"""
_SOAK_HEAD = ("scenario", "deaths", "states", "transitions", "depth", "processor time", "result")
