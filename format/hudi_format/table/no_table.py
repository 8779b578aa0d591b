"""A place that is no table: what it is instead, and which place may have been meant."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from hudi_format.errors import FormatError, Reason
from hudi_format.names import is_partition_metafile, parse_data_file_name
from hudi_format.storage import LocalStorage, Storage
from hudi_format.table.partition_metafile import metafile_form, parse_partition_metafile
from hudi_format.table.table_properties import BACKUP_FILE, PROPERTIES_FILE, holds_table

_FOLDER: Final = ".hoodie"
_USUAL: Final = (
    "give the base path of a table, the folder that holds .hoodie; create_arrow and HudiTable.create make a new table"
)
_RECOVER: Final = (
    "put the lost file back from a copy, or let HudiTable.recover make it anew from the data files "
    "(the guide to maintenance and recovery says how)"
)
# Of a folder of many folders so many are looked into, and so many tables are named.
_LOOKED_INTO: Final = 200
_NAMED: Final = 5


def no_table(storage: Storage) -> FormatError:
    """The refusal of a place without properties of a table: its full path, what is there, and what to give instead.

    Clauses: SL-001.
    """
    message, hint = f"there is no {PROPERTIES_FILE}", _USUAL
    # What may not be looked at, or a link that leads elsewhere, explains nothing, and hides no refusal.
    with suppress(PermissionError, FormatError):
        message, hint = _found(storage)
    place = storage.base if "://" in storage.base else str(Path(storage.base).absolute())
    return FormatError(Reason.NOT_A_TABLE, "SL-001", place, None, message, hint)


def _found(storage: Storage) -> tuple[str, str]:
    local = None if "://" in storage.base else Path(storage.base)
    above = _above(storage) if local is None else _above_locally(local)
    instead = f"give the table's base path: {above}" if above else _USUAL
    if local is not None and not local.exists():
        return "the folder does not exist", instead
    if local is not None and not local.is_dir():
        return "this is a file, no folder", instead
    if above:
        return f"this is {_part(storage, above)} of the table {above}", instead
    return _without_table_above(storage)


def _without_table_above(storage: Storage) -> tuple[str, str]:
    folders = storage.list_folders()
    if _FOLDER in folders or _holds_data(storage, folders):
        lost = f"{PROPERTIES_FILE} and its backup are" if _FOLDER in folders else f"{_FOLDER} is"
        return f"{lost} lost, and the rest of a table is there", _RECOVER
    tables = [one for one in folders[:_LOOKED_INTO] if storage.exists(f"{one}/{PROPERTIES_FILE}")]
    if tables:
        named = ", ".join(f"{storage.base}/{one}" for one in tables[:_NAMED])
        more = f", and {len(tables) - _NAMED} more" if len(tables) > _NAMED else ""
        return "the folder holds tables, and is none itself", f"give one of them: {named}{more}"
    return f"there is no {PROPERTIES_FILE}", _USUAL


def _holds_data(storage: Storage, folders: list[str]) -> bool:
    """Whether there are data files of a table, here or in a folder that is marked as a partition."""
    return any(
        any(is_partition_metafile(name) for name in names) and any(map(parse_data_file_name, names))
        for names in _names(storage, folders)
    )


def _names(storage: Storage, folders: list[str]) -> Iterator[list[str]]:
    for folder in ("", *folders[:_LOOKED_INTO]):
        yield [one.path.rpartition("/")[2] for one in storage.list_files(folder, recursive=False)]


def _part(storage: Storage, above: str) -> str:
    if f"/{_FOLDER}" in f"{storage.base}/".removeprefix(above):
        return f"inside {_FOLDER}"
    marked = any(is_partition_metafile(one.path) for one in storage.list_files("", recursive=False))
    return "a partition" if marked else "a folder"


def _above_locally(path: Path) -> str | None:
    """The nearest folder above that is a table."""
    parents = path.absolute().parents
    return next((str(one) for one in parents if one.is_dir() and holds_table(LocalStorage(one))), None)


def _above(storage: Storage) -> str | None:
    """The table that a prefix of a bucket is a part of, as its name or the mark of a partition says."""
    parent, _, name = storage.base.rpartition("/")
    if name == _FOLDER and any(storage.exists(path.rpartition("/")[2]) for path in (PROPERTIES_FILE, BACKUP_FILE)):
        return parent
    for one in storage.list_files("", recursive=False):
        form = metafile_form(one.path)
        if form is not None:
            with suppress(FormatError):
                depth = parse_partition_metafile(storage.read(one.path), form, one.path).depth
                return storage.base.rsplit("/", depth)[0] if depth else None
    return None
