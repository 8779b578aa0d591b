"""After what the logs of a table are named: before version 8 after their slice, since then after their write.

Clauses: SL-005, RD-005, VR-006.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hudi_format.names import BaseFileName

from hudi_spark.services.recovering.found_files import FoundFile, FoundTable


@dataclass(frozen=True, slots=True)
class LogNames:
    """Which ways of naming logs a table's files show; an upgraded table shows both."""

    after_slices: bool
    after_writes: bool


def log_names(found: FoundTable) -> LogNames:
    """What can be told from the logs; nothing where every log is the first of its group."""
    groups = found.groups().values()
    logs = [one for files in groups for one in logs_of(files)]
    older = any(one.instants and one.instants != (one.name.instant,) for one in logs)
    newer = any(_names_a_write(files) for files in groups)
    return LogNames(older, newer)


def is_named_after_slice(log: FoundFile, files: Iterable[FoundFile]) -> bool:
    """Whether a log's name has the instant of a base file of its group, or of another write than its blocks have."""
    return log.name.instant in base_instants(files) or bool(log.instants and log.instants != (log.name.instant,))


def logs_of(files: Iterable[FoundFile]) -> list[FoundFile]:
    """The logs among some files."""
    return [one for one in files if not isinstance(one.name, BaseFileName)]


def bases_of(files: Iterable[FoundFile]) -> list[FoundFile]:
    """The base files among some files."""
    return [one for one in files if isinstance(one.name, BaseFileName)]


def base_instants(files: Iterable[FoundFile]) -> list[str]:
    """The instants of base files, sorted."""
    return sorted(one.name.instant for one in bases_of(files))


def _names_a_write(files: tuple[FoundFile, ...]) -> bool:
    """Whether a log follows a base file and has the name of its own write: no slice of before version 8 is so named."""
    bases = base_instants(files)
    for log in logs_of(files):
        follows = any(instant < log.name.instant for instant in bases)
        if follows and log.name.instant not in bases and log.instants == (log.name.instant,):
            return True
    return False
