"""What a person at a terminal sees while a write runs: its step, once it takes longer than two seconds."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_QUIET_SECONDS: Final = 2.0

Step = Callable[[str], None]


@contextmanager
def shown(operation: str) -> Iterator[Step]:
    """Shows the steps of a write on a terminal; elsewhere nothing is printed."""
    if not sys.stderr.isatty():
        yield _silent
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(operation, total=None, visible=False)
        show = threading.Timer(_QUIET_SECONDS, progress.update, (line,), {"visible": True})
        show.start()
        try:
            yield lambda step: progress.update(line, description=f"{operation}: {step}")
        finally:
            show.cancel()


def _silent(step: str) -> None:
    del step
