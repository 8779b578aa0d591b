"""docs/clauses.md, every clause on one line: `python -m hudi_conformance.report.clause_index`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from hudi_conformance.cases import AREAS
from hudi_conformance.clauses import Clause, load_clauses
from hudi_conformance.lint.checkout import find_root
from hudi_conformance.report.markdown import markdown_table

PAGE = Path("docs") / "clauses.md"
HEAD = """# Clauses

Every numbered rule of the format, by area; written by `make golden`, do not edit. A link leads to the rule with its
source and evidence. Select the cases of one with `--clause TL-004` (`--conformance-clause` in pytest), those of an area
with `--area timeline`. An id is never given to another rule.

- **must** is asked of everyone; **should** and **may** only where an implementation has the thing at all; **open** has
  no settled answer.
- **Versions** are table versions. What holds for 6 holds for 4 and 5 too where these are read.
- **Refused with** names the reason that an answer to a table that breaks the rule has.
- **Two readings**: text and released behaviour differ; follow either, but the same in all cases."""


def clause_index(root: Path) -> str:
    """The page."""
    clauses = sorted(load_clauses(root / "specs" / "clauses"), key=lambda clause: (_area(clause), clause.id))
    lines = [HEAD, "", *_tally(clauses)]
    for area, group in groupby(clauses, key=_area):
        lines += ["", f"## {area}", "", *markdown_table(("clause", "level", "versions", "refused with"), _rows(group))]
    return "\n".join(lines) + "\n"


def _tally(clauses: Sequence[Clause]) -> Iterator[str]:
    areas = {area: [clause for clause in clauses if _area(clause) == area] for area in map(_area, clauses)}
    rows = ((f"[{area}](#{area})", found[0].prefix, len(found)) for area, found in areas.items())
    yield from markdown_table(("area", "letters", "clauses"), rows)


def _rows(clauses: Iterator[Clause]) -> Iterator[tuple[str, str, str, str]]:
    for clause in clauses:
        two = "; two readings" if len(clause.readings) > 1 else ""
        link = f"[{clause.id}](../specs/clauses/{clause.anchor}) {clause.title}{two}"
        yield link, clause.level, ", ".join(map(str, clause.versions)), ", ".join(clause.refuses)


def _area(clause: Clause) -> str:
    return AREAS.get(clause.prefix, clause.prefix.lower())


if __name__ == "__main__":
    checkout = find_root(Path.cwd())
    (checkout / PAGE).write_text(clause_index(checkout), encoding="utf-8")
