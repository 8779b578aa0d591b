"""The bytes of a golden table as one deterministic archive, `table.zip`, and back on disk."""

import difflib
import hashlib
import os
import zipfile
from pathlib import Path

from hudi_format.compat import tomllib

from hudi_conformance.runner import manifest
from hudi_conformance.runner.manifest import Entry
from hudi_conformance.runner.resources import TABLES, CorpusError, cache_folder, made_once, suite_root

ARCHIVE = "table.zip"
INDEX = "index.json"
_DATE = (2025, 1, 1, 0, 0, 0)


def pack(table: Path, archive: Path) -> None:
    """Write the files of a table into an archive: sorted, with one date, empty folders and dot files included.

    An archive that holds the same files already is left as it is: compressed bytes depend on the compressor.
    """
    entries = manifest.scan(table, 0)
    if archive.is_file() and entries == contents(archive):
        return
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for entry in entries:
            name = f"{entry.path}/" if entry.is_folder else entry.path
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system = 3
            info.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(info, b"" if entry.is_folder else (table / entry.path).read_bytes())


def contents(archive: Path) -> tuple[Entry, ...]:
    """The files and empty folders of an archive, without modification times."""
    with zipfile.ZipFile(archive) as bundle:
        return tuple(sorted(_entry(bundle, info) for info in bundle.infolist()))


def _entry(bundle: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    if info.is_dir():
        return Entry(info.filename.rstrip("/"), "", 0, 0)
    return Entry(info.filename, hashlib.sha256(bundle.read(info)).hexdigest(), info.file_size, 0)


def listed(folder: Path) -> tuple[Entry, ...]:
    """The files of the golden table of a folder, as its table.toml lists them.

    Raises:
        CorpusError: the list is missing or malformed.

    """
    path = folder / "table.toml"
    try:
        return manifest.parse(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path}: {error}") from error


def unpack(folder: Path, destination: Path) -> Path:
    """Write the files of the golden table of a folder below a destination, with their modification times.

    Raises:
        CorpusError: the archive cannot be read, lacks a file, or a file has other bytes than table.toml lists.

    """
    destination.mkdir(parents=True, exist_ok=True)
    archive = folder / ARCHIVE
    try:
        with zipfile.ZipFile(archive) as bundle:
            for entry in listed(folder):
                _write(archive, bundle, entry, destination / entry.path)
    except (OSError, zipfile.BadZipFile) as error:
        raise CorpusError(f"{archive}: {error}") from error
    return destination


def _write(archive: Path, bundle: zipfile.ZipFile, entry: Entry, target: Path) -> None:
    if entry.is_folder:
        target.mkdir(parents=True, exist_ok=True)
        return
    try:
        data = bundle.read(entry.path)
    except KeyError as error:
        raise CorpusError(f"{archive}: {entry.path} is missing") from error
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise CorpusError(f"{archive}: {entry.path} has other bytes than table.toml lists")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    os.utime(target, ns=(entry.modified_ms * 1_000_000, entry.modified_ms * 1_000_000))


def unpacked(folder: Path) -> Path:
    """A copy of the golden table of a folder that is only read: made once, in the cache folder.

    Raises:
        CorpusError: as `unpack`.

    """
    target = cache_folder() / "tables" / manifest.digest(listed(folder))[:20]
    return made_once(target, lambda aside: unpack(folder, aside))


def unpacked_corpus(root: Path | None = None) -> Path:
    """A folder with `<id>/table` for every golden table of a suite's root, only to be read; made once for each index.

    Raises:
        CorpusError: as `unpack`, or there is no index.

    """
    tables = (root or suite_root()) / TABLES
    index = tables / INDEX
    try:
        name = hashlib.sha256(index.read_bytes()).hexdigest()[:20]
    except OSError as error:
        raise CorpusError(f"{index}: {error.strerror}: run `hudi-conformance golden build`") from error
    return made_once(cache_folder() / "corpora" / name, lambda aside: _link_tables(tables, aside))


def golden_table(table_id: str) -> Path:
    """A copy of a golden table of the corpus, by its id, that is only read.

    Raises:
        CorpusError: there is no such table, or as `unpack`.

    """
    return unpacked(folder_of(table_id))


def folder_of(table_id: str) -> Path:
    """The folder of a golden table of the corpus.

    Raises:
        CorpusError: there is no such table.

    """
    folder = suite_root() / TABLES / table_id
    if not (folder / ARCHIVE).is_file():
        near = difflib.get_close_matches(table_id, golden_ids(), 1)
        raise CorpusError(f"there is no golden table {table_id}" + (f"; did you mean {near[0]}?" if near else ""))
    return folder


def _link_tables(tables: Path, aside: Path) -> None:
    for folder in sorted(path.parent for path in tables.glob(f"*/*/{ARCHIVE}")):
        place = aside / folder.relative_to(tables)
        place.mkdir(parents=True)
        (place / "table").symlink_to(unpacked(folder), target_is_directory=True)


def golden_ids() -> list[str]:
    """The ids of the golden tables of the corpus, in order."""
    tables = suite_root() / TABLES
    return [path.parent.relative_to(tables).as_posix() for path in sorted(tables.glob(f"*/*/{ARCHIVE}"))]
