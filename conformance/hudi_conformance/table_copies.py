"""A fresh copy of a golden table for every question: bytes, dot files, empty folders and modification times."""

import hashlib
import os
from pathlib import Path

from hudi_conformance.cases import GoldenTable
from hudi_conformance.golden.manifest import MANIFEST, Entry, parse
from hudi_conformance.resources import CorpusError


def fresh_copy(table: GoldenTable, destination: Path) -> Path:
    """Copy a table as its MANIFEST says, into a folder that does not exist yet.

    Raises:
        CorpusError: the MANIFEST is missing or malformed, or a file is absent or has other bytes.

    """
    destination.mkdir(parents=True)
    for entry in manifest_of(table):
        _copy(table, entry, destination / entry.path)
    return destination


def manifest_of(table: GoldenTable) -> tuple[Entry, ...]:
    """The entries of a table's MANIFEST.

    Raises:
        CorpusError: it is missing or malformed.

    """
    try:
        return parse((table.folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{table.id}: MANIFEST: {error}") from error


def _copy(table: GoldenTable, entry: Entry, target: Path) -> None:
    if entry.is_folder:
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(_bytes(table, entry))
    os.utime(target, ns=(entry.modified_ms * 1_000_000, entry.modified_ms * 1_000_000))


def _bytes(table: GoldenTable, entry: Entry) -> bytes:
    try:
        data = (table.folder / "table" / entry.path).read_bytes()
    except OSError as error:
        raise CorpusError(f"{table.id}: {entry.path}: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise CorpusError(f"{table.id}: {entry.path} has other bytes than its MANIFEST says")
    return data
