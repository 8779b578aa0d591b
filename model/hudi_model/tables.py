"""A table's state: its properties, its timeline, its files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hudi_model.files import BaseFile, LogFile
from hudi_model.records import Damaged
from hudi_model.timeline import TimelineEntry

Properties: TypeAlias = Mapping[str, str] | Damaged | None
"""None stands for an absent file."""


@dataclass(frozen=True, slots=True)
class Table:
    """Everything storage holds of one table. `malformed` are timeline names that do not parse."""

    properties: Properties
    backup_properties: Properties
    timeline: tuple[TimelineEntry, ...]
    base_files: tuple[BaseFile, ...]
    log_files: tuple[LogFile, ...]
    malformed: tuple[Damaged, ...] = ()
