"""Damages bytes and tables for longer than the tests have time for: python tests/fuzz/soak.py [--seconds 20] [NAME...].

Each target runs in a process of its own whose memory the system bounds, once with seeded damage and, where the code is
Python, once guided by coverage (guided.py). Then whole tables are read with one file damaged. A finding ends it with 1.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from damage import damage
from damaged_tables import attempt, readable_tables
from fuzz_inputs import Target
from fuzz_targets import TARGETS
from hudi_conformance.runner.recorded_results import write_run_page

MEMORY_BYTES = 2 * 1024**3
CALL_SECONDS = 10
GUIDED = (
    "logs",
    "DELETE blocks",
    "AVRO_DATA blocks",
    "HFiles",
    "Kryo",
    "record positions",
    "containers",
    "Avro schemas",
    "schemas with ids",
)
_HEAD = ("git", "rev-parse", "HEAD")
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Result:
    """One target, one way, so many calls; `found` is empty when only answers and typed errors came out."""

    name: str
    way: str
    calls: int
    slowest: float
    memory_mb: int
    found: str


def main() -> int:
    """Run the targets named, or all, and the tables; write a page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="targets; all, and whole tables, when none is named")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each target and way")
    parser.add_argument("--tables", type=int, default=400, help="damaged tables to read")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        _damaged(next(one for one in TARGETS if one.name == options.names[0]), options.seconds)
        return 0
    chosen = [one.name for one in TARGETS if not options.names or one.name in options.names]
    ways = [(name, way) for name in chosen for way in ("damage", "guided") if way == "damage" or name in GUIDED]
    results = [_in_a_process(name, way, options.seconds) for name, way in ways]
    tables = Counter() if options.names else _tables(options.tables)
    if options.write:
        write_run_page(options.write, _page(results, tables, options.seconds))
    found = [one for one in results if one.found]
    sys.stdout.write("".join(f"{one.name} ({one.way}): {one.found}\n" for one in found) or "nothing found\n")
    return 1 if found or any(reported.startswith("FOUND") for _, reported in tables) else 0


def _in_a_process(name: str, way: str, seconds: float) -> Result:
    own = [__file__, name, "--here", "--seconds", str(seconds)]
    guided = [str(Path(__file__).with_name("guided.py")), name, str(int(seconds))]
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, *(own if way == "damage" else guided)],
            check=False,
            capture_output=True,
            text=True,
            timeout=seconds * 4 + 300,
            env={**os.environ, "TMPDIR": folder},
        )
    found = "" if run.returncode == 0 else (run.stdout + run.stderr)[-3000:]
    if way == "damage":
        lines = [line for line in run.stdout.splitlines() if line.startswith('{"name"')]
        return Result(**json.loads(lines[-1])) if lines else Result(name, way, 0, 0.0, 0, found or "no result")
    stats = dict(
        line.removeprefix("stat::").split(":") for line in run.stderr.splitlines() if line.startswith("stat::")
    )
    calls, slowest = int(stats.get("number_of_executed_units", 0)), float(stats.get("slowest_unit_time_sec", 0))
    return Result(name, way, calls, slowest, int(stats.get("peak_rss_mb", 0)), found)


def _damaged(target: Target, seconds: float) -> None:
    """Print one result; memory beyond the bound is a MemoryError, which is a finding unless the parser refuses."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    source, seeds = random.Random(time.time_ns()), target.seeds()  # noqa: S311 - damage, not secrets
    calls, slowest, found, end = 0, 0.0, "", time.monotonic() + seconds
    while time.monotonic() < end and not found:
        data = damage(source, seeds)
        started = time.monotonic()
        signal.alarm(CALL_SECONDS)
        try:
            target.refuses_or_answers(data)
        except BaseException:  # noqa: BLE001 - whatever it is, it is a finding
            found = f"{data.hex()}\n{traceback.format_exc()}"
        signal.alarm(0)
        calls, slowest = calls + 1, max(slowest, time.monotonic() - started)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(json.dumps(asdict(Result(target.name, "damage", calls, slowest, memory, found))) + "\n")


def _too_long(*_: object) -> None:
    raise TimeoutError(f"a call took longer than {CALL_SECONDS} s")


def _tables(count: int) -> Counter[tuple[str, str]]:
    """How often the engine said what of which damage."""
    reported: Counter[tuple[str, str]] = Counter()
    tables, first = readable_tables(), time.time_ns() % 10**9
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                done, outcome = attempt(seed, tables, Path(folder))
            except Exception:  # noqa: BLE001 - a foreign exception is a finding
                sys.stdout.write(f"seed {seed}: {traceback.format_exc()}\n")
                reported["any", f"FOUND: a foreign exception, seed {seed}"] += 1
                continue
            silent = outcome.reported == "different" and done.must_show
            if silent:
                sys.stdout.write(f"seed {seed}: {done} {outcome}\n")
            reported[done.change, f"FOUND: {outcome.reported}, seed {seed}" if silent else outcome.reported] += 1
    return reported


def _page(results: list[Result], tables: Counter[tuple[str, str]], seconds: float) -> str:
    commit = subprocess.run(_HEAD, cwd=_ROOT, check=False, capture_output=True, text=True)
    lines = [
        "# Damaged bytes",
        "",
        f"Written by `make soak` (`python tests/fuzz/soak.py`) at commit `{commit.stdout.strip()}`.",
        f"Each line is one process on one core for {seconds:g} s, its memory bounded to {MEMORY_BYTES >> 20} MiB,",
        f"each call to {CALL_SECONDS} s. Inputs are real files of at most 48 KiB with damage.",
        "",
        "| parser | way | calls | slowest call | peak memory of the process | findings |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_line(one) for one in results),
        "",
    ]
    if tables:
        lines += [
            "## Damaged tables",
            "",
            "Golden tables with one file dropped, cut short, garbled or swapped for another, read in process.",
            "*Different* is what no reader can see: values in files without checksums, an instant whose completion is",
            "gone, a file that nothing names, one whole file under the name of another.",
            "",
            "| change | the engine said | tables |",
            "| --- | --- | --- |",
            *(f"| {change} | {reported} | {count} |" for (change, reported), count in sorted(tables.items())),
            "",
        ]
    return "\n".join(lines)


def _line(one: Result) -> str:
    slowest = f"{one.slowest:.2f} s" if one.slowest else "-"
    memory = f"{one.memory_mb} MB" if one.memory_mb else "-"
    return f"| {one.name} | {one.way} | {one.calls} | {slowest} | {memory} | {'found' if one.found else 'none'} |"


if __name__ == "__main__":
    sys.exit(main())
