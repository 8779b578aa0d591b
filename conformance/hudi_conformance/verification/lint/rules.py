"""What must hold between the rule book, the code that states it and the cases that show it."""

from collections.abc import Iterator, Sequence

from hudi_conformance.runner.clauses import Clause, Problem, parse_sources
from hudi_conformance.verification.lint.checkout import READINGS, Checkout
from hudi_conformance.verification.lint.citations import Citation


def check_clauses(checkout: Checkout) -> Iterator[Problem]:
    """Ids are unique and stand in their area's file; sources, readings and reasons are known."""
    first: dict[str, Clause] = {}
    for clause in checkout.clauses:
        earlier = first.setdefault(clause.id, clause)
        if earlier is not clause:
            yield _at(checkout, clause, f"the id stands already at {checkout.clause_file(earlier)}:{earlier.line}")
        yield from (_at(checkout, clause, message) for message in _area(checkout, clause))
        yield from (_at(checkout, clause, message) for message in _sources(checkout, clause))
        yield from (_at(checkout, clause, message) for message in _words(checkout, clause))


def check_citations(checkout: Checkout, citations: Sequence[Citation]) -> Iterator[Problem]:
    """Nothing cites a clause that does not exist."""
    known = checkout.ids
    for citation in sorted({(one.file, one.line, one.id) for one in citations if one.id not in known}):
        file, line, identifier = citation
        yield Problem(file, line, f"cites {identifier}, which no clause file holds")


def check_stated(checkout: Checkout, citations: Sequence[Citation]) -> Iterator[Problem]:
    """Each must-clause is stated by a function or class of the room it names."""
    stated = {(one.id, one.kind) for one in citations}
    for clause in checkout.clauses:
        if clause.level == "must" and (clause.id, clause.stated_in) not in stated:
            yield _at(checkout, clause, f"stated in {clause.stated_in}, but no docstring there ends in its id")


def check_covered(checkout: Checkout, citations: Sequence[Citation]) -> Iterator[Problem]:
    """Each must-clause has a case that shows it in every table version it holds for; there is no list of exceptions."""
    for clause, versions in uncovered_clauses(checkout, citations).items():
        named = ", ".join(map(str, versions))
        message = f"no golden case shows it in table version {named}: add one, or a case that writes, or a trace"
        yield _at(checkout, clause, message)


def uncovered_clauses(checkout: Checkout, citations: Sequence[Citation]) -> dict[Clause, list[int]]:
    """Must-clauses, with the table versions they hold for in which no case shows them.

    A case shows a clause by an answer or, where the clause refuses something, by such a refusal.
    """
    found = {}
    cited: dict[str, list[Citation]] = {}
    for one in citations:
        cited.setdefault(one.id, []).append(one)
    for clause in checkout.clauses:
        kinds = {"accept", *(f"reject:{reason}" for reason in clause.refuses)}
        showing = [one.versions for one in cited.get(clause.id, ()) if one.kind in kinds]
        shown = clause.versions if None in showing else frozenset().union(*(one for one in showing if one))
        left = sorted(set(clause.versions) - set(shown))
        if clause.level == "must" and left:
            found[clause] = left
    return found


def _area(checkout: Checkout, clause: Clause) -> Iterator[str]:
    area = checkout.areas.get(clause.prefix)
    if area is None:
        yield f"{clause.prefix} is no area of specs/areas.toml"
    elif clause.file not in area.files:
        yield f"belongs into {' or '.join(area.files)}"


def _sources(checkout: Checkout, clause: Clause) -> Iterator[str]:
    sources = parse_sources(clause.source)
    if sources is None:
        yield f'source {clause.source!r} is not of the form `text, "Section"; text, "Section"`'
        return
    for source in sources:
        text = checkout.sources.get(source.text)
        if text is None:
            yield f"source {source.text!r} is no text of specs/sources.toml: {', '.join(checkout.sources)}"
        elif not text.has_section(source.section):
            yield f"{source.text} has no section {source.section!r} in specs/sources.toml"


def _words(checkout: Checkout, clause: Clause) -> Iterator[str]:
    for name in clause.over:
        if name not in checkout.ids:
            yield f"stands over {name}, which no clause file holds"
    if clause.readings and set(clause.readings) != READINGS:
        yield f"unknown readings {', '.join(clause.readings)}: a clause has none, or text and released"
    for reason in clause.refuses:
        if reason not in checkout.reasons:
            yield f"refuses with {reason}, which is no reason of specs/reasons.toml"


def _at(checkout: Checkout, clause: Clause, message: str) -> Problem:
    return Problem(checkout.clause_file(clause), clause.line, f"{clause.id}: {message}")
