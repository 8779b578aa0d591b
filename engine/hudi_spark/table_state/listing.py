"""The files that a table's storage lists, also while other processes remove some of them.

Archival moves files of the timeline, rollbacks take writes away, and a clean deletes slices that a compaction has
replaced. Whoever planned before begins again, on the timeline as it is by then.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from hudi_format.errors import FormatError
from hudi_format.names import is_partition_metafile
from hudi_format.storage import FileStatus, Storage

from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state.configuration import TableConfiguration
from hudi_spark.table_state.timeline import Timeline

METADATA_FOLDER = ".hoodie/metadata"


@dataclass(slots=True)
class Subfolder:
    """The files below a folder, under paths relative to it; nothing outside of it can be named.

    Clauses: MT-001, SL-007.
    """

    storage: Storage
    folder: str
    base: str

    def resolve(self, path: str) -> str:
        """The place of a path."""
        return self.storage.resolve(self._outer(path))

    def uri(self, path: str = "") -> str:
        """Absolute URI of a path."""
        return self.storage.uri(self._outer(path))

    def list_files(self, folder: str = "", *, recursive: bool = True, skip: tuple[str, ...] = ()) -> list[FileStatus]:
        """Files below a folder."""
        skipped = tuple(self._outer(one) for one in skip)
        found = self.storage.list_files(self._outer(folder), recursive=recursive, skip=skipped)
        return [FileStatus(self._inner(one.path), one.size, one.modified_ms) for one in found]

    def list_folders(self, folder: str = "") -> list[str]:
        """Folders directly below a folder."""
        return [self._inner(path) for path in self.storage.list_folders(self._outer(folder))]

    def list_no_files(self, folder: str = "") -> list[str]:
        """What is no file directly below a folder."""
        return [self._inner(path) for path in self.storage.list_no_files(self._outer(folder))]

    def list_no_folders(self, paths: Iterable[str]) -> list[str]:
        """What is in the place of folders."""
        return [self._inner(path) for path in self.storage.list_no_folders(map(self._outer, paths))]

    def read(self, path: str) -> bytes:
        """All bytes of a file."""
        return self.storage.read(self._outer(path))

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Some bytes of a file."""
        return self.storage.read_range(self._outer(path), offset, length)

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return self.storage.size(self._outer(path))

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return self.storage.exists(self._outer(path))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write a new file whole."""
        return self.storage.put_if_absent(self._outer(path), data)

    def put(self, path: str, data: bytes) -> None:
        """Write or replace a file whole."""
        self.storage.put(self._outer(path), data)

    def delete(self, path: str) -> None:
        """Remove a file."""
        self.storage.delete(self._outer(path))

    def delete_folder(self, folder: str) -> None:
        """Remove a folder and all below it."""
        self.storage.delete_folder(self._outer(folder))

    def sweep(self, older_than: float) -> int:
        """Remove what failed puts left, in the whole table."""
        return self.storage.sweep(older_than)

    def _outer(self, path: str) -> str:
        # The storage would see that a path leaves the table, and not that it leaves the folder.
        if path.startswith("/") or ".." in path.split("/"):
            return self.storage.resolve(path if path.startswith("/") else f"../{path}")
        return f"{self.folder}/{path}" if path else self.folder

    def _inner(self, path: str) -> str:
        return path[len(self.folder) + 1 :]


def subfolder(storage: Storage, folder: str) -> Storage:
    """The storage of a folder."""
    return Subfolder(storage, folder, f"{storage.base.rstrip('/')}/{folder}")


def refuse_no_folders(storage: Storage, folders: Iterable[str], clause: str = "SL-022") -> None:
    """Nothing where folders are there, or can be made.

    Raises:
        HudiError: CONFIG_INVALID where a file has the name of one.

    Clauses: MT-001, SL-002, SL-022.

    """
    for path in storage.list_no_folders(folders):
        hint = "move the file away"
        if path == METADATA_FOLDER:
            clause, hint = "MT-001", f"{hint}, or turn hoodie.metadata.enable off"
        raise HudiError(Reason.CONFIG_INVALID, clause, "a file is in the place of a folder", path, hint=hint)


_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")
_TIMES: Final = 5
_LOST: Final = frozenset({Reason.BASE_FILE_MISSING, Reason.LOG_FILE_MISSING, Reason.RANGE_NOT_RETAINED})


def is_of_lost_file(error: HudiError | FormatError) -> bool:
    """Whether a refusal says that a file is not there any more."""
    return error.reason in _LOST


class PlanGoneError(HudiError):
    """A plan that was pending when the timeline was listed, and has been taken off it since."""


def read_anew(read: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """A reading that begins again where a file has vanished that it had listed, or that the timeline had named.

    A file that is missed twice, one time after the other, is lost: that is refused.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT for a file that is listed each time and can never be read.

    Clauses: TL-004, RD-014.

    """

    @wraps(read)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        missed: str | None = None
        gone: FileNotFoundError | HudiError | FormatError | None = None
        for _ in range(_TIMES):
            try:
                return read(*args, **kwargs)
            except (FileNotFoundError, PlanGoneError) as error:
                missed, gone = None, error
            except (HudiError, FormatError) as error:
                if not is_of_lost_file(error) or _is_settled(error) or error.file == missed:
                    _settle(error)
                    raise
                missed, gone = error.file, error
        if isinstance(gone, HudiError | FormatError):
            raise gone
        file = "" if gone is None else str(gone.filename or "")
        message = f"{_TIMES} times the file was listed, and gone when it was read"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-004", message, file, hint="do it again") from gone

    return run


def read_plan(storage: Storage, file: str) -> bytes:
    """The content of a plan that the timeline listed.

    Raises:
        PlanGoneError: WRITE_CONFLICT when it was taken off the timeline since.

    Clauses: TL-004, OW-011.

    """
    try:
        return storage.read(file)
    except FileNotFoundError as error:
        message = "the plan was pending, and was taken off the timeline meanwhile"
        raise PlanGoneError(Reason.WRITE_CONFLICT, "OW-011", message, file, hint="do it again") from error


def read_log(storage: Storage, file: str) -> bytes:
    """The content of a log file that was listed, or that the timeline names.

    Raises:
        HudiError: LOG_FILE_MISSING.

    Clauses: RD-018.

    """
    try:
        return storage.read(file)
    except FileNotFoundError as error:
        message, hint = "the log file is not in storage", "restore the file, or restore the table to a savepoint"
        raise HudiError(Reason.LOG_FILE_MISSING, "RD-018", message, file, hint=hint) from error


def _settle(error: Exception) -> None:
    """A reading inside another one has looked again: the outer one need not."""
    error.__dict__["looked_again"] = True


def _is_settled(error: Exception) -> bool:
    return bool(error.__dict__.get("looked_again"))


STORAGE = "storage"


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files of a table, as partition path and name; `source` says in words where they were listed.

    Clauses: SL-002, MT-010.
    """

    files: tuple[tuple[str, str], ...]
    source: str = STORAGE

    @property
    def is_stored(self) -> bool:
        """Whether these are the names of files in storage."""
        return self.source.startswith(STORAGE)


ListFiles = Callable[[Storage, TableConfiguration, Timeline], FileListing]


def list_stored(storage: Storage, configuration: TableConfiguration, timeline: Timeline) -> FileListing:
    """The files in storage."""
    del configuration, timeline
    return stored_files(storage)


def stored_files(storage: Storage, source: str = STORAGE) -> FileListing:
    """The files in the folders that are partitions: those with a metafile.

    Clauses: SL-002, SL-020.
    """
    found = [status.path.rpartition("/") for status in storage.list_files(skip=(".hoodie",))]
    partitions = {partition for partition, _, name in found if is_partition_metafile(name)}
    return FileListing(tuple((partition, name) for partition, _, name in found if partition in partitions), source)


def file_name_of(path: str) -> str:
    """The name of a file, without the folder that some writers put before it."""
    return path.rpartition("/")[2]
