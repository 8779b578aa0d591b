"""MANIFEST: what a golden table's folder must hold, byte for byte, empty folders too."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

MANIFEST = "MANIFEST"
# The modification time that every model-written file is given: the day its properties are dated.
WRITTEN_MS = 1_735_689_600_000
HEADER = "# sha256  size  mtime_ms  path      (a line `dir` names an empty folder)\n"


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One file below `table/`, or one empty folder (whose digest is empty)."""

    path: str
    sha256: str
    size: int
    modified_ms: int

    @property
    def is_folder(self) -> bool:
        """Whether this stands for an empty folder."""
        return not self.sha256


def scan(table: Path, written_ms: int | None = None) -> tuple[Entry, ...]:
    """What a table folder holds, by path; side files of Hadoop's local file system are left out.

    `written_ms` replaces the files' own modification times.
    """
    entries = []
    for folder, folders, names in os.walk(table):
        folders.sort()
        kept = [name for name in names if not name.endswith(".crc")]
        entries += [_file_entry(table, Path(folder) / name, written_ms) for name in kept]
        if not folders and not kept and Path(folder) != table:
            entries.append(Entry(Path(folder).relative_to(table).as_posix(), "", 0, 0))
    return tuple(sorted(entries))


def render(entries: tuple[Entry, ...]) -> str:
    """The text of MANIFEST."""
    return HEADER + "".join(_line(entry) for entry in sorted(entries))


def parse(text: str) -> tuple[Entry, ...]:
    """The entries of a MANIFEST.

    Raises:
        ValueError: a line has another shape.

    """
    return tuple(_entry(line) for line in text.splitlines() if line and not line.startswith("#"))


def differences(table: Path, entries: tuple[Entry, ...]) -> list[str]:
    """How a folder on disk differs from its manifest, in words; modification times do not count."""
    expected = {entry.path: (entry.sha256, entry.size) for entry in entries}
    found = {entry.path: (entry.sha256, entry.size) for entry in scan(table)}
    return [
        *(f"missing: {path}" for path in sorted(expected.keys() - found.keys())),
        *(f"not in the manifest: {path}" for path in sorted(found.keys() - expected.keys())),
        *(f"changed: {path}" for path in sorted(expected.keys() & found.keys()) if expected[path] != found[path]),
    ]


def _file_entry(table: Path, path: Path, written_ms: int | None) -> Entry:
    data = path.read_bytes()
    modified = path.stat().st_mtime_ns // 1_000_000 if written_ms is None else written_ms
    return Entry(path.relative_to(table).as_posix(), hashlib.sha256(data).hexdigest(), len(data), modified)


def _line(entry: Entry) -> str:
    if entry.is_folder:
        return f"dir  {entry.path}\n"
    return f"{entry.sha256}  {entry.size}  {entry.modified_ms}  {entry.path}\n"


def _entry(line: str) -> Entry:
    if line.startswith("dir  "):
        return Entry(line.removeprefix("dir  "), "", 0, 0)
    digest, size, modified, path = line.split("  ", 3)
    return Entry(path, digest, int(size), int(modified))
