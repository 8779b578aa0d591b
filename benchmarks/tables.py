"""The tables of a run: each made once, when a benchmark first needs it, and copied where it is changed."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
from contenders import (
    MOR,
    PARQUET_LOGS,
    TYPE,
    ApacheHudi,
    Contender,
    EngineInProcess,
    EngineOnSpark,
    HudiRs,
    PlainParquet,
)
from hudi_spark import TableDefinition, create_arrow, services_arrow
from inputs import KEY, ORDERING, PARTITION, Inputs, make_inputs
from sessions import Sessions
from small_slices import make_small_slices

CDC: Final = {
    "hoodie.table.cdc.enabled": "true",
    "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER",
}
RECORD_INDEX: Final = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}
EXTRAS: Final = {"": {}, "cdc": CDC, "index": RECORD_INDEX, "parquet": PARQUET_LOGS}
"""What else a table has: a change feed, a record index, logs in Parquet."""
# A history of many commits archives, as tables do.
ARCHIVES: Final = {"hoodie.archive.automatic": "true", "hoodie.clean.automatic": "true"}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a run is: rows of a table, small slices, commits of a history."""

    rows: int
    slices: int
    commits: int


class Tables:
    """Inputs, contenders, and tables, below one folder."""

    def __init__(self, sessions: Sessions, folder: Path, sizes: Sizes) -> None:
        self.folder, self.sizes = folder, sizes
        self._sessions = sessions
        self.apache, self.engine = ApacheHudi(sessions), EngineOnSpark(sessions)
        self.in_process, self.rust = EngineInProcess(), HudiRs()
        self.parquet = PlainParquet(sessions)
        self._number = 0

    @cached_property
    def inputs(self) -> Inputs:
        """The rows, written once."""
        return make_inputs(self._sessions.session, self.folder / "inputs", self.sizes.rows)

    def made(self, writer: Contender, kind: str, extra: str = "") -> Path:
        """The table that a writer made of all rows; `extra` is one of `EXTRAS`."""

        def make(path: Path) -> None:
            writer.write(self.inputs, "all", path, "bulk_insert", {TYPE: kind, **EXTRAS[extra]})

        return self._once(f"{writer.name}-{kind}-{extra}", make)

    def updated(self, kind: str, extra: str = "") -> Path:
        """Apache Hudi's table with a new version of a tenth of its rows."""

        def make(path: Path) -> None:
            self.copied(self.made(self.apache, kind, extra)).rename(path)
            self.apache.write(self.inputs, "tenth", path, "upsert", {TYPE: kind, **EXTRAS[extra]})

        return self._once(f"updated-{kind}-{extra}", make)

    def changed_often(self, kind: str, extra: str, times: int) -> Path:
        """Apache Hudi's table after so many small upserts by the engine, in this process."""

        def make(path: Path) -> None:
            self.copied(self.made(self.apache, kind, extra)).rename(path)
            for _ in range(times):
                self.in_process.write(self.inputs, "few", path, "upsert", {})

        return self._once(f"changed-{times}-{kind}-{extra}", make)

    def small_slices(self, slices: int, *, logs: bool = True) -> Path:
        """A table of small slices."""
        return self._once(f"slices-{slices}-{logs}", lambda path: make_small_slices(path, slices, logs=logs))

    def with_commits(self, commits: int) -> Path:
        """A small table after so many upserts, by the engine in this process."""

        def make(path: Path) -> None:
            rows = pq.read_table(self.inputs.path("few"))
            definition = TableDefinition(
                name="history",
                schema=rows.schema,
                table_type=MOR,
                record_key=(KEY,),
                partition_by=(PARTITION,),
                ordering=(ORDERING,),
            )
            create_arrow(path, definition)
            for number in range(commits):
                compacts = {"hoodie.compact.inline": str(number % 10 == 0).lower()}
                self.in_process.write(self.inputs, "few", path, "upsert", {**ARCHIVES, **compacts})

        return self._once(f"commits-{commits}", make)

    def saved(self) -> Path:
        """Apache Hudi's table with a savepoint before a tenth of its rows was updated."""

        def make(path: Path) -> None:
            self.copied(self.made(self.apache, MOR)).rename(path)
            services_arrow(path).savepoint()
            self.apache.write(self.inputs, "tenth", path, "upsert", {TYPE: MOR})

        return self._once("saved", make)

    def failed(self) -> Path:
        """Apache Hudi's table whose last write, of a tenth of the rows, did not complete."""

        def make(path: Path) -> None:
            self.copied(self.updated(MOR)).rename(path)
            max(completed(path), key=lambda one: one.name).unlink()

        return self._once("failed", make)

    def copied(self, table: Path) -> Path:
        """A copy of a table; data files, which no writer changes in place, are the same on disk."""
        self._number += 1
        target = self.folder / f"copy{self._number}"
        shutil.copytree(table, target, copy_function=os.link, ignore=shutil.ignore_patterns(".hoodie"))
        shutil.copytree(table / ".hoodie", target / ".hoodie")
        return target

    def _once(self, name: str, make: Callable[[Path], None]) -> Path:
        path = self.folder / name.replace(" ", "-")
        if not path.exists():
            make(path)
        return path


def completed(table: Path) -> list[Path]:
    """The files of completed actions of the active timeline."""
    return [one for one in (table / ".hoodie/timeline").iterdir() if "_" in one.name]


def instants(table: Path) -> list[str]:
    """The completion times of the active timeline, the oldest first."""
    return sorted(one.name.partition("_")[2].partition(".")[0] for one in completed(table))
