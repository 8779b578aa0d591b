"""A real table with one file of it dropped, cut, garbled or swapped, and what the engine may say then."""

import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pyarrow as pa
from damage import damage
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_spark import DamagedLogWarning, HudiError, UnsupportedFeature, read_arrow, read_changes, read_incremental

GOLDEN = unpacked_corpus()
CHANGES = ("drop", "truncate", "garble", "swap")
QUESTIONS: dict[str, Callable[[Path], pa.Table]] = {
    "snapshot": read_arrow,
    "read optimized": lambda path: read_arrow(path, read_optimized=True),
    "unmerged": lambda path: read_arrow(path, configs={"hoodie.datasource.merge.type": "skip_merge"}),
    "without metadata table": lambda path: read_arrow(path, configs={"hoodie.metadata.enable": "false"}),
    "incremental": lambda path: read_incremental(path, "earliest"),
    "changes": lambda path: read_changes(path, "earliest"),
}


@dataclass(frozen=True)
class Damage:
    """One file of one table changed in one way."""

    table: str
    file: str
    change: str
    named: bool
    question: str = "snapshot"

    @property
    def must_show(self) -> bool:
        """Whether the bytes left tell that something is missing: a data file that a commit names is gone or cut short.

        A completed instant whose file is gone is an instant that never completed; what only archived commits wrote is
        found by listing; changed values in a file without checksums are values; a whole file of another name is whole.
        """
        return self.change == "truncate" or (self.change == "drop" and self.named)


@dataclass(frozen=True)
class Outcome:
    """What the engine said: equal, refused, unsupported, warned, or different without a word."""

    reported: str
    detail: str = ""


def readable_tables() -> tuple[str, ...]:
    """Golden tables that the engine reads, with rows."""
    found = (path.parent for path in sorted(GOLDEN.glob("v[689]/*/table")))
    return tuple(str(path.relative_to(GOLDEN)) for path in found if rows_of(str(path.relative_to(GOLDEN))))


@cache
def rows_of(table: str, question: str = "snapshot") -> Counter[str]:
    """The answer of an untouched table; no rows where it is refused."""
    try:
        return _rows(GOLDEN / table / "table", question)[0]
    except (HudiError, UnsupportedFeature):
        return Counter()


def attempt(seed: int, tables: tuple[str, ...], folder: Path) -> tuple[Damage, Outcome]:
    """Damage a copy of a table as the seed says, and read it.

    Raises whatever foreign exception the engine lets out.
    """
    source = random.Random(seed)  # noqa: S311 - damage, not secrets
    table = source.choice(tables)
    copy = folder / str(seed)
    shutil.copytree(GOLDEN / table / "table", copy)
    try:
        questions = [question for question in QUESTIONS if rows_of(table, question)]
        done = replace(_damaged(source, table, copy), question=source.choice(questions))
        return done, _outcome(done, copy)
    finally:
        shutil.rmtree(copy)


def _damaged(source: random.Random, table: str, copy: Path) -> Damage:
    files = sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size)
    path, change = source.choice(files), source.choice(CHANGES)
    data = path.read_bytes()
    named = any(path.name.encode() in one.read_bytes() for one in copy.glob(".hoodie/**/*commit"))
    if change == "drop":
        path.unlink()
    elif change == "truncate":
        path.write_bytes(data[: source.randrange(len(data))])
    elif change == "garble":
        path.write_bytes(damage(source, (data,)))
    else:
        alike = [one for one in files if one.suffix == path.suffix and one != path] or files
        path.write_bytes(source.choice(alike).read_bytes())
    return Damage(table, str(path.relative_to(copy)), change, named)


def _outcome(done: Damage, copy: Path) -> Outcome:
    expected = rows_of(done.table, done.question)
    try:
        rows, warned = _rows(copy, done.question)
    except HudiError as error:
        return Outcome("refused", f"{error.reason} by {error.clause}")
    except UnsupportedFeature as error:
        return Outcome("unsupported", error.feature)
    if rows == expected:
        return Outcome("equal")
    return Outcome("warned" if warned else "different", f"{rows.total()} rows of {expected.total()}")


def _rows(path: Path, question: str) -> tuple[Counter[str], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = QUESTIONS[question](path)
    warnings_shown = [str(one.message) for one in caught if issubclass(one.category, DamagedLogWarning)]
    return Counter(map(repr, table.to_pylist())), warnings_shown
