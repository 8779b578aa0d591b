"""Tables in object stores: S3 and what speaks like it, Google's, Azure's, and one inside the process.

Names of objects are plain text: a URI of an object store is not percent-decoded, as in Hadoop.
Folders are prefixes of names: an empty one does not exist. Retries are the library's.
"""

import errno
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError, UnknownConfigurationKeyError
from obstore.store import MemoryStore, from_url

from hudi_format.errors import InvalidOption, StorageError
from hudi_format.storage.interface import FileStatus, inner_parts
from hudi_format.storage.object_options import (
    SECRETS,
    allows_http,
    of_library,
    refuse_without_credentials,
    store_options,
)

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

SCHEMES: Final = ("s3", "s3a", "s3n", "gs", "az", "abfs", "abfss", "memory")

_LISTING_PAGE = 1000
_MEMORIES: dict[str, MemoryStore] = {}


class ObjectStorage:
    """A table below a prefix of a bucket; credentials among the options are never printed.

    Raises:
        ValueError: a URI without a bucket or with credentials in it.
        InvalidOption: an option that the store does not have.

    Clauses: SA-001, SA-002, SL-007.

    """

    def __init__(self, base: str, options: Mapping[str, str] | None = None) -> None:
        scheme, parted, rest = base.partition("://")
        scheme = scheme if parted else scheme.partition(":")[0]
        bucket, _, prefix = rest.partition("/")
        if not bucket or ("@" in bucket and not scheme.lower().startswith("abfs")):
            raise ValueError(f"a URI of an object store is {scheme}://bucket/path, with credentials among the options")
        self._root = f"{scheme}://{bucket}"
        self._prefix = "/".join(inner_parts(prefix.strip("/")))
        self.base = f"{self._root}/{self._prefix}".rstrip("/")
        self._options = dict(options or {})
        self._store = _open(scheme.lower(), bucket, self._options)

    def __repr__(self) -> str:
        return f"ObjectStorage({self.base!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStorage, (self.base, self._options)

    def resolve(self, path: str) -> str:
        """Name of the object.

        Raises:
            FormatError: PATH_ESCAPES_TABLE for an absolute path, a `..` part or a NUL.

        Clauses: SL-007.

        """
        return "/".join((*((self._prefix,) if self._prefix else ()), *inner_parts(path)))

    def uri(self, path: str = "") -> str:
        """`s3://bucket/…` in plain text."""
        return f"{self._root}/{self.resolve(path)}"

    def list_files(self, folder: str = "", *, recursive: bool = True, skip: tuple[str, ...] = ()) -> list[FileStatus]:
        """Files below `folder`, sorted by path; what a console left to show an empty folder is no file."""
        left_out = tuple(f"{each}/" for each in skip)
        pages = self._all_below(folder) if recursive else self._directly_below(folder)
        found = [status for status in pages if not status.path.startswith(left_out)]
        found.sort(key=lambda status: status.path)
        folders = {folder, *(path for status in found for path in _folders_above(status.path))}
        return [status for status in found if status.size or status.path not in folders]

    def list_folders(self, folder: str = "") -> list[str]:
        """Folders directly below `folder`."""
        return sorted(map(self._relative, self._one_level(folder)["common_prefixes"]))

    def list_no_files(self, folder: str = "") -> list[str]:
        """None: no object lies in the place of another."""
        del folder
        return []

    def list_no_folders(self, paths: Iterable[str]) -> list[str]:
        """None, as for `list_no_files`."""
        del paths
        return []

    def read(self, path: str) -> bytes:
        """All bytes of a file."""
        with self._reading(path) as key:
            return bytes(self._store.get(key).bytes())

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`."""
        if length <= 0:
            return b""
        try:
            with self._reading(path) as key:
                return bytes(self._store.get_range(key, start=offset, length=length))
        except StorageError:
            # A range behind the end is an error of the store, and no bytes here.
            if offset >= self.size(path):
                return b""
            raise

    def size(self, path: str) -> int:
        """Bytes of a file."""
        with self._reading(path) as key:
            return self._store.head(key)["size"]

    def exists(self, path: str) -> bool:
        """Whether an object has the name, or names of objects begin with it and a slash."""
        try:
            self.size(path)
        except FileNotFoundError:
            return any(True for _ in self._all_below(path))
        else:
            return True

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write with the condition that no object has the name: the store decides between two that write at once.

        Raises:
            StorageError: the store failed, or does not know the condition.

        Clauses: SA-001.

        """
        try:
            with self._writing(path) as key:
                self._store.put(key, data, mode="create")
        except FileExistsError:
            return False
        return True

    def read_tagged(self, path: str) -> tuple[bytes, str]:
        """All bytes of an object and the tag of what was read, for `put_if_tagged`."""
        with self._reading(path) as key:
            found = self._store.get(key)
            return bytes(found.bytes()), found.meta["e_tag"] or ""

    def put_if_tagged(self, path: str, data: bytes, tag: str) -> str | None:
        """Replace an object whose tag is this one, or write one that is not there for an empty tag; the new tag.

        None, with nothing changed, where the object is another one: the store decides between two that write at once.

        Raises:
            StorageError: the store failed, or does not know the condition.

        Clauses: SA-001.

        """
        try:
            with self._writing(path) as key:
                put = self._store.put(key, data, mode={"e_tag": tag} if tag else "create")
                return put["e_tag"] or ""
        except FileExistsError:
            return None

    def put(self, path: str, data: bytes) -> None:
        """Write or replace an object."""
        with self._writing(path) as key:
            self._store.put(key, data)

    def delete(self, path: str) -> None:
        """Remove an object if it is there."""
        try:
            with self._writing(path) as key:
                self._store.delete(key)
        except FileNotFoundError:
            return

    def delete_folder(self, folder: str) -> None:
        """Remove every object below a folder."""
        for status in self.list_files(folder):
            self.delete(status.path)

    def sweep(self, older_than: float) -> int:
        """Nothing: an object is there once it is whole."""
        del older_than
        return 0

    def _all_below(self, folder: str) -> Iterator[FileStatus]:
        with self._reading(folder) as key:
            for page in self._store.list(key or None, chunk_size=_LISTING_PAGE):
                yield from self._statuses(page)

    def _directly_below(self, folder: str) -> Iterator[FileStatus]:
        found = self._one_level(folder)
        folders = set(found["common_prefixes"])
        return self._statuses(each for each in found["objects"] if each["path"] not in folders)

    def _one_level(self, folder: str) -> Any:
        with self._reading(folder) as key:
            return self._store.list_with_delimiter(key or None)

    def _statuses(self, page: "Iterable[ObjectMeta]") -> Iterator[FileStatus]:
        for each in page:
            moment = each["last_modified"]
            yield FileStatus(self._relative(each["path"]), each["size"], int(moment.timestamp() * 1000))

    def _relative(self, key: str) -> str:
        return key.removeprefix(f"{self._prefix}/") if self._prefix else key

    @contextmanager
    def _reading(self, path: str) -> Iterator[str]:
        try:
            with self._translated_errors("read", path) as key:
                yield key
        except ValueError:
            raise FileNotFoundError(errno.ENOENT, "no object can have this name", path) from None

    @contextmanager
    def _writing(self, path: str) -> Iterator[str]:
        try:
            with self._translated_errors("write", path) as key:
                yield key
        except ValueError:
            raise StorageError("write", self.uri(path), "no object can have this name") from None

    @contextmanager
    def _translated_errors(self, operation: str, path: str) -> Iterator[str]:
        """Turns the library's errors into those of the interface, without what they quote of a request."""
        key = self.resolve(path)
        try:
            yield key
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "no such object", self.uri(path)) from None
        except (AlreadyExistsError, PreconditionError):
            raise FileExistsError(errno.EEXIST, "an object has the name", self.uri(path)) from None
        except BaseError as error:
            raise StorageError(operation, self.uri(path), self._quotable(error)) from None

    def _quotable(self, error: Exception) -> str:
        """Kind and text of an error without queries, answers of the server, and credentials."""
        text = re.sub(r"\?\S*", "", str(error).partition("<?xml")[0])
        for value in (value for name, value in self._options.items() if any(each in name for each in SECRETS)):
            text = text.replace(value, "***") if value else text
        return f"{type(error).__name__}: {' '.join(text.split())[:300]}"


def _folders_above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _open(scheme: str, bucket: str, options: Mapping[str, str]) -> "ObjectStore":
    """The store of a bucket. One inside the process is the same for all who open it here."""
    if scheme == "memory":
        return _MEMORIES.setdefault(bucket, MemoryStore())
    given = store_options(bucket, options)
    config = of_library(scheme, given)
    if not given:
        refuse_without_credentials(scheme, f"{scheme}://{bucket}", given)
    client: Any = {"allow_http": True} if allows_http(scheme, config) else {}
    try:
        # The library checks names and values of the configuration; its types are those of each store.
        url = f"{scheme.replace('s3n', 's3')}://{bucket}"
        store = from_url(url, config=cast("Any", config), client_options=client)
    except (BaseError, ValueError, TypeError) as error:
        known = type(error) is not UnknownConfigurationKeyError
        if not known:
            name = str(error).partition("'")[2].partition("'")[0]
            raise InvalidOption(f"this store has no option {name}") from None
        raise InvalidOption(
            f"options {', '.join(sorted(config)) or '(none)'}: a value is none of this store's"
        ) from None
    refuse_without_credentials(scheme, f"{scheme}://{bucket}", given)
    return store
