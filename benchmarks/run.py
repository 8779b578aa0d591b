"""The engine beside Apache Hudi: the same inputs, the same Spark session, in turns.

python benchmarks/run.py [--rows 2000000] [--rounds 3] [--only upsert] [--write docs/reference/benchmarks.md]

Prints for each benchmark the best and the median seconds of each contender and the ratio of the medians to Apache
Hudi's. Results with other numbers of rows or cores are other results; `--write` keeps ratios only.
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import sessions
from contenders import ApacheHudi, Contender, EngineInProcess, EngineOnSpark, PlainParquet
from inputs import Inputs, make_inputs
from measuring import Attempt, Times, in_rounds
from page import Result, add_results, ratios_of

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_COMPACTS = {"hoodie.compact.inline.max.delta.commits": "1"}
_CLUSTERS = {
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clustering.async.max.commits": "1",
    "hoodie.clustering.plan.strategy.sort.columns": "ts",
}
_SHORT = {COW: "COW", MOR: "MOR"}


class Bench:
    """Inputs, contenders, and one table of each kind that each writer made of all rows."""

    def __init__(self, session: Any, folder: Path, rows: int, release: str) -> None:
        self.folder = folder
        self.inputs: Inputs = make_inputs(session, folder / "inputs", rows)
        self.apache = ApacheHudi(session, release)
        self.engine = EngineOnSpark(session)
        self.in_process = EngineInProcess()
        self.parquet = PlainParquet(session)
        self._number = 0

    def fresh(self) -> Path:
        """A path where nothing is."""
        self._number += 1
        return self.folder / f"table{self._number}"

    def made(self, writer: Contender, kind: str) -> Path:
        """The table that a writer made of all rows, written once."""
        path = self.folder / f"{writer.name}-{kind}".replace(" ", "-")
        if not path.exists():
            writer.write(self.inputs, "all", path, "bulk_insert", kind)
        return path

    def updated(self, kind: str) -> Path:
        """Apache Hudi's table with a new version of a tenth of its rows, written once."""
        path = self.folder / f"updated-{kind}"
        if not path.exists():
            self.copied(self.made(self.apache, kind)).rename(path)
            self.apache.write(self.inputs, "tenth", path, "upsert", kind)
        return path

    def copied(self, table: Path) -> Path:
        """A copy of a table; data files, which no writer changes in place, are the same on disk."""
        target = self.fresh()
        shutil.copytree(table, target, copy_function=os.link, ignore=shutil.ignore_patterns(".hoodie"))
        shutil.copytree(table / ".hoodie", target / ".hoodie")
        return target


def bulk_insert(bench: Bench) -> dict[str, Attempt]:
    """All rows into a new table, and into plain Parquet."""

    def attempt(writer: Contender) -> Callable[[], None]:
        shutil.rmtree(bench.folder / "bulk", ignore_errors=True)
        return partial(writer.write, bench.inputs, "all", bench.folder / "bulk", "bulk_insert", COW)

    return {one.name: partial(attempt, one) for one in (bench.apache, bench.engine, bench.parquet)}


def change(bench: Bench, operation: str, name: str, kind: str) -> dict[str, Attempt]:
    """A write to a table of all rows that the same writer made."""

    def attempt(writer: Contender, maker: Contender) -> Callable[[], None]:
        shutil.rmtree(bench.folder / f"table{bench._number}", ignore_errors=True)  # noqa: SLF001 - the copy before
        table = bench.copied(bench.made(maker, kind))
        return partial(writer.write, bench.inputs, name, table, operation, kind)

    attempts = {one.name: partial(attempt, one, one) for one in (bench.apache, bench.engine)}
    if name == "few":
        attempts[bench.in_process.name] = partial(attempt, bench.in_process, bench.engine)
    return attempts


def service(bench: Bench, name: str, kind: str, configs: Mapping[str, str]) -> dict[str, Attempt]:
    """A table service, planned and carried out, on a table of Apache Hudi's with a tenth of its rows updated."""

    def attempt(server: ApacheHudi | EngineOnSpark) -> Callable[[], None]:
        shutil.rmtree(bench.folder / f"table{bench._number}", ignore_errors=True)  # noqa: SLF001 - the copy before
        return partial(server.serve, bench.copied(bench.updated(kind)), name, configs)

    return {one.name: partial(attempt, one) for one in (bench.apache, bench.engine)}


def snapshot(bench: Bench, kind: str, **params: Any) -> dict[str, Attempt]:
    """The snapshot of a table that Apache Hudi wrote: all rows, a tenth of them updated."""
    table = bench.updated(kind)
    readers = {
        one.name: partial(_query_of, one, table, params) for one in (bench.apache, bench.engine, bench.in_process)
    }
    plain = partial(_query_of, bench.parquet, bench.made(bench.parquet, kind), params)
    return {**readers, bench.parquet.name: plain}


def _query_of(reader: Contender, table: Path, params: Mapping[str, Any]) -> Callable[[], object]:
    return partial(reader.read, table, **params)


def benchmarks(rows: int) -> Iterator[tuple[str, Callable[[Bench], dict[str, Attempt]]]]:
    """Every benchmark by name; those that write to a table of Apache Hudi's come before those that update it."""
    yield "bulk_insert", bulk_insert
    for kind in (COW, MOR):
        yield f"upsert of a tenth, {_SHORT[kind]}", partial(change, operation="upsert", name="tenth", kind=kind)
        yield f"delete of a tenth, {_SHORT[kind]}", partial(change, operation="delete", name="gone", kind=kind)
        yield f"upsert of 1,000 rows, {_SHORT[kind]}", partial(change, operation="upsert", name="few", kind=kind)
    for kind in (COW, MOR):
        yield f"snapshot, {_SHORT[kind]}", partial(snapshot, kind=kind)
        yield f"snapshot of two columns, {_SHORT[kind]}", partial(snapshot, kind=kind, columns=["id", "measure0"])
        below = max(1, rows // 100)
        yield f"snapshot of one row in a hundred, {_SHORT[kind]}", partial(snapshot, kind=kind, below=below)
    yield "compaction of a tenth", partial(service, name="compaction", kind=MOR, configs=_COMPACTS)
    yield "clustering, sorted", partial(service, name="clustering", kind=COW, configs=_CLUSTERS)


def main() -> None:
    """Measure, print, and keep the ratios if asked to, each as soon as it is there."""
    options = _options()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        bench = Bench(sessions.start(options.apache, options.cores), Path(folder), options.rows, options.apache)
        for name, attempts in benchmarks(options.rows):
            if options.only not in name:
                continue
            print(name, flush=True)
            times = in_rounds(attempts(bench), options.rounds)
            _show(times, bench.apache.name)
            if options.write and times[bench.apache.name].seconds:
                ratios = ratios_of(times, bench.apache.name)
                add_results(
                    options.write, [Result(name, options.rows, options.rounds, options.cores, ratios, options.note)]
                )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of the tables")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each contender")
    parser.add_argument("--cores", type=int, default=2, help="cores that Spark may use")
    parser.add_argument("--apache", default="1.1.1", help="the release of Apache Hudi")
    parser.add_argument("--only", default="", help="benchmarks whose name has this in it")
    parser.add_argument("--folder", type=Path, help="where tables go while the benchmarks run")
    parser.add_argument("--write", type=Path, help="a page of results to bring up to date")
    parser.add_argument("--note", default="", help="what to know of the run, for the page")
    return parser.parse_args()


def _show(times: Mapping[str, Times], reference: str) -> None:
    for name, found in times.items():
        if not found.seconds:
            print(f"  {name:22} {found.refusal}", flush=True)
            continue
        base = times[reference].median if times[reference].seconds else found.median
        ratio = f"x {found.median / base:5.2f}"
        print(f"  {name:22} best {found.best:8.3f} s  median {found.median:8.3f} s  {ratio}", flush=True)


if __name__ == "__main__":
    main()
