"""A storage that fails once: before a change takes place, or after it did."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hudi_format.storage import LocalStorage
from hudi_format.storage.interface import FileStatus

When = Literal["before", "after"]


@dataclass(slots=True)
class Fault:
    """Which change fails, counted from 0, and whether it takes place all the same; `seen` counts them."""

    number: int
    when: When
    seen: int = 0


class FaultyStorage:
    """A local storage with one fault."""

    def __init__(self, storage: LocalStorage, fault: Fault) -> None:
        self._storage, self._fault = storage, fault
        self.base = storage.base

    def resolve(self, path: str) -> str:
        return self._storage.resolve(path)

    def uri(self, path: str = "") -> str:
        return self._storage.uri(path)

    def list_files(self, folder: str = "", *, recursive: bool = True, skip: tuple[str, ...] = ()) -> list[FileStatus]:
        return self._storage.list_files(folder, recursive=recursive, skip=skip)

    def list_folders(self, folder: str = "") -> list[str]:
        return self._storage.list_folders(folder)

    def list_no_files(self, folder: str = "") -> list[str]:
        return self._storage.list_no_files(folder)

    def list_no_folders(self, paths: Iterable[str]) -> list[str]:
        return self._storage.list_no_folders(paths)

    def read(self, path: str) -> bytes:
        return self._storage.read(path)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        return self._storage.read_range(path, offset, length)

    def size(self, path: str) -> int:
        return self._storage.size(path)

    def exists(self, path: str) -> bool:
        return self._storage.exists(path)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        fails = self._before()
        done = self._storage.put_if_absent(path, data)
        self._after(fails=fails)
        return done

    def put(self, path: str, data: bytes) -> None:
        fails = self._before()
        self._storage.put(path, data)
        self._after(fails=fails)

    def delete(self, path: str) -> None:
        fails = self._before()
        self._storage.delete(path)
        self._after(fails=fails)

    def delete_folder(self, folder: str) -> None:
        fails = self._before()
        self._storage.delete_folder(folder)
        self._after(fails=fails)

    def sweep(self, older_than: float) -> int:
        return self._storage.sweep(older_than)

    def _before(self) -> bool:
        fails = self._fault.seen == self._fault.number
        self._fault.seen += 1
        if fails and self._fault.when == "before":
            raise OSError(28, "No space left on device")
        return fails

    @staticmethod
    def _after(*, fails: bool) -> None:
        if fails:
            raise OSError(110, "Connection timed out")
