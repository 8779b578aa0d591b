"""The clause lint: the rule book, the code that states it and the cases that show it agree."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from hudi_conformance.runner.clauses import Clause, Problem
from hudi_conformance.verification.lint.checkout import NoCheckoutError, find_root, read_checkout
from hudi_conformance.verification.lint.citations import all_citations
from hudi_conformance.verification.lint.coverage import check_coverage, check_passages
from hudi_conformance.verification.lint.guards import check_guards
from hudi_conformance.verification.lint.rules import (
    check_citations,
    check_clauses,
    check_covered,
    check_stated,
    uncovered_clauses,
)
from hudi_conformance.verification.lint.sources import check_texts

__all__ = ["LintReport", "NoCheckoutError", "find_root", "lint", "main"]


@dataclass(frozen=True, slots=True)
class LintReport:
    """What the lint read and what it found wrong."""

    clauses: tuple[Clause, ...]
    uncovered: tuple[Clause, ...]
    problems: tuple[Problem, ...]


def lint(root: Path, texts: Path | None = None) -> LintReport:
    """Compare everything in a checkout; with the folder of the texts, find what has changed in them too."""
    checkout = read_checkout(root)
    citations = all_citations(checkout)
    found = [
        *check_clauses(checkout),
        *check_citations(checkout, citations),
        *check_stated(checkout, citations),
        *check_covered(checkout, citations),
        *check_coverage(checkout),
        *check_guards(root),
    ]
    if not checkout.clauses:
        found.append(Problem("specs/clauses", 1, "no clause found: nothing was checked"))
    if texts is not None:
        found.extend(check_texts(checkout.sources, texts, "specs/sources.toml"))
        found.extend(check_passages(checkout, texts))
    # Citations are read above, so that what they found broken is among the checkout's problems here.
    problems = {*checkout.problems, *found}
    return LintReport(
        checkout.clauses,
        tuple(uncovered_clauses(checkout, citations)),
        tuple(sorted(problems, key=lambda problem: (problem.file, problem.line, problem.message))),
    )


def main(root: Path | None = None, texts: Path | None = None) -> int:
    """Lint a checkout, by default the one around the current folder; print what is wrong, answer the exit code."""
    console = Console(soft_wrap=True, highlight=False)
    try:
        report = lint(root or find_root(Path.cwd()), texts)
    except NoCheckoutError as error:
        console.print(str(error), markup=False)
        return 2
    for problem in report.problems:
        console.print(str(problem), markup=False)
    console.print(
        f"clauses: {len(report.clauses)}, must-clauses without a case in a version: {len(report.uncovered)}, "
        f"problems: {len(report.problems)}",
        markup=False,
    )
    return 1 if report.problems else 0
