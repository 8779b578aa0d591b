"""`hudi-conformance counterexample`: a file of Apalache's, printed and drawn."""

from pathlib import Path

from rich.console import Console

from hudi_conformance.verification.counterexamples.page import write_behaviour
from hudi_conformance.verification.counterexamples.sources import CounterexampleError, of_itf
from hudi_conformance.verification.counterexamples.terminal import print_behaviour


def show_file(file: Path, violated: str, draw: Path | None, out: Console) -> int:
    """Print what a file holds, and draw it on request: exit 2 where it holds no counterexample."""
    try:
        behaviour = of_itf(file, violated)
    except CounterexampleError as error:
        out.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    print_behaviour(behaviour, out, changes=True)
    if draw:
        out.print(f"drawn: {write_behaviour(behaviour, draw)}", markup=False, soft_wrap=True)
    return 0
