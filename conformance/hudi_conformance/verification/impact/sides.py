"""One side asked in several processes at once, under its own packages."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from hudi_conformance.verification.impact.kept import KEYS, Line, Results
from hudi_conformance.verification.impact.revisions import ImpactError, Side

PROGRAM = Path(__file__).with_name("one_side.py")
ReportProgress: TypeAlias = Callable[[str, int, int], None]
"""Receives how much of what is done: its name, how many, of how many."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one side is asked, by task, and what of it is known."""

    side: Side
    tasks: Mapping[str, Mapping[str, Any]]
    kept: Results

    def parts(self) -> list["Request"]:
        """The same for as many processes as this machine runs at once."""
        count = os.cpu_count() or 1
        return [self._part(part, count) for part in range(count if self.tasks else 0)]

    def _part(self, part: int, count: int) -> "Request":
        known = {name: {"part": (part, count), "known": list(self.kept.get(name, {}))} for name in self.tasks}
        return replace(self, tasks={name: {**task, **known[name]} for name, task in self.tasks.items()})


@dataclass(slots=True)
class Answered:
    """What a side came to: the lines of each task, how many of them were computed, and how many there could be."""

    lines: dict[str, list[Line]] = field(default_factory=dict)
    computed: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)

    def add(self, part: "Answered") -> None:
        """What another process came to."""
        for name, lines in part.lines.items():
            self.lines.setdefault(name, []).extend(lines)
            self.computed[name] = self.computed.get(name, 0) + part.computed[name]
        self.known.update(part.known)


def run(request: Request, report_progress: ReportProgress) -> Answered:
    """Ask one side in several processes at once.

    Raises:
        ImpactError: one of them came to no end.

    """
    done: dict[str, dict[int, tuple[int, int]]] = {}
    lock = threading.Lock()

    def report_sum(part: int, name: str, some: int, total: int) -> None:
        """Parts of one task are reported as one."""
        with lock:
            done.setdefault(name, {})[part] = some, total
            finished, whole = map(sum, zip(*done[name].values(), strict=True))
            report_progress(name, finished, whole)

    parts, found = request.parts(), Answered()
    with ThreadPoolExecutor(max_workers=max(1, len(parts))) as pool:
        for one in pool.map(lambda one: run_part(one[1], partial(report_sum, one[0])), enumerate(parts)):
            found.add(one)
    return found


def run_part(request: Request, report_progress: ReportProgress) -> Answered:
    """Ask one side in one process.

    Raises:
        ImpactError: its packages are not those of its checkout, or it came to no end.

    """
    found = Answered({name: [] for name in request.tasks}, dict.fromkeys(request.tasks, 0))
    totals: dict[str, int] = {}
    for line in _lines(request):
        name = line["task"]
        if name == "place":
            _refuse_other_checkouts(request.side, line["path"])
        elif "total" in line:
            totals[name], found.known[name] = line["total"], line["known"]
        elif "kept" in line:
            found.lines[name].append(request.kept[name][line[KEYS[name]]])
        else:
            found.lines[name].append(line)
            found.computed[name] += 1
        if name in totals:
            report_progress(f"{request.side.name}: {name}", found.computed[name], totals[name])
    return found


def _lines(request: Request) -> Iterator[Line]:
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)],
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
