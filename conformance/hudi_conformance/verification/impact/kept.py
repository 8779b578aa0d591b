"""Results of before: each holds as long as the functions that it reached are the same, and all that is no function."""

import gzip
import hashlib
import json
import os
import platform
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypeAlias

from hudi_conformance.runner.resources import cache_folder
from hudi_conformance.verification.impact.functions import Function, skeleton_of
from hudi_conformance.verification.impact.revisions import Side

FILES, VERSIONS = 8, 6
"""How many files the cache folder holds, and how many results of one table or statement are in one."""
ENVIRONMENT = ("HUDI_", "LANG", "LC_", "PYTHON", "TZ")
KEYS = {"answers": "table", "properties": "id", "scenarios": "id"}
"""The results that are kept, and what names one. Those of TLC depend on what is installed."""
Line: TypeAlias = Mapping[str, Any]
Results: TypeAlias = Mapping[str, Mapping[str, Line]]
"""By task and name."""


@dataclass(frozen=True, slots=True)
class Content:
    """What results of a side depend on: the file that keeps them, and the bodies of its functions."""

    file: Path | None
    bodies: Mapping[str, str]

    def holds(self, kept: Line) -> bool:
        """Whether a result is that of these functions."""
        return bool(kept["sum"] == self.sum_of(kept["line"]["reach"]))

    def sum_of(self, reach: Iterable[str]) -> str:
        """The sum of the functions that a result reached."""
        return hashlib.sha256("\n".join(f"{name} {self.bodies.get(name)}" for name in reach).encode()).hexdigest()


def content_of(side: Side, functions: Mapping[str, Function], program: Path) -> Content:
    """What results depend on; they are kept in no file where nothing may be concluded from the sources."""
    if not side.sources:
        return Content(None, {})
    bodies = {name: hashlib.sha256(one.body.encode()).hexdigest() for name, one in functions.items()}
    # The program that asks and the libraries are those of now, whichever side is asked.
    installed = sorted(f"{one.name} {one.version}" for one in distributions())
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(ENVIRONMENT))
    parts = side.others, skeleton_of(side.root), platform.platform(), sys.version, installed, variables
    key = hashlib.sha256(json.dumps(parts).encode() + program.read_bytes()).hexdigest()
    return Content(cache_folder() / "impact" / f"{key[:40]}.gz", bodies)


def kept_results(content: Content) -> Results:
    """What holds of that content."""
    found = {
        task: {name: [one for one in some if content.holds(one)] for name, some in named.items()}
        for task, named in _read(content).items()
    }
    return {task: {name: some[-1]["line"] for name, some in named.items() if some} for task, named in found.items()}


def keep_results(content: Content, lines: Mapping[str, Iterable[Line]]) -> None:
    """Keep results; not those that are a breakdown, which may come from this machine, as from a full disk."""
    if content.file is None:
        return
    known = _read(content)
    for task in KEYS.keys() & lines.keys():
        for line in lines[task]:
            some = known.setdefault(task, {}).setdefault(line[KEYS[task]], [])
            if not breaks(line) and not any(content.holds(one) for one in some):
                some[:] = [*some[1 - VERSIONS :], {"sum": content.sum_of(line["reach"]), "line": line}]
    aside = content.file.with_suffix(f".{os.getpid()}")
    try:
        aside.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(gzip.compress(json.dumps(known).encode(), 1))
        aside.replace(content.file)
        for old in sorted(aside.parent.glob("*.gz"), key=lambda one: one.stat().st_mtime)[:-FILES]:
            old.unlink()
    except OSError:
        return  # Without a cache everything is asked again.


def breaks(line: Line) -> bool:
    """Whether a result is that something raised."""
    if "cases" not in line:
        return str(line["message"]).startswith("breaks: ")
    return not line["cases"] or any(case["released"].startswith("breaks: ") for case in line["cases"].values())


def _read(content: Content) -> dict[str, dict[str, list[Any]]]:
    try:
        found = json.loads(gzip.decompress(content.file.read_bytes())) if content.file else {}
    except (OSError, EOFError, ValueError, zlib.error):
        return {}
    return found if isinstance(found, dict) else {}
