"""The clause lint: the rule book, the code that states it and the cases that show it agree."""

from pathlib import Path

from rich.console import Console

from hudi_conformance.clauses import Problem
from hudi_conformance.lint.checkout import Checkout, NoCheckoutError, find_root, read_checkout
from hudi_conformance.lint.citations import all_citations
from hudi_conformance.lint.rules import (
    check_citations,
    check_clauses,
    check_covered,
    check_stated,
    uncovered_clauses,
)
from hudi_conformance.lint.sources import check_texts

__all__ = ["Checkout", "NoCheckoutError", "find_root", "lint", "main"]


def lint(root: Path, texts: Path | None = None) -> tuple[Problem, ...]:
    """Everything that is wrong in a checkout; with the folder of the texts, changed sections too."""
    checkout = read_checkout(root)
    citations = all_citations(checkout)
    found = [
        *check_clauses(checkout),
        *check_citations(checkout, citations),
        *check_stated(checkout, citations),
        *check_covered(checkout, citations),
    ]
    if not checkout.clauses:
        found.append(Problem("specs/clauses", 1, "no clause found"))
    if texts is not None:
        found.extend(check_texts(checkout.sources, texts, "specs/sources.toml"))
    return tuple(sorted({*checkout.problems, *found}, key=lambda problem: (problem.file, problem.line)))


def main(root: Path | None = None, texts: Path | None = None) -> int:
    """Lint the checkout around the current folder, print what is wrong, answer the exit code."""
    console = Console(soft_wrap=True, highlight=False)
    try:
        folder = root or find_root(Path.cwd())
    except NoCheckoutError as error:
        console.print(str(error), markup=False)
        return 2
    problems = lint(folder, texts)
    for problem in problems:
        console.print(str(problem), markup=False)
    checkout = read_checkout(folder)
    uncovered = len(uncovered_clauses(checkout, all_citations(checkout)))
    summary = f"clauses: {len(checkout.clauses)}, must-clauses without a case: {uncovered}, problems: {len(problems)}"
    console.print(summary, markup=False)
    return 1 if problems else 0
