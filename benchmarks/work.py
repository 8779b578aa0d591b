"""What is measured: one line for each benchmark."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from contenders import COW, MOR, TYPE, Contender, Question, peak_of
from measuring import Attempt
from tables import ARCHIVES, EXTRAS, Sizes, Tables, instants

APACHE: Final = "Apache Hudi"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A line of the page: what each contender does, whose median the others are divided by, and the most to aim at."""

    group: str
    name: str
    attempts: Callable[[Tables], Mapping[str, Attempt]] = field(repr=False)
    aim: float | None = None
    against: str = APACHE
    unit: str = "s"


_SHORT: Final = {COW: "COW", MOR: "MOR"}
_COMPACTS: Final = {"hoodie.compact.inline.max.delta.commits": "1"}
_COMPACTS_LOGS: Final = {"hoodie.log.compaction.blocks.threshold": "2"}
_CLUSTERS: Final = {
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clustering.async.max.commits": "1",
    "hoodie.clustering.plan.strategy.sort.columns": "ts",
    "hoodie.clustering.plan.strategy.max.num.groups": "30",
}
_CLEANS: Final = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.clean.max.commits": "1",
}
_ARCHIVES: Final = {
    "hoodie.keep.min.commits": "5",
    "hoodie.keep.max.commits": "6",
    "hoodie.clean.commits.retained": "2",
    "hoodie.cleaner.commits.retained": "2",
}
# A metadata table is compacted after so many commits: whichever comes next, as many as these compact it once.
_CYCLE: Final = 10


_Attempts = Callable[[Tables], Mapping[str, Attempt]]


def benchmarks(sizes: Sizes) -> Iterator[Benchmark]:
    """Every benchmark."""
    yield from _writes()
    yield from _reads(sizes)
    yield from _ranges()
    yield from _lookups(sizes)
    yield from _services(sizes)
    yield from _many_slices(sizes)
    yield from _one_process(sizes)
    yield from _growth(sizes)


def _writes() -> Iterator[Benchmark]:
    yield Benchmark("writes", "bulk_insert", _bulk_insert, 0.33)
    aims = {COW: (0.4, 0.35, 0.3), MOR: (0.35, 0.35, 0.3)}
    for kind, (tenth, gone, few) in aims.items():
        short = _SHORT[kind]
        for title, operation, name, aim in (
            ("upsert of a tenth", "upsert", "tenth", tenth),
            ("delete of a tenth", "delete", "gone", gone),
            ("upsert of 1,000 rows", "upsert", "few", few),
        ):
            yield Benchmark("writes", f"{title}, {short}", partial(_change, kind, operation, name), aim)
    indexed = partial(_change, COW, "upsert", "tenth", extra="index")
    yield Benchmark("writes", "upsert of a tenth, COW, record index", indexed, 0.4)


def _questions(sizes: Sizes) -> Iterator[tuple[str, Question, dict[str, float]]]:
    yield "snapshot", Question(), {COW: 0.7, MOR: 0.4}
    yield "snapshot of two columns", Question(columns=("id", "measure0")), {COW: 0.6, MOR: 0.4}
    hundredth = Question(where=f"ts < {max(1, sizes.rows // 100)}")
    yield "snapshot of one row in a hundred", hundredth, {COW: 0.3, MOR: 0.3}


def _reads(sizes: Sizes) -> Iterator[Benchmark]:
    for kind in (COW, MOR):
        for title, question, aims in _questions(sizes):
            yield Benchmark("reads", f"{title}, {_SHORT[kind]}", partial(_snapshot, kind, question), aims[kind])
    for title, question, aims in _questions(sizes):
        attempts = partial(_snapshot, MOR, question, extra="parquet")
        yield Benchmark("reads", f"{title}, MOR, Parquet logs", attempts, aims[MOR])


def _ranges() -> Iterator[Benchmark]:
    for kind in (COW, MOR):
        name = f"the last of 20 commits, {_SHORT[kind]}"
        yield Benchmark("ranges", f"incremental over {name}", partial(_last_commit, kind, changes=False), 0.4)
        yield Benchmark("ranges", f"change feed over {name}", partial(_last_commit, kind, changes=True), 0.4)


def _lookups(sizes: Sizes) -> Iterator[Benchmark]:
    for count in (1, 100, 10_000):
        keys = range(0, sizes.rows, max(1, sizes.rows // count))
        some = ", ".join(f"'key-{number:010d}'" for number in keys[:count])
        question = Question(where=f"id IN ({some})")
        title = f"{count:,} key{'s' * (count > 1)} by record index, COW"
        yield Benchmark("lookups", title, partial(_indexed, question), 0.3)


def _services(sizes: Sizes) -> Iterator[Benchmark]:
    def served(service: str, table: Callable[[Tables], Path], configs: Mapping[str, str]) -> _Attempts:
        return partial(_service, service, table, configs)

    def updated(tables: Tables) -> Path:
        return tables.updated(MOR)

    def changed_often(tables: Tables) -> Path:
        return tables.changed_often(COW, "", 20)

    small = f"{sizes.slices:,} small groups"
    for name, attempts, aim in (
        ("compaction of a tenth", served("compaction", updated, _COMPACTS), 0.15),
        (
            "log compaction of a tenth",
            served("logcompaction", lambda tables: tables.changed_often(MOR, "", 20), _COMPACTS_LOGS),
            0.15,
        ),
        ("clustering, sorted", served("clustering", lambda tables: tables.updated(COW), _CLUSTERS), 0.15),
        (
            f"compaction of {small}",
            served("compaction", lambda tables: tables.small_slices(sizes.slices), _COMPACTS),
            0.15,
        ),
        (
            f"clustering of {small}",
            served("clustering", lambda tables: tables.small_slices(sizes.slices, logs=False), _CLUSTERS),
            0.15,
        ),
        ("clean", served("clean", changed_often, _CLEANS), 0.4),
        ("archive", served("archive", changed_often, _ARCHIVES), 0.4),
        ("savepoint", served("savepoint", updated, {}), 0.4),
        ("rollback of a tenth", _rolled_back, 0.4),
        ("restore of a tenth", _restored, 0.4),
    ):
        yield Benchmark("services", name, attempts, aim)


def _many_slices(sizes: Sizes) -> Iterator[Benchmark]:
    for count in sorted({sizes.slices // 10, sizes.slices}):
        title = f"snapshot of {count:,} small slices with logs"
        yield Benchmark("many slices", title, partial(_of_small_slices, count), 0.4)
    yield Benchmark("many slices", f"plan of {sizes.slices:,} slices", partial(_plan, sizes.slices, Question()), 0.4)
    filtered = Question(where="region = 'region-03'")
    title = f"plan of {sizes.slices:,} slices with a filter"
    yield Benchmark("many slices", title, partial(_plan, sizes.slices, filtered), 0.4)


def _one_process(sizes: Sizes) -> Iterator[Benchmark]:
    for kind in (COW, MOR):
        for title, question, _ in _questions(sizes):
            attempts = partial(_beside_rust, kind, question)
            yield Benchmark("one process", f"{title}, {_SHORT[kind]}", attempts, 1.0, "hudi-rs")
        title = f"peak memory of a snapshot, {_SHORT[kind]}"
        yield Benchmark("one process", title, partial(_memory, kind), None, "hudi-rs", "MiB")


def _growth(sizes: Sizes) -> Iterator[Benchmark]:
    last = max(sizes.commits, 20)
    for title, attempts in ((f"{_CYCLE} upserts of 1,000 rows", _next_commits), ("snapshot", _opened)):
        name = f"{title} after {last} commits"
        yield Benchmark("growth", name, partial(attempts, last), 1.0, "after 10 commits")
    for deep in (False, True):
        name = f"check of {2 * sizes.slices:,} files{', with rows' * deep}"
        yield Benchmark("growth", name, partial(_checked, sizes.slices, deep=deep), 10.0, "a tenth of the files")


def _bulk_insert(tables: Tables) -> dict[str, Attempt]:
    """All rows into a new table, and into plain Parquet."""

    def attempt(writer: Contender) -> Callable[[], None]:
        shutil.rmtree(tables.folder / "bulk", ignore_errors=True)
        return partial(writer.write, tables.inputs, "all", tables.folder / "bulk", "bulk_insert", {TYPE: COW})

    return {one.name: partial(attempt, one) for one in (tables.apache, tables.engine, tables.parquet)}


def _change(kind: str, operation: str, name: str, tables: Tables, *, extra: str = "") -> dict[str, Attempt]:
    """A write to a table of all rows that the same writer made."""

    def attempt(writer: Contender, maker: Contender) -> Callable[[], None]:
        table = _fresh(tables, tables.made(maker, kind, extra))
        return partial(writer.write, tables.inputs, name, table, operation, {TYPE: kind, **EXTRAS[extra]})

    attempts: dict[str, Attempt] = {one.name: partial(attempt, one, one) for one in (tables.apache, tables.engine)}
    if name == "few":
        attempts[tables.in_process.name] = partial(attempt, tables.in_process, tables.engine)
    return attempts


def _fresh(tables: Tables, table: Path) -> Path:
    """A copy in place of the one before."""
    for old in tables.folder.glob("copy*"):
        shutil.rmtree(old)
    return tables.copied(table)


def _snapshot(kind: str, question: Question, tables: Tables, *, extra: str = "") -> dict[str, Attempt]:
    """The snapshot of a table that Apache Hudi wrote: all rows, a tenth of them updated."""
    readers = _readers(tables, tables.updated(kind, extra=extra), question)
    plain = partial(partial, tables.parquet.read, tables.made(tables.parquet, kind), question)
    return {**readers, tables.parquet.name: plain}


def _readers(tables: Tables, table: Path, question: Question) -> dict[str, Attempt]:
    contenders = (tables.apache, tables.engine, tables.in_process)
    return {one.name: partial(partial, one.read, table, question) for one in contenders}


def _last_commit(kind: str, tables: Tables, *, changes: bool) -> dict[str, Attempt]:
    table = tables.changed_often(kind, "cdc" if changes else "", 20)
    return _readers(tables, table, Question(begin=instants(table)[-2], changes=changes))


def _indexed(question: Question, tables: Tables) -> dict[str, Attempt]:
    return _readers(tables, tables.made(tables.apache, COW, "index"), question)


def _of_small_slices(count: int, tables: Tables) -> dict[str, Attempt]:
    return _readers(tables, tables.small_slices(count), Question())


def _plan(count: int, question: Question, tables: Tables) -> dict[str, Attempt]:
    table = tables.small_slices(count, logs=False)
    contenders = (tables.apache, tables.engine, tables.in_process)
    return {one.name: partial(partial, one.plan, table, question) for one in contenders}


def _beside_rust(kind: str, question: Question, tables: Tables) -> dict[str, Attempt]:
    table = tables.updated(kind)
    return {one.name: partial(partial, one.read, table, question) for one in (tables.rust, tables.in_process)}


def _memory(kind: str, tables: Tables) -> dict[str, Attempt]:
    table = tables.updated(kind)
    return {one.name: partial(partial, peak_of, one, table, Question()) for one in (tables.rust, tables.in_process)}


def _service(
    service: str,
    table: Callable[[Tables], Path],
    configs: Mapping[str, str],
    tables: Tables,
    params_of: Callable[[Path], Mapping[str, str]] = lambda _: {},
) -> dict[str, Attempt]:
    """A table service on copies of one table."""

    def attempt(server: Contender) -> Callable[[], None]:
        made = table(tables)
        return partial(server.serve, _fresh(tables, made), service, params_of(made), configs)

    return {one.name: partial(attempt, one) for one in (tables.apache, tables.engine, tables.in_process)}


def _rolled_back(tables: Tables) -> dict[str, Attempt]:
    """A rollback of the last write."""
    return _service("rollback", Tables.failed, {}, tables, lambda table: {"instant": _pending(table)})


def _restored(tables: Tables) -> dict[str, Attempt]:
    """A restore to the savepoint before the last write."""
    return _service("restore", Tables.saved, {}, tables, lambda table: {"to": _saved(table)})


def _pending(table: Path) -> str:
    """The requested time of the action that did not complete."""
    names = [one.name for one in (table / ".hoodie/timeline").iterdir() if one.is_file()]
    done = {name.partition("_")[0] for name in names if "_" in name}
    return max({name.partition(".")[0] for name in names if "_" not in name} - done)


def _saved(table: Path) -> str:
    """The requested time of the write that is saved."""
    return min(one.name for one in (table / ".hoodie/timeline").glob("*.savepoint")).partition("_")[0]


def _next_commits(commits: int, tables: Tables) -> dict[str, Attempt]:
    """Further upserts, by the engine in this process, to a table of few commits and to one of many."""

    def attempt(count: int) -> Callable[[], None]:
        table = _fresh(tables, tables.with_commits(count))

        def write() -> None:
            for _ in range(_CYCLE):
                tables.in_process.write(tables.inputs, "few", table, "upsert", ARCHIVES)

        return write

    return {f"after {count} commits": partial(attempt, count) for count in (10, commits)}


def _opened(commits: int, tables: Tables) -> dict[str, Attempt]:
    """A snapshot of a table of few commits and of one of many."""

    def attempt(count: int) -> Callable[[], object]:
        return partial(tables.in_process.read, tables.with_commits(count), Question())

    return {f"after {count} commits": partial(attempt, count) for count in (10, commits)}


def _checked(slices: int, tables: Tables, *, deep: bool) -> dict[str, Attempt]:
    """A check, in this process, of a table and of one ten times as large."""

    def attempt(count: int) -> Callable[[], None]:
        return partial(tables.in_process.check, tables.small_slices(count), deep=deep)

    return {"a tenth of the files": partial(attempt, slices // 10), "all files": partial(attempt, slices)}
