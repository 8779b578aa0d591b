"""Cases as values: golden tables with their questions, sequences of writes with theirs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_adapter import protocol

from hudi_conformance.runner.answers_file import read_answer
from hudi_conformance.runner.clauses import DRAFT_VERSIONS

ID_PREFIX = "conformance"
WRITING = "writing"
WRITER, SERVICER, READER = "A", "B", "C"
"""Roles of a writing case: who writes, who runs table services, who reads."""
END_PROCESS = "end_process"
"""A step of the suite itself: the process that is named is killed."""
WRITING_OPS = frozenset({*protocol.WRITING_OPS, END_PROCESS})
CONFIGURED = WRITING_OPS - {"create_table", END_PROCESS}
"""Steps that take the settings of their case."""
AREAS = {
    "TL": "timeline",
    "TM": "time",
    "HS": "history",
    "SL": "storage-layout",
    "TT": "table-types",
    "PR": "properties",
    "VR": "versions",
    "LF": "log-format",
    "NL": "native-logs",
    "BF": "base-files",
    "MF": "meta-fields",
    "DM": "data-model",
    "MG": "merging",
    "RM": "mergers",
    "PL": "payloads",
    "RD": "reading",
    "IN": "incremental",
    "CD": "cdc",
    "OW": "optimistic-writers",
    "SW": "streaming-writers",
    "LK": "locks",
    "MK": "markers",
    "CP": "compaction",
    "LC": "log-compaction",
    "CL": "clustering",
    "CN": "cleaning",
    "IG": "indexing",
    "RB": "rollback",
    "SR": "savepoint-restore",
    "AR": "archival",
    "MT": "metadata",
    "IX": "indexes",
    "SA": "storage-assumptions",
}


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """Rows or a value in a file of answers, by name."""

    file: Path
    name: str

    @property
    def content(self) -> Any:
        """What is kept: `Rows`, or a JSON value.

        Raises:
            CorpusError: the file cannot be read or has no such name.

        """
        return read_answer(self.file, self.name)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An answer that is expected, and the reading it belongs to where a clause has two."""

    answer: StoredAnswer
    reading: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One op of a case: what is asked and what must come of it; an open question has neither answer nor reasons.

    Of a step of a writing case: `done` is what a writing op must answer, `input` the rows that it writes, `by` the role
    and `process` the process of it that takes the step; one with `reasons` too may do it or refuse it. `clause` is the
    one with two readings that the answer shows.
    """

    op: str
    params: Mapping[str, Any]
    expectations: tuple[Expectation, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    done: Mapping[str, Any] = field(default_factory=dict)
    input: StoredAnswer | None = None
    by: str = WRITER
    process: int = 1
    clause: str = ""

    @property
    def writes(self) -> bool:
        """Whether the step changes the table."""
        return self.op in WRITING_OPS

    @property
    def is_open(self) -> bool:
        """Whether the question is asked without a settled answer."""
        return not self.expectations and not self.reasons and not self.writes


@dataclass(frozen=True, slots=True)
class GoldenTable:
    """A golden table; of cases that write, what stands in its place. `folder` holds its files."""

    id: str
    folder: Path
    title: str
    version: int
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One question, or several in turn, about one golden table; or writes, with questions between them.

    `file` is where the case stands; `begins_with` the golden table that the writes go on with, where they do not
    begin with none.
    """

    name: str
    table: GoldenTable
    title: str
    clauses: tuple[str, ...]
    kills: tuple[str, ...]
    given: str
    when: str
    then: str
    steps: tuple[Step, ...]
    file: Path
    begins_with: GoldenTable | None = None

    @property
    def writes(self) -> bool:
        """Whether the case writes."""
        return self.table.id.startswith(f"{WRITING}/")

    @property
    def drafts(self) -> tuple[int, ...]:
        """The table versions that the case is about and that no release writes: an adapter has to name them."""
        versions = {self.table.version, *(step.params.get("to") for step in self.steps)}
        return tuple(one for one in DRAFT_VERSIONS if one in versions)

    @property
    def id(self) -> str:
        """The id that never changes: `conformance::<table>::<case>`."""
        return f"{ID_PREFIX}::{self.table.id}::{self.name}"

    @property
    def area(self) -> str:
        """The area of the clause that the case names first."""
        prefix = self.clauses[0].partition("-")[0] if self.clauses else ""
        return AREAS.get(prefix, prefix.lower() or "other")
