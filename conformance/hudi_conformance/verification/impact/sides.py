"""Both sides asked at once, each in processes of its own under its own packages."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hudi_conformance.verification.impact.revisions import ImpactError, Side

PROGRAM = Path(__file__).with_name("one_side.py")
Line: TypeAlias = Mapping[str, Any]
ReportProgress: TypeAlias = Callable[[str, int, int], None]
"""Receives how much of what is done: its name, how many, of how many."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one side is asked, by task."""

    side: Side
    tasks: Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class Answered:
    """What a side came to: the lines of each task, and how many there are to choose from."""

    lines: dict[str, list[Line]]
    known: dict[str, int]


def run_all(requests: Sequence[Request], report_progress: ReportProgress) -> list[Answered]:
    """Ask several processes at once.

    Raises:
        ImpactError: one of them came to no end.

    """
    with ThreadPoolExecutor(max_workers=max(1, len(requests))) as pool:
        return list(pool.map(lambda one: run_side(one, report_progress), requests))


def run_side(request: Request, report_progress: ReportProgress) -> Answered:
    """Ask one side in a process of its own.

    Raises:
        ImpactError: its packages are not those of its checkout, or it came to no end.

    """
    found = Answered({name: [] for name in request.tasks}, {})
    if not request.tasks:
        return found
    totals: dict[str, int] = {}
    for line in _lines(request):
        name = line["task"]
        if name == "place":
            _refuse_other_checkouts(request.side, line["path"])
        elif "total" in line:
            totals[name], found.known[name] = line["total"], line["known"]
        else:
            found.lines[name].append(line)
        if name in totals:
            report_progress(f"{request.side.name}: {name}", len(found.lines[name]), totals[name])
    return found


def _lines(request: Request) -> Iterator[Line]:
    # -P: the folder of the program holds modules of the newest side, and no side may import those.
    with subprocess.Popen(
        [sys.executable, "-P", str(PROGRAM)],
        env=request.side.environment,
        cwd=request.side.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(json.dumps(request.tasks) + "\n")
        process.stdin.close()
        try:
            for line in process.stdout:
                yield json.loads(line)
        except BaseException:
            process.kill()
            raise
        wrong = process.stderr.read().strip().splitlines()
    if process.returncode:
        raise ImpactError(f"{request.side.name} cannot be asked: {wrong[-1] if wrong else process.returncode}")


def _refuse_other_checkouts(side: Side, path: str) -> None:
    if not Path(path).resolve().is_relative_to(side.root.resolve()):
        raise ImpactError(f"{side.name} cannot be asked: its packages come from elsewhere")
