"""What the archive of a golden table holds: `files` of its table.toml, one `sha256  size  mtime_ms  path` a line."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The modification time that every model-written file is given: the day its properties are dated.
WRITTEN_MS = 1_735_689_600_000


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One file of a table, or one empty folder (whose digest is empty)."""

    path: str
    sha256: str
    size: int
    modified_ms: int

    @property
    def is_folder(self) -> bool:
        """Whether this stands for an empty folder."""
        return not self.sha256


def scan(table: Path, written_ms: int | None = None) -> tuple[Entry, ...]:
    """What a table folder holds, by path.

    `written_ms` replaces the files' own modification times.
    """
    entries = []
    for folder, folders, names in os.walk(table):
        folders.sort()
        entries += [_file_entry(table, Path(folder) / name, written_ms) for name in names]
        if not folders and not names and Path(folder) != table:
            entries.append(Entry(Path(folder).relative_to(table).as_posix(), "", 0, 0))
    return tuple(sorted(entries))


def render(entries: Iterable[Entry]) -> str:
    """The entries as table.toml ends with them: one text, which every TOML reader reads fast."""
    return f"files = '''\n{_text(entries)}'''\n"


def parse(described: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The entries of a table.toml.

    Raises:
        ValueError: the list is missing or a line has another shape.

    """
    return tuple(_entry(line) for line in str(described.get("files", "")).splitlines() if line)


def digest(entries: Iterable[Entry]) -> str:
    """The sha256 of a list of files: of paths, bytes and modification times."""
    return hashlib.sha256(_text(entries).encode()).hexdigest()


def differences(expected: Iterable[Entry], found: Iterable[Entry]) -> list[str]:
    """How two lists of files differ, in words; modification times do not count."""
    wanted = {entry.path: (entry.sha256, entry.size) for entry in expected}
    there = {entry.path: (entry.sha256, entry.size) for entry in found}
    return [
        *(f"missing: {path}" for path in sorted(wanted.keys() - there.keys())),
        *(f"not listed: {path}" for path in sorted(there.keys() - wanted.keys())),
        *(f"changed: {path}" for path in sorted(wanted.keys() & there.keys()) if wanted[path] != there[path]),
    ]


def _text(entries: Iterable[Entry]) -> str:
    return "".join(_line(entry) for entry in sorted(entries))


def _line(entry: Entry) -> str:
    if entry.is_folder:
        return f"dir  {entry.path}\n"
    return f"{entry.sha256}  {entry.size}  {entry.modified_ms}  {entry.path}\n"


def _entry(line: str) -> Entry:
    if line.startswith("dir  "):
        return Entry(line.removeprefix("dir  "), "", 0, 0)
    digest, size, modified, path = line.split("  ", 3)
    return Entry(path, digest, int(size), int(modified))


def _file_entry(table: Path, path: Path, written_ms: int | None) -> Entry:
    data = path.read_bytes()
    modified = path.stat().st_mtime_ns // 1_000_000 if written_ms is None else written_ms
    return Entry(path.relative_to(table).as_posix(), hashlib.sha256(data).hexdigest(), len(data), modified)
