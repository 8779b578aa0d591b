"""What a check finds, and how errors of readers become part of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeVar

import pyarrow as pa
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature, printable

_Value = TypeVar("_Value")

Severity = Literal["error", "warning"]

ERROR: Final[Severity] = "error"
WARNING: Final[Severity] = "warning"

FOUND: Final = pa.schema([(name, pa.string()) for name in ("clause", "severity", "where", "message")])
"""Violations as tasks return them."""

_OF_INDEX: Final[Mapping[str, str]] = {
    Partition.FILES: "MT-010",
    Partition.COLUMN_STATS: "MT-011",
    Partition.PARTITION_STATS: "MT-014",
    Partition.BLOOM_FILTERS: "IX-010",
    Partition.RECORD_INDEX: "IX-020",
}


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One clause that a table breaks: `where` is a path in it, `message` says what is wrong there.

    What must be so and is not is an error; what should be so, or what the format shows readers to skip, is a warning.
    """

    clause: str
    severity: Severity
    where: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.severity:<7} {self.clause}  {self.where}: {self.message}")


@dataclass(slots=True)
class Violations:
    """Those of a check, as they are found."""

    found: set[Violation] = field(default_factory=set)

    def error(self, clause: str, where: str, message: str) -> None:
        """What must be so is not."""
        self.found.add(Violation(clause, ERROR, where, message))

    def warning(self, clause: str, where: str, message: str) -> None:
        """What should be so is not."""
        self.found.add(Violation(clause, WARNING, where, message))

    @contextmanager
    def noting(self, where: str = "") -> Iterator[None]:
        """What a reader refuses inside the block is noted, and the check goes on.

        What is legal and not built, and a merger that this reader lacks, say nothing of the table.
        """
        try:
            yield
        except (FormatError, HudiError) as error:
            if str(error.reason) != Reason.MERGER_UNKNOWN:
                self.found.add(violation_of(error, where))
        except (UnsupportedFeature, UnsupportedFormat):
            pass

    def reading(self, parse: Callable[[bytes, str], _Value], data: bytes, file: str) -> _Value | None:
        """What a file holds; None, and the clause is noted, where it does not parse."""
        with self.noting(file):
            return parse(data, file)
        return None

    def below(self, folder: str, others: "Violations") -> None:
        """Those of a table in a folder, under their places in this one."""
        self.found.update(replace(one, where=f"{folder}/{one.where}".rstrip("/")) for one in others.found)

    def gathered(self, rows: pa.Table) -> None:
        """Those that tasks found."""
        columns = (column.to_pylist() for column in rows.select(FOUND.names).columns)
        self.found.update(Violation(*row) for row in zip(*columns, strict=True))

    def rows(self) -> pa.Table:
        """All of them, as a task returns them."""
        columns = [[printable(getattr(one, name)) for one in self.all()] for name in FOUND.names]
        return pa.table([pa.array(column, pa.string()) for column in columns], schema=FOUND)

    def all(self) -> tuple[Violation, ...]:
        """All of them: errors first, then by clause and place."""
        return tuple(sorted(self.found, key=lambda one: (one.severity, one)))


def violation_of(error: FormatError | HudiError, where: str = "") -> Violation:
    """The clause for which a reader refuses a table."""
    place = error.file or where
    offset = "" if error.offset is None else f"at byte {error.offset}: "
    return Violation(error.clause, ERROR, place, f"{offset}{error.message}")


def clause_of_index(index: str) -> str:
    """The clause that says what an index of a metadata table holds; all of it is under MT-005."""
    if is_secondary_index(index):
        return "IX-031"
    return "IX-040" if is_expression_index(index) else _OF_INDEX.get(index, "MT-005")
