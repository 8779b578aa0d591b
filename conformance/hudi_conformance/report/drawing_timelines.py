"""A real table's timeline, drawn: on the terminal, and as a picture in a file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_format.table.no_table import no_table
from hudi_format.table.table_properties import holds_table
from hudi_model.rejection import Rejection, Unsupported
from rich.console import Console

from hudi_conformance.bridge.checking import load_timeline
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.drawing.console_timeline import plain, timeline_table
from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.report.inspecting import NO_VERDICT, print_refusal, refusal_of
from hudi_conformance.runner.console import console

NEWEST = 40
"""So many actions fit on a screen or two; of more, what came before is reported in numbers."""

Listed: TypeAlias = Sequence[Mapping[str, Any]]


def draw(place: str, options: Mapping[str, str], svg: Path | None, *, history: bool, every: bool) -> int:
    """Print a table's timeline with a bar for each action, or write its picture; 2 when the table refuses it."""
    out = console()
    try:
        storage = open_storage(place, options)
        if not holds_table(storage):
            raise no_table(storage)
        table = load_timeline(storage)
        listed: Listed = evaluate(table, "list_timeline", {"include_history": history}).content
    except (Rejection, FormatError, Unsupported, OSError, ValueError) as error:
        print_refusal(out, refusal_of(place, error), as_json=False)
        return NO_VERDICT
    if svg is None:
        print_timeline(out, listed, every=every)
        return 0
    svg.write_text(timeline_svg(listed, f"Timeline of {place}"), encoding="utf-8")
    out.print(plain(f"{svg}: {len(listed)} actions"))
    return 0


def print_timeline(out: Console, listed: Listed, *, every: bool) -> None:
    """The newest actions and those that wait, each on a line; numbers for what came before."""
    shown = listed if every else chosen(listed)
    left_out = len(listed) - len(shown)
    if left_out:
        kept = {id(one) for one in shown}
        counts = Counter(str(one["action"]) for one in listed if id(one) not in kept)
        text = ", ".join(f"{count} {action}" for action, count in counts.most_common())
        out.print(plain(f"{left_out} completed actions before these, --all shows them: {text}"))
    out.print(timeline_table(shown))


def chosen(listed: Listed) -> Listed:
    """The newest actions, and older ones that have not completed: somebody may have to see to them."""
    older, newest = listed[:-NEWEST], listed[-NEWEST:]
    waiting = [one for one in older if one["state"] != "COMPLETED"]
    return [*waiting[-NEWEST:], *newest]
