"""The text of a failed case: its clauses, what was expected, what came, and the commands that explain and repeat it."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.runner.adapter_pool import Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.cases import Expectation, Step
from hudi_conformance.runner.comparison import row_counts
from hudi_conformance.runner.plain_text import fitted, plain
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.verdicts import FAILURES, Outcome

NOBODY_ELSE = Roles()
SHOWN_DIFFERENCES = 20
_RULE_LENGTH = 160
_COMMAND_LENGTH = 10_000
_PARAMS_LENGTH = 200


def headline(verdict: str, message: str, differences: Sequence[str], columns: int = 80) -> str:
    """A case in one line, at most so many columns wide: its verdict and the first difference."""
    text = plain(" ".join((message or next(iter(differences), "")).split()), _COMMAND_LENGTH)
    return fitted(f"{verdict}: {text}" if text else verdict, columns)


def headline_of(line: Mapping[str, Any]) -> str:
    """The headline of a case of a results file."""
    return headline(str(line["verdict"]), str(line["message"]), line["differences"])


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
    for place, clause_id in enumerate(case.clauses):
        yield f"  clause  {_clause(clause_id, book, with_rule=place == 0)}"
    for name, text in (("given", case.given), ("when", case.when), ("then", case.then), *_verdict_texts(outcome)):
        if text:
            yield f"  {name:<7} {' '.join(text.split())}"
    yield from _difference_lines(outcome, shown)
    if case.clauses:
        yield f"  explain hudi-conformance clause {' '.join(case.clauses)}"


def _verdict_texts(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """What was asked, what had to come of it, and what came."""
    if outcome.verdict not in FAILURES:
        yield "message", outcome.message
        return
    step = _decided(outcome)
    if step is not None:
        yield "asked", _question(outcome, step)
        yield "expect", _expected(step)
    yield "got", outcome.message or _got(outcome)


def _decided(outcome: Outcome) -> Step | None:
    """The step that decided; a case of one step has no other."""
    steps = outcome.case.steps
    number = outcome.step or (1 if len(steps) == 1 else 0)
    return steps[number - 1] if 1 <= number <= len(steps) else None


def _question(outcome: Outcome, step: Step) -> str:
    case = outcome.case
    place = f"step {outcome.step or 1} of {len(case.steps)}: " if len(case.steps) > 1 else ""
    params = f" {plain(json.dumps(dict(step.params), ensure_ascii=False), _PARAMS_LENGTH)}" if step.params else ""
    table = case.begins_with.id if case.begins_with else "" if case.writes else case.table.id
    return f"{place}{step.op}{params}{f', of table {table}' if table else ''}"


def _expected(step: Step) -> str:
    """What a step must come to, in a few words; the rows themselves stand in the differences."""
    done = ", ".join(f"{name} {json.dumps(value)}" for name, value in step.done.items())
    refusal = f"a refusal with {' or '.join(step.reasons)}" if step.reasons else ""
    if step.writes:
        answer = "" if refusal and not step.done else f"the step succeeds{f' with {done}' if done else ''}"
    else:
        answer = " or ".join(dict.fromkeys(_counted(one) for one in step.expectations))
    warned = f", with a warning of {' and '.join(step.warnings)}" if step.warnings else ""
    return " or ".join(filter(None, (answer, refusal))) + warned


def _counted(expectation: Expectation) -> str:
    try:
        content = expectation.answer.content
    except CorpusError:
        return "an answer"
    reading = f" (reading {expectation.reading})" if expectation.reading else ""
    if isinstance(content, Rows):
        return f"{len(content.rows)} row{'' if len(content.rows) == 1 else 's'}{reading}"
    return f"a list of {len(content)}{reading}" if isinstance(content, list) else f"a value{reading}"


def _got(outcome: Outcome) -> str:
    counts = row_counts(outcome.differences)
    return f"another answer: {', '.join(f'{count} {name}' for name, count in counts.items() if count)}"


def repro_command(outcome: Outcome, adapter: AdapterConfig, roles: Roles = NOBODY_ELSE) -> str:
    """The command that repeats a case, with everybody who has a part in one that writes."""
    parts = ["hudi-conformance", "repro", outcome.case.id, "--adapter", _given(adapter)]
    if outcome.case.writes:
        parts += ["--servicer", _given(roles.servicer)] if roles.servicer else []
        parts += [word for one in roles.readers if one != roles.checker for word in ("--reader", _given(one))]
    return shlex.join(parts)


def _given(adapter: AdapterConfig) -> str:
    return adapter.given or adapter.name


def _clause(clause_id: str, book: ClauseBook, *, with_rule: bool) -> str:
    """A clause by its title; of the first one, that a case is about, also the rule."""
    clause = book.get(clause_id)
    if clause is None:
        return clause_id
    named = f"{clause.id} {clause.title} ({clause.standing}, {', '.join(f'v{one}' for one in clause.versions)})"
    rule = " ".join(clause.rule.split())
    rule = rule if len(rule) <= _RULE_LENGTH else f"{rule[:_RULE_LENGTH].rpartition(' ')[0]} ..."
    return f"{named}: {rule}" if with_rule else named


def _difference_lines(outcome: Outcome, shown: int) -> Iterator[str]:
    differences = outcome.differences
    for text in differences[:shown]:
        yield f"  diff    {text}"
    if len(differences) > shown:
        yield f"  diff    ... and {len(differences) - shown} more (repro shows all)"
