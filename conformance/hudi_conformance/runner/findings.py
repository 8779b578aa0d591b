"""Findings: what an implementation does other than a clause says, reported once for all its releases and cases.

`adapters/findings/<product>.toml` holds `[[finding]]` entries; a list of expected failures names them, `finding =
"<product>/<name>"`, with the cases that show each, or states the same entries itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

from hudi_conformance.runner.adapters_config import AdapterConfigError
from hudi_conformance.runner.identifiers import nearest_words

FOLDER = "findings"
_REQUIRED = ("clause", "why", "evidence")
_KNOWN = frozenset({*_REQUIRED, "name", "id", "ids", "source", "upstream", "reproduce", "leaves"})
_ISSUE = re.compile(r"[\w.-]+/[\w.-]+#\d+")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is done instead of what the clause says, what shows it, where it likely comes from, who knows of it.

    `reproduce` is one command; empty where `hudi-conformance repro` of a case shows it. `upstream` are issues.
    `leaves` are clauses that a table breaks once it has happened, each with a part of what a check says of it.
    """

    name: str
    clause: str
    why: str
    evidence: str
    source: str = ""
    upstream: tuple[str, ...] = ()
    reproduce: str = ""
    leaves: tuple[tuple[str, str], ...] = ()


def finding_of(entry: Mapping[str, Any], path: Path) -> Finding:
    """The finding that an entry states.

    Raises:
        AdapterConfigError: the clause, the reason or the evidence is missing, or an entry is not known.

    """
    place = f"{path.name}: {entry.get('name') or entry.get('id') or entry.get('ids') or 'an entry'}"
    if strange := sorted(entry.keys() - _KNOWN):
        raise AdapterConfigError(f"{place}: {strange[0]!r} is not known here{nearest_words(strange[0], _KNOWN)}")
    for key in _REQUIRED:
        if not str(entry.get(key, "")).strip():
            raise AdapterConfigError(f"{place}: {key!r} is missing")
    upstream = tuple(str(one) for one in entry.get("upstream", ()))
    if not all(map(_ISSUE.fullmatch, upstream)):
        raise AdapterConfigError(f"{place}: 'upstream' names issues as owner/repository#1, not {', '.join(upstream)}")
    texts = {key: str(entry.get(key, "")).strip() for key in ("name", *_REQUIRED, "source", "reproduce")}
    leaves = tuple((str(clause), str(part)) for clause, part in dict(entry.get("leaves", {})).items())
    return Finding(upstream=upstream, leaves=leaves, **texts)


@cache
def findings_below(folder: Path) -> Mapping[str, Finding]:
    """All findings below a folder of adapters, as `<product>/<name>`.

    Raises:
        AdapterConfigError: a file does not parse, lacks an entry, or names a finding twice.

    """
    found: dict[str, Finding] = {}
    for path in sorted((folder / FOLDER).glob("*.toml")):
        for entry in _entries(path):
            finding = finding_of(entry, path)
            name = f"{path.stem}/{finding.name}"
            if not finding.name or name in found:
                raise AdapterConfigError(f"{path.name}: a finding has a name of its own, not {finding.name!r}")
            found[name] = finding
    return found


def _entries(path: Path) -> list[Mapping[str, Any]]:
    try:
        return [dict(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("finding", [])]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise AdapterConfigError(f"{path.name}: {error}") from error
