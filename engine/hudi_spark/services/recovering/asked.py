"""What the owner of a lost table tells of it, and what a recovery answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_adapter.reasons import Reason

from hudi_spark.creation.definition import TableDefinition
from hudi_spark.errors import HudiError

CLAUSE = "SL-001"


@dataclass(frozen=True, slots=True)
class KnownOfTable:
    """What no file of a table says.

    `definition`: the table as it was created; a schema is read from the files where none is given, and what the
    properties say, where they are not lost, goes before it. `completion_times`: by their requested times when writes
    completed that a compaction overtook. `committed`, `uncommitted`: writes that left markers. `replaced`: by partition
    the file groups that an overwrite or a clustering had replaced. `keep_duplicates`: a record key in two file groups
    of a partition is two rows. `guess`: where only the times of files tell what completed after what, believe them.
    """

    definition: TableDefinition = field(default_factory=TableDefinition)
    completion_times: Mapping[str, str] = field(default_factory=dict)
    committed: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keep_duplicates: bool = False
    guess: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a recovery could not know, and what it did in place of it.

    `file`: what it is about, where that is one file or one write.
    """

    clause: str
    message: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.message}" if self.file else self.message


@dataclass(frozen=True, slots=True)
class Recovered:
    """A table that was built again: the time of the action that stands for it, None where its timeline was there.

    `completed` is None before version 8. `writes`: how many writes its files are of. `unknown`: read it.
    """

    requested: str | None
    completed: str | None
    action: str | None
    writes: int
    unknown: tuple[Unknown, ...]

    def __str__(self) -> str:
        told = "\n".join(f"- {one}" for one in self.unknown)
        return f"recovered {self.writes} writes; not known:\n{told}"


def refused(message: str, hint: str, clause: str = CLAUSE) -> HudiError:
    """The error of a recovery that would have to guess."""
    return HudiError(Reason.CONFIG_INVALID, clause, message, hint=hint)
