"""The block that tells a failed case: clause, what must hold, every difference, and the command that repeats it."""

import shlex
from collections.abc import Iterator

from hudi_conformance.runner.adapter_pool import Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.comparison import row_counts
from hudi_conformance.runner.plain_text import plain
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.verdicts import Outcome

NOBODY_ELSE = Roles()
SHOWN_DIFFERENCES = 20
_RULE_LENGTH = 160
_COMMAND_LENGTH = 10_000


def failure_text(
    outcome: Outcome,
    adapter: AdapterConfig,
    book: ClauseBook,
    shown: int = SHOWN_DIFFERENCES,
    roles: Roles = NOBODY_ELSE,
) -> str:
    """The block as plain text, the same on a terminal and in a report."""
    command = plain(repro_command(outcome, adapter, roles), _COMMAND_LENGTH)
    return "\n".join((*_lines(outcome, adapter, book, shown), f"  repro   {command}"))


def _lines(outcome: Outcome, adapter: AdapterConfig, book: ClauseBook, shown: int) -> Iterator[str]:
    case = outcome.case
    word = "FAIL" if outcome.verdict == "fail" else outcome.verdict.upper()
    yield f"{word} {case.id} [{adapter.name}]  {case.title}"
    for clause_id in case.clauses:
        yield f"  clause  {_clause(clause_id, book)}"
    for name, text in (("given", case.given), ("when", case.when), ("then", case.then), ("message", outcome.message)):
        if text:
            yield f"  {name:<7} {' '.join(text.split())}"
    yield from _difference_lines(outcome, shown)


def repro_command(outcome: Outcome, adapter: AdapterConfig, roles: Roles = NOBODY_ELSE) -> str:
    """The command that repeats a case, with everybody who has a part in one that writes."""
    parts = ["hudi-conformance", "repro", outcome.case.id, "--adapter", _given(adapter)]
    if outcome.case.writes:
        parts += ["--servicer", _given(roles.servicer)] if roles.servicer else []
        parts += [word for one in roles.readers if one != roles.checker for word in ("--reader", _given(one))]
    return shlex.join(parts)


def _given(adapter: AdapterConfig) -> str:
    return adapter.given or adapter.name


def _clause(clause_id: str, book: ClauseBook) -> str:
    clause = book.get(clause_id)
    if clause is None:
        return clause_id
    rule = " ".join(clause.rule.split())
    rule = rule if len(rule) <= _RULE_LENGTH else f"{rule[:_RULE_LENGTH]}..."
    versions = ", ".join(f"v{version}" for version in clause.versions)
    return f'{clause.id} {clause.title} ({clause.level}, {versions})  "{rule}"  specs/clauses/{clause.anchor}'


def _difference_lines(outcome: Outcome, shown: int) -> Iterator[str]:
    differences = outcome.differences
    for text in differences[:shown]:
        yield f"  diff    {text}"
    if len(differences) > shown:
        yield f"  diff    ... and {len(differences) - shown} more (repro shows all)"
    if differences:
        counts = row_counts(differences)
        yield f"          ({', '.join(f'{count} {name}' for name, count in counts.items())})"
