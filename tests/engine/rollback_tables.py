"""Tables with something to take back, and writers that stop before an effect."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.storage import LocalStorage
from hudi_spark.testing import (
    Hook,
    InlineServices,
    InProcess,
    Instant,
    TableServices,
    Timeline,
    WriteRequest,
    load_table,
    stop_heartbeat,
    validate_metadata_table,
)
from metadata_writes import StopAt, Stopped
from written_tables import Written, rows

KINDS = [(version, kind) for version in (6, 8, 9) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]
CONFIGS = {
    "hoodie.metadata.enable": "true",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
}
SOAK = os.environ.get("HUDI_CONFORMANCE_SOAK", "") not in {"", "0"}
"""Whether many sequences are drawn rather than a few."""


class Undoable(Written):
    """A table of two writes, the second an update, and what is asked of it."""

    def __init__(self, path: Path, version: int, kind: str, configs: Mapping[str, str] | None = None) -> None:
        super().__init__(path, kind, version, configs={**CONFIGS, **(configs or {})})
        self.write("upsert", rows(range(6)))
        self.second = str(self.write("upsert", rows(range(3), 2, 2.0)).requested)

    def services(
        self, hook: Hook | None = None, configs: Mapping[str, str] | None = None, **more: Any
    ) -> TableServices:
        """Its services, by tasks whose files have names of their own."""
        return super().services(hook, configs, **{"executor": InProcess(), **more})

    def take_back_leftovers(self, configs: Mapping[str, str] | None = None) -> None:
        """What a write does before it begins."""
        InlineServices().before(self.writer(executor=InProcess()).work(configs))

    def failed_write(self, operation: str = "upsert", **given: Any) -> str:
        """A write that has put all its files into storage, and whose process is gone."""
        given = given or {"rows": rows([1, 2, 50, 51], 9, 9.0)}
        started = self.writer(executor=InProcess()).begin(WriteRequest(operation, **given))
        started.stage(WriteRequest(operation, **given))
        stop_heartbeat(started.write.work.effects, started.requested)
        return str(started.requested)

    @property
    def timeline(self) -> Timeline:
        """The active timeline."""
        return load_table(LocalStorage(self.path))[1]

    def actions(self, action: str) -> list[Instant]:
        """Those of a name, pending ones too."""
        return [one for one in self.timeline.instants if one.action == action]

    def data_files(self) -> set[str]:
        """Paths of base and log files."""
        return {path for path in self.files() if not path.startswith(".hoodie") and is_data(path)}

    def refuse_leftovers(self) -> None:
        """The metadata table is right, nothing is pending, no marker or heartbeat is left, no file of nobody's."""
        assert validate_metadata_table(LocalStorage(self.path), InProcess()) == ()
        assert [str(one) for one in self.timeline.instants if not one.is_completed] == []
        assert [path for path in self.files() if path.startswith((".hoodie/.temp", ".hoodie/.heartbeat"))] == []
        done = {one.requested for one in self.timeline.completed_data()}
        for path in self.data_files():
            name = parse_data_file_name(path.rpartition("/")[2])
            if name is not None and (self.version > 6 or isinstance(name, BaseFileName)):
                assert name.instant in done, path


def is_data(path: str) -> bool:
    return parse_data_file_name(path.rpartition("/")[2]) is not None


def stopped(work: Callable[[Hook], Any], number: int) -> bool:
    """Whether work stops before the effect of a number; False where it has fewer."""
    try:
        work(StopAt(number))
    except Stopped:
        return True
    return False


__all__ = ["CONFIGS", "KINDS", "SOAK", "Undoable", "rows", "stopped"]
