"""The engine beside Apache Hudi, hudi-rs and plain Parquet: the same inputs, one Spark session, in turns.

python benchmarks/run.py --group reads --only MOR --rows 500000 --rounds 5 --write docs/reference/benchmarks.md

The sizes by default are small, so that a part can be run anywhere. Prints for each benchmark the median seconds of each
contender, their spread, and the ratio to the contender that it is measured against, by time and by time of the
processor; `--json` prints a line for each benchmark. `--write` keeps ratios only, since seconds are the machine's.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from measuring import Times, in_rounds
from page import Result, add_results, result_of
from sessions import Sessions
from tables import Sizes, Tables
from work import Benchmark, benchmarks


def main() -> None:
    """Measure, print, and keep the ratios if asked to, each as soon as it is there."""
    options = _options()
    sizes = Sizes(options.rows, options.slices, options.commits)
    chosen = [
        one
        for one in benchmarks(sizes)
        if options.only in one.name and (not options.group or one.group in options.group)
    ]
    if options.list:
        print("\n".join(f"{one.group}: {one.name}" for one in chosen))
        return
    if not chosen:
        raise SystemExit("no benchmark of such a name; --list shows all")
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        tables = Tables(Sessions(options.apache, options.cores), Path(folder), sizes)
        for one in chosen:
            try:
                attempts = one.attempts(tables)
            except Exception as error:  # noqa: BLE001 - the others are measured all the same
                print(f"{one.group}: {one.name}: its tables cannot be made: {error!s:.300}", flush=True)
                continue
            times = in_rounds(attempts, options.rounds, options.repeats)
            result = result_of(one, times, rows=options.rows, cores=options.cores, load=os.getloadavg()[0])
            _show(one, times, result, as_json=options.json)
            if options.write:
                add_results(options.write, [result])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", help="only this group, and others named so; --list shows them")
    parser.add_argument("--only", default="", help="benchmarks whose name has this in it")
    parser.add_argument("--list", action="store_true", help="print the names, measure nothing")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the tables")
    parser.add_argument("--slices", type=int, default=1_000, help="file slices of tables of small ones")
    parser.add_argument("--commits", type=int, default=60, help="commits of a long history")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each contender that are counted")
    parser.add_argument("--repeats", type=int, default=1, help="how often as many turns come again where they differ")
    parser.add_argument("--cores", type=int, default=2, help="cores that Spark may use")
    parser.add_argument("--apache", default="1.1.1", help="the release of Apache Hudi")
    parser.add_argument("--folder", type=Path, help="where tables go while the benchmarks run")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each benchmark")
    parser.add_argument("--write", type=Path, help="a page of results to bring up to date, its pictures beside it")
    return parser.parse_args()


def _show(benchmark: Benchmark, times: Mapping[str, Times], result: Result, *, as_json: bool) -> None:
    if as_json:
        seconds = {
            name: {"median": found.median, "spread": found.spread} for name, found in times.items() if found.seconds
        }
        refusals = {name: found.refusal for name, found in times.items() if found.refusal}
        print(json.dumps({"name": benchmark.name, "seconds": seconds, "refusals": refusals}), flush=True)
        return
    print(f"{benchmark.group}: {benchmark.name}{' - too noisy' * result.noisy}", flush=True)
    for name, found in times.items():
        if found.refusal:
            print(f"  {name:22} {found.refusal}", flush=True)
            continue
        ratio = result.ratios.get(name)
        against = f"x {ratio.time:5.2f}  processor x {ratio.cpu:5.2f}" if ratio is not None else ""
        spread = f"+- {found.spread:4.0%}"
        print(
            f"  {name:22} {found.median:9.3f} {benchmark.unit} {spread}  cpu {found.cpu_median:7.2f}  {against}",
            flush=True,
        )


if __name__ == "__main__":
    main()
