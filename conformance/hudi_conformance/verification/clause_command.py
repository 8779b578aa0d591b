"""`clause`: a clause on the terminal, with everything that cites it and the commands that go on from there."""

import textwrap
from collections.abc import Iterator, Sequence

from hudi_conformance.verification.clause_facts import ClauseFacts, Named

_SHOWN = 5
_WIDTH = 100
_INDENT = "  "


def clause_text(facts: ClauseFacts, *, shown: int = _SHOWN) -> str:
    """A clause as plain text; long lists are cut, and say how many there are."""
    return "\n".join(_lines(facts, shown))


def _lines(facts: ClauseFacts, shown: int) -> Iterator[str]:
    clause = facts.clause
    yield f"{clause.id}  {clause.title}"
    yield f"{_INDENT}level {clause.standing}, table versions {', '.join(map(str, clause.versions))}"
    if clause.refuses:
        yield f"{_INDENT}what breaks it is refused with {' or '.join(clause.refuses)}"
    yield ""
    yield from _rule(clause.rule)
    if clause.readings:
        yield from _section("readings")
        known = " and ".join(clause.readings)
        yield from _wrapped(
            f"Text and releases disagree. An implementation may follow either of {known}, always the same."
        )
    yield from _section("sources")
    yield from (_source(one.text, one.title, one.section) for one in facts.sources)
    if clause.evidence:
        yield from _wrapped(f"evidence: {clause.evidence}")
    yield from _named(f"stated by ({clause.stated_in})", facts.functions, len(facts.functions))
    yield from _cases(facts, shown)
    yield from _named("traces", facts.traces, shown)
    yield from _named("mutants: the model with this rule broken", facts.mutants, shown)
    yield from _named("properties", facts.properties, shown)
    if facts.properties:
        yield f"{_INDENT}check one:  hudi-conformance prove {facts.properties[0].name}"
    if facts.actions:
        yield from _section("TLA+")
        yield from _wrapped(", ".join(facts.actions))
    yield from _named("documented defects of implementations", facts.defects, shown)


def _cases(facts: ClauseFacts, shown: int) -> Iterator[str]:
    yield from _section(f"cases ({len(facts.cases)})")
    if not facts.cases:
        yield f"{_INDENT}none"
        return
    yield from (f"{_INDENT}{one.id}\n{_INDENT * 2}{one.title}" for one in facts.cases[:shown])
    if len(facts.cases) > shown:
        yield f"{_INDENT}... and {len(facts.cases) - shown} more:  hudi-conformance list --clause {facts.clause.id}"
    yield f"{_INDENT}run one:    hudi-conformance repro {facts.cases[0].id} --adapter NAME"
    yield f"{_INDENT}run all:    hudi-conformance run --clause {facts.clause.id} --adapter NAME"


def _named(title: str, found: Sequence[Named], shown: int) -> Iterator[str]:
    if not found:
        return
    yield from _section(f"{title} ({len(found)})" if len(found) > shown else title)
    yield from (f"{_INDENT}{one.name}\n{_INDENT * 2}{one.says}" for one in found[:shown])
    if len(found) > shown:
        yield f"{_INDENT}... and {len(found) - shown} more (--all or --json shows them)"


def _section(title: str) -> tuple[str, str]:
    return "", title


def _source(text: str, title: str, section: str) -> str:
    named = f"{text}: {title}" if title else text
    return f'{_INDENT}{named}, section "{section}"' if section else f"{_INDENT}{named}"


def _rule(text: str) -> Iterator[str]:
    """The rule as it stands, but for the breaks within a paragraph; lists and tables keep theirs."""
    for paragraph in text.split("\n\n"):
        if any(line.startswith(("|", "-", " ", "*", "`")) for line in paragraph.splitlines()):
            yield from (f"{_INDENT}{line}" for line in paragraph.splitlines())
        else:
            yield from _wrapped(" ".join(paragraph.split()))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )
