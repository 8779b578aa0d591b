"""Both sides asked at once, each in processes of its own under its own packages."""

import gzip
import hashlib
import json
import os
import platform
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypeAlias

from hudi_conformance.runner.resources import cache_folder
from hudi_conformance.verification.impact.revisions import ImpactError, Side, sources_of

PROGRAM = Path(__file__).with_name("one_side.py")
KEPT = 8
"""How many sets of answers the cache folder holds."""
ENVIRONMENT = ("HUDI_", "LANG", "LC_", "PYTHON", "TZ")
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
    done: dict[str, dict[int, tuple[int, int]]] = {}
    lock = threading.Lock()

    def report_sum(request: int, name: str, some: int, total: int) -> None:
        """Parts of one task are reported as one."""
        with lock:
            done.setdefault(name, {})[request] = some, total
            finished, whole = map(sum, zip(*done[name].values(), strict=True))
            report_progress(name, finished, whole)

    with ThreadPoolExecutor(max_workers=max(1, len(requests))) as pool:
        numbered = enumerate(requests)
        return list(pool.map(lambda one: run_side(one[1], partial(report_sum, one[0])), numbered))


def in_parts(side: Side, tables: Sequence[str], parts: int) -> list[Request]:
    """The question for a side's answers, in parts for as many processes."""
    corpus = {"folder": str(side.root / "golden_tables"), "tables": tables}
    return [Request(side, {"answers": {**corpus, "part": (part, parts)}}) for part in range(parts)]


def joined(parts: Sequence[Answered]) -> Answered:
    """The answers of the parts as one."""
    return Answered({"answers": [line for one in parts for line in one.lines["answers"]]}, parts[0].known)


def kept_answers(side: Side, tables: Sequence[str]) -> Answered | None:
    """What packages of the same sources answered before; None where that is not known."""
    try:
        return Answered(**json.loads(gzip.decompress(_kept_in(side, tables).read_bytes()))) if side.sources else None
    except (OSError, EOFError, ValueError, TypeError, zlib.error):
        return None


def keep_answers(side: Side, tables: Sequence[str], found: Answered) -> None:
    """Keep answers by the sum of the sources, unless these were edited meanwhile or an answer is a breakdown.

    A breakdown may come from this machine, as from a full disk, and not from the sources.
    """
    broken = any(
        not line["cases"] or any(case["released"].startswith("breaks: ") for case in line["cases"].values())
        for line in found.lines["answers"]
    )
    if not side.sources or broken or (side.is_working_tree and sources_of(side.root) != side.sources):
        return
    file = _kept_in(side, tables)
    aside = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(gzip.compress(json.dumps(asdict(found)).encode(), 1))
        aside.replace(file)
        for old in sorted(file.parent.glob("*.gz"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
            old.unlink()
    except OSError:
        return  # Without a cache everything is asked again.


def _kept_in(side: Side, tables: Sequence[str]) -> Path:
    # The program that asks and the libraries are those of now, whichever side is asked.
    installed = sorted(f"{one.name} {one.version}" for one in distributions())
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(ENVIRONMENT))
    parts = side.sources, sorted(tables), platform.platform(), sys.version, installed, variables
    key = hashlib.sha256(json.dumps(parts).encode() + PROGRAM.read_bytes()).hexdigest()
    return cache_folder() / "impact" / f"{key[:40]}.gz"


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
