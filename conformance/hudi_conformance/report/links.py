"""Where the pages of a report lie: one index, and pages beside it by what they show."""

import hashlib
import re

from hudi_conformance.runner.case_values import ID_PREFIX

INDEX = "index.html"
CLAUSES = "clauses.html"
RUNS = "runs.html"
CASES, TABLES = "cases", "tables"
_LONGEST = 120
_WORD = "[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*"
_PLAIN = re.compile(f"{_WORD}(?:/{_WORD})*(?:::{_WORD})?")


def case_file(case: str) -> str:
    """The page of a case, from the report's folder on."""
    return f"{CASES}/{_name(case.removeprefix(f'{ID_PREFIX}::'))}.html"


def table_file(table: str) -> str:
    """The page of a golden table, from the report's folder on."""
    return f"{TABLES}/{_name(table)}.html"


def case_anchor(case: str) -> str:
    """The fragment of a case on the page of its table."""
    return f"case-{_name(case.removeprefix(f'{ID_PREFIX}::'))}"


def _name(text: str) -> str:
    """A text as a file name: no two texts have one, and none leaves its folder."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", text.replace("::", "--").replace("/", "."))
    if len(plain) <= _LONGEST and _PLAIN.fullmatch(text):
        return plain
    return f"{plain[:_LONGEST]}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
