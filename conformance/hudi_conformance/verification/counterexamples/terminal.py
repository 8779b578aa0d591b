"""A behaviour for the terminal: a line a step, a column for each process, and the timeline that it leaves."""

from collections.abc import Iterator

from rich.console import Console

from hudi_conformance.drawing.console_timeline import plain, timeline_table
from hudi_conformance.verification.counterexamples.behaviour import Behaviour, Step

WIDEST_NAME = 12


def print_behaviour(behaviour: Behaviour, out: Console, *, changes: bool = False) -> None:
    """What is wrong, the way there with a column for each process, and the timeline; `changes` also of variables."""
    out.print(plain(f"  {behaviour.wrong}", "bold"), soft_wrap=True)
    if behaviour.processes:
        out.print(plain(f"  {behaviour.title}; ● acts, ┃ holds the lock, ✗ crashes", "dim"), soft_wrap=True)
    if changes:
        _print_pairs(behaviour.start.variables, out)
    for place, step in enumerate(behaviour.steps, start=1):
        lanes = "".join(_lanes(behaviour, step))
        who = f"{step.who:<{WIDEST_NAME}} " if behaviour.processes else ""
        out.print(
            plain(f"  {place:>3} {lanes}{who}{', '.join(step.what)}{' ✗ crashes' * step.crashes}"), soft_wrap=True
        )
        if changes:
            _print_pairs(step.changed, out)
    if behaviour.last.timeline:
        out.print(timeline_table(behaviour.last.timeline))


def _print_pairs(pairs: tuple[tuple[str, str], ...], out: Console) -> None:
    for name, text in pairs:
        out.print(plain(f"       {name} = {text}"), soft_wrap=True)


def _lanes(behaviour: Behaviour, step: Step) -> Iterator[str]:
    """A sign for each process."""
    for name in behaviour.processes:
        acts = "✗" if step.crashes else "●"
        yield f"{acts if name == step.who else '┃' if step.after.holder == name else '·'} "
    if behaviour.processes:
        yield " "
