"""Tables grown write by write, for tests of ranges, change feeds, histories and streams."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine_tables import Row, TableBuilder, row, tick
from hudi_format.log.deletes import DeleteRecord
from hudi_format.timeline.archived_log import ArchivedState, archived_log_name, write_archived_log
from hudi_format.timeline.commit_metadata import WriteStat, parse_commit_metadata
from hudi_format.timeline.history import (
    HistoryFileName,
    HistoryRow,
    ManifestEntry,
    serialise_manifest,
    write_history_file,
)

FEED = {"hoodie.table.cdc.enabled": "true"}
BY_COMMIT_TIME = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}


class GrowingTable:
    """One file group that each write changes: copy-on-write by a new base file, merge-on-read by a log."""

    def __init__(self, path: Path, version: int = 9, *, mor: bool = True, properties: Any = None) -> None:
        kind = "MERGE_ON_READ" if mor else "COPY_ON_WRITE"
        self.builder = TableBuilder(path, version, kind, {**FEED, **BY_COMMIT_TIME, **(properties or {})})
        self.rows: dict[str, Row] = {}
        self.mor = mor
        self._base = 0
        self._times: dict[str, int] = {}

    def write(self, n: int, upserts: Sequence[str], deletes: Sequence[str] = (), completed: int | None = None) -> None:
        """Upsert and delete keys at n; the notes of new rows say when they came."""
        for key in upserts:
            self.rows[key] = row(key, n, f"at {n}")
            self._times[key] = n
        for key in deletes:
            self.rows.pop(key, None)
        previous = tick(self._base) if self._base else "null"
        append = self.mor and self._base
        stat = self._append(n, upserts, deletes) if append else self._rewrite(n)
        self.builder.commit(
            n,
            [replace(stat, prev_commit=previous)],
            action="deltacommit" if self.mor else "commit",
            completed=completed,
        )

    def compact(self, n: int) -> None:
        """Rewrite the group's rows, which keep their commit times."""
        self.builder.pending_compaction(n, "f1", state="INFLIGHT")
        self.builder.commit(n, [self._rewrite(n)], action="commit", operation="COMPACT")

    def _append(self, n: int, upserts: Sequence[str], deletes: Sequence[str]) -> WriteStat:
        builder = self.builder
        gone = [key for key in deletes if key not in upserts]
        blocks = [builder.data(n, [self.rows[key] for key in upserts if key in self.rows])]
        blocks += [builder.deletes(n, *(DeleteRecord(key, "north") for key in gone))] if gone else []
        named = n if builder.version >= 8 else self._base
        return builder.log_file(named, blocks, version=1 if builder.version >= 8 else n)

    def _rewrite(self, n: int) -> WriteStat:
        self._base = n
        rows = [{**one, **self._meta(key)} for key, one in sorted(self.rows.items())]
        return self.builder.base_file(n, rows)

    def _meta(self, key: str) -> dict[str, str]:
        return {"_hoodie_commit_time": tick(self._times[key])}


def archive(builder: TableBuilder, *requested: int, lost: Sequence[int] = ()) -> None:
    """Move completed actions to the history, in the form of the table's version; of `lost` it has no content."""
    rows, states = [], []
    for n in requested:
        for path in sorted(builder.folder.glob(f"{tick(n)}*")):
            name, data = path.name, path.read_bytes()
            action = name.rpartition(".")[2]
            if action in {"commit", "deltacommit", "replacecommit"}:
                completed = name.partition(".")[0].partition("_")[2] or None
                content = None if n in lost else parse_commit_metadata(data, name)
                rows.append(HistoryRow(tick(n), completed, action, None if n in lost else data))
                states.append(ArchivedState(tick(n), action, "COMPLETED", None, content))
            path.unlink()
    if builder.layout == 1:
        folder = builder.base / ".hoodie" / "archived"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / archived_log_name(1)).write_bytes(write_archived_log(states))
    else:
        write_history(builder, rows)


def write_history(builder: TableBuilder, rows: Sequence[HistoryRow]) -> None:
    """One history file, one manifest, the version file."""
    folder = builder.folder / "history"
    folder.mkdir(parents=True, exist_ok=True)
    name = str(HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0))
    data = write_history_file(rows)
    (folder / name).write_bytes(data)
    (folder / "manifest_1").write_bytes(serialise_manifest([ManifestEntry(name, len(data))]))
    (folder / "_version_").write_bytes(b"1")
