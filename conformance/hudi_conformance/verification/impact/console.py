"""What a change moves, for the terminal."""

from collections.abc import Iterable, Iterator
from difflib import unified_diff

from rich.console import Console

from hudi_conformance.drawing.console_timeline import plain
from hudi_conformance.verification.counterexamples.terminal import print_behaviour
from hudi_conformance.verification.impact.comparing import HOLDS, Changed, Impact, Moved

FEW_LINES, FEW_NAMES, FEW_ANSWERS, FEW_DRAWN = 8, 12, 20, 3


def print_impact(impact: Impact, out: Console) -> None:
    """Everything that differs: what is touched, then answers, then statements with their counterexamples."""
    out.print(plain(f"{impact.tree} against {impact.base}", "bold"), soft_wrap=True)
    for line in touched_lines(impact):
        out.print(plain(f"  {line}"), soft_wrap=True)
    for moved in impact.answers[:FEW_ANSWERS]:
        _print_answer(moved, out)
    if len(impact.answers) > FEW_ANSWERS:
        out.print(plain(f"... and {len(impact.answers) - FEW_ANSWERS} answers more; --html shows them all"))
    if impact.tables:
        out.print(plain(f"written otherwise: {few(impact.tables)}"), soft_wrap=True)
    for place, changed in enumerate(impact.changed):
        _print_changed(changed, out, drawn=place < FEW_DRAWN)
    if len(impact.changed) > FEW_DRAWN:
        out.print(plain("--html draws them all"))
    out.print(plain(summary(impact), "bold" if impact.changes else "green"), soft_wrap=True)


def touched_lines(impact: Impact) -> Iterator[str]:
    """What the change touches, a line for each kind of which there is any."""
    touched = impact.touched
    kinds = (
        ("functions", touched.functions),
        ("clauses of these functions", touched.clauses),
        ("clauses written otherwise", touched.rewritten),
        ("TLA+ modules written otherwise", touched.modules),
        ("TLA+ modules that state these clauses", touched.stating),
    )
    yield from (f"{kind}: {few(names)}" for kind, names in kinds if names)
    if not any(names for _, names in kinds):
        yield "no function, clause or module is touched"


def few(names: Iterable[str]) -> str:
    """Names in a line, the first where there are many."""
    known = tuple(names)
    more = f" and {len(known) - FEW_NAMES} more" if len(known) > FEW_NAMES else ""
    return ", ".join(known[:FEW_NAMES]) + more


def summary(impact: Impact) -> str:
    """The last line: how much differs, of how much."""
    broken = sum(one.breaks for one in impact.changed)
    parts = [
        f"{len({one.case for one in impact.answers})} answers move",
        f"{len(impact.tables)} tables are written otherwise",
        f"{broken} statements break",
        f"{len(impact.changed) - broken} give another result",
    ]
    found = ", ".join(parts) if impact.changes else "nothing gives another result"
    if impact.equal:
        return f"{found} (the sources are equal byte for byte: nothing is asked; {impact.seconds:.0f} s)"
    counts = ", ".join(f"{done} of {known} {plural_of(kind)}" for kind, (done, known) in impact.requested.items())
    return f"{found} (asked: {counts}; {impact.seconds:.0f} s)"


def plural_of(kind: str) -> str:
    """What is asked, as people call it."""
    return {"answers": "tables"}.get(kind, kind)


def difference_lines(moved: Moved) -> list[str]:
    """The lines of two answers that differ."""
    before, after = ((text or "").splitlines() for text in (moved.before, moved.after))
    _, _, *lines = unified_diff(before, after, n=0, lineterm="")
    return [line for line in lines if not line.startswith("@@")]


def _print_answer(moved: Moved, out: Console) -> None:
    reading = f" ({moved.reading} reading)" if moved.reading else ""
    word = "is new" if moved.before is None else "is gone" if moved.after is None else "moves"
    out.print(
        plain(f"{moved.case} {word}{reading}: {moved.title} [{' '.join(moved.clauses)}]", "yellow"), soft_wrap=True
    )
    lines = difference_lines(moved)
    for line in lines[:FEW_LINES]:
        out.print(plain(f"    {line}"), soft_wrap=True)
    if len(lines) > FEW_LINES:
        out.print(plain(f"    ... and {len(lines) - FEW_LINES} lines more"))


def _print_changed(changed: Changed, out: Console, *, drawn: bool) -> None:
    word = "breaks" if changed.breaks else "holds now" if changed.after == HOLDS else "gives another result"
    cited = f" [{' '.join(changed.clauses)}]" if changed.clauses else ""
    out.print(
        plain(f"{changed.kind} {changed.id} {word}: {changed.title}{cited}", "red" if changed.breaks else "yellow"),
        soft_wrap=True,
    )
    if not changed.breaks:
        out.print(plain(f"  before: {changed.before}"), soft_wrap=True)
    if not drawn:
        out.print(plain(f"  {changed.after}"), soft_wrap=True)
    elif changed.behaviour:
        print_behaviour(changed.behaviour, out)
    else:
        for line in (changed.after, *changed.words):
            out.print(plain(f"  {line}"), soft_wrap=True)
