"""A folder of a storage as a storage of its own."""

from dataclasses import dataclass

from hudi_format.storage import FileStatus, Storage

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
        """Remove what dead puts left, in the whole table."""
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
